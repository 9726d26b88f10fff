"""Whether one text is a near-duplicate of another: pure, for texts of a few sentences.

Two texts are compared by their shingles, the runs of three words in each, without regard to
capitals, accents and signs. One is like another when

- much of the shorter one stands in the longer one: ``MIN_CONTAINED`` of its shingles, and at
  least ``MIN_SHARED`` of them, which takes ten words in one piece, or more in several; or
- both are the same words, and at least ``MIN_SAME`` of them.

Measured on the 12,583 supporter turns of ESConv that have 8 words or more: of a million pairs of
turns of different dialogues 6 are like each other, all of them stock phrases ("is there anything
else I can help you with?"). Of turns of 20 to 60 words with every eighth word exchanged at random,
96 % are like the turn they were made of; with every fifth, 79 %.
`tests/completions/writers/test_flagging.py` holds both on a sample.
"""

import re
import unicodedata
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeVar

VERSION = "likeness-1"

SHINGLE = 3
MIN_CONTAINED = 0.4
MIN_SHARED = 8
MIN_SAME = 6
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2019\u2018\u02bc\u00b4`", "'"))

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class ComparedWords:
    """The words of a text as they are compared, and where each of them stands."""

    text: str
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, text: str) -> "ComparedWords":
        """Read ``text``."""
        straight = text.translate(_APOSTROPHES)
        found = list(_WORD.finditer(straight))
        return cls(
            text,
            tuple(_plain(match.group()) for match in found),
            tuple(match.span() for match in found),
        )

    @property
    def shingles(self) -> frozenset[tuple[str, ...]]:
        """Return the runs of three words."""
        return frozenset(zip(*(self.words[n:] for n in range(SHINGLE)), strict=False))


def most_like(text: str, others: Iterable[tuple[Key, str]]) -> tuple[Key, float, str] | None:
    """Return what ``text`` is most like among ``others``, or None if it is like none.

    With its key come the share of the shorter text's shingles that stand in the longer one, and
    the longest run of words that both have, as ``text`` has it. The cost grows with the number of
    words in ``others`` alone.
    """
    mine = ComparedWords.of(text)
    shingles = mine.shingles
    best, found = (0.0, 0), None
    for key, other in others:
        words = ComparedWords.of(other)
        shared = _shared(mine, shingles, words)
        if shared > best:
            best, found = shared, (key, words)
    if found is None:
        return None
    return found[0], round(best[0], 2), _longest_run(mine, found[1])


def _shared(
    mine: ComparedWords, shingles: frozenset[tuple[str, ...]], other: ComparedWords
) -> tuple[float, int]:
    """Return the share of the shorter text that both have, and how many shingles that are.

    Both are 0 where the texts are no near-duplicates.
    """
    theirs = other.shingles
    n_shared = len(shingles & theirs)
    if mine.words == other.words and len(mine.words) >= MIN_SAME:
        return 1.0, n_shared
    if n_shared < MIN_SHARED:
        return 0.0, 0
    contained = n_shared / min(len(shingles), len(theirs))
    return (contained, n_shared) if contained >= MIN_CONTAINED else (0.0, 0)


def _longest_run(mine: ComparedWords, other: ComparedWords) -> str:
    matcher = SequenceMatcher(None, mine.words, other.words, autojunk=False)
    run = matcher.find_longest_match()
    start, end = mine.spans[run.a][0], mine.spans[run.a + run.size - 1][1]
    return mine.text[start:end]


def _plain(word: str) -> str:
    """Return the word without capitals and accents."""
    letters = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
