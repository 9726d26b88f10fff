"""One text as the rules read it: its words, where they stand, and what stands between them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

APOSTROPHES = "'\u2019\u2018\u02bc\u00b4`"
WORD = re.compile(rf"[^\W_]+(?:[{APOSTROPHES}][^\W\d_]+)*")
STRAIGHT = str.maketrans(dict.fromkeys(APOSTROPHES, "'"))
STRETCHED = re.compile(r"(.)\1{2,}")
UNPARTED, COMMA, SENTENCE = 0, 1, 2
"""What parts a word from the one before: nothing but space, a comma, or the end of a sentence."""
_SENTENCE_END = re.compile(r"[.!?;:\u2026\n()\[\]{}]")
_COMMA = re.compile(r"[,\u2013\u2014]|--| - ")


class Span(NamedTuple):
    """A piece of a text, in characters."""

    start: int
    end: int


class Word(NamedTuple):
    """One word: the spellings under which it is looked up, its place, what parts it off."""

    forms: tuple[str, ...]
    start: int
    end: int
    parted: int


@dataclass(frozen=True)
class ReadText:
    """One text of a dialogue; ``index`` is that of its turn, None for any other text."""

    text: str
    index: int | None = None
    language: str = "en"

    @cached_property
    def words(self) -> Sequence[Word]:
        """Return the words in their order."""
        words, end = list[Word](), 0
        for match in WORD.finditer(self.text):
            gap = self.text[end : match.start()]
            words.append(Word(forms(match.group()), *match.span(), _parted(gap)))
            end = match.end()
        return words

    @property
    def whole(self) -> Span:
        """Return the span of the whole text."""
        return Span(0, len(self.text))


@lru_cache(maxsize=100_000)
def forms(word: str) -> tuple[str, ...]:
    """Return the spellings under which a word is looked up.

    Lower case and a straight apostrophe; without a final 's; and with stretched letters (three
    or more in a row) shortened to two and to one.
    """
    plain = word.lower().translate(STRAIGHT)
    found = [plain, plain.removesuffix("'s")]
    if STRETCHED.search(plain):
        found += [STRETCHED.sub(r"\1\1", plain), STRETCHED.sub(r"\1", plain)]
    return tuple(dict.fromkeys(found))


def _parted(gap: str) -> int:
    if gap == " ":
        return UNPARTED
    if _SENTENCE_END.search(gap):
        return SENTENCE
    return COMMA if _COMMA.search(gap) else UNPARTED
