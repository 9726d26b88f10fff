"""Word lists in files: how they are written, and where their entries occur in a text.

A line is an entry, a comment after ``#``, or empty. An entry is a phrase of one or more words:

``word``          this word, whatever its case; an entry with an apostrophe is also met without
``word*``         every word that begins so
``one|other``     either
``...``           up to three words of the same sentence, or none
``- phrase``      an exception: what lies inside an occurrence of the phrase is not found
``- phrase ~``    the same, with ``~`` for any entry of the file
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from completions.screening.reading import COMMA, FIRST_RUN, SENTENCE, WORD, Reading, Span, Word

LEXICONS = Path(__file__).parent / "lexicons"
GAP, ANY = "...", "~"
GAP_WORDS = 3
_ALTERNATIVE = re.compile(rf"(?:{WORD.pattern})\*?")


class LexiconError(ValueError):
    """A lexicon cannot be read; the message says which, where and why."""


@dataclass(frozen=True)
class Element:
    """One place of a phrase: the words that fit, the beginnings that fit, or a gap."""

    words: frozenset[str] = frozenset()
    beginnings: tuple[str, ...] = ()
    is_gap: bool = False
    is_any: bool = False

    def fits(self, word: Word) -> bool:
        """Tell whether the word can stand here."""
        return any(
            form in self.words or (bool(self.beginnings) and form.startswith(self.beginnings))
            for form in word.forms
        )


Phrase = tuple[Element, ...]


class _Starts(dict[tuple[str, ...], tuple[Phrase, ...]]):
    """The phrases that a word can begin; worked out once per spelling."""

    def __init__(self, phrases: Iterable[Phrase]) -> None:
        super().__init__()
        self._phrases = tuple(phrases)

    def __missing__(self, forms: tuple[str, ...]) -> tuple[Phrase, ...]:
        word = Word(forms, 0, 0, FIRST_RUN)
        self[forms] = tuple(one for one in self._phrases if one[0].fits(word))
        return self[forms]


@dataclass(frozen=True)
class Lexicon:
    """The entries of one file, and its exceptions."""

    entries: tuple[Phrase, ...]
    exceptions: tuple[Phrase, ...] = ()
    _starts: dict[str, _Starts] = field(default_factory=dict, compare=False, repr=False)

    def find(self, reading: Reading) -> list[Span]:
        """Return where entries occur, longest first at each place, without overlaps."""
        words = reading.words
        found = _apart(_occurrences(words, self._of("entries", self.entries)))
        if not found or not self.exceptions:
            return [_characters(words, *one) for one in found]
        plain = [one for one in self.exceptions if not any(part.is_any for part in one)]
        around = [one for one in self.exceptions if any(part.is_any for part in one)]
        covered = list(_occurrences(words, self._of("exceptions", plain)))
        return [
            _characters(words, first, last)
            for first, last in found
            if not any(start <= first and last <= end for start, end in covered)
            and not any(_is_around(one, words, first, last) for one in around)
        ]

    def _of(self, name: str, phrases: Iterable[Phrase]) -> _Starts:
        return self._starts.setdefault(name, _Starts(phrases))


@cache
def languages() -> frozenset[str]:
    """Return the languages that have lexicons."""
    return frozenset(folder.name for folder in LEXICONS.iterdir())


@cache
def load(language: str, rule: str) -> Lexicon:
    """Return the lexicon of a rule.

    Raises
    ------
    LexiconError
        If there is none, or it cannot be read.
    """
    path = LEXICONS / language / f"{rule}.txt"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path.name}: cannot be read: {error}"
        raise LexiconError(msg) from error
    return parse(text, name=f"{language}/{path.name}")


def parse(text: str, *, name: str) -> Lexicon:
    """Read a lexicon; ``name`` is used in errors.

    Raises
    ------
    LexiconError
        If a line is not an entry, an entry occurs twice, or there is none.
    """
    entries, exceptions, seen = list[Phrase](), list[Phrase](), dict[str, int]()
    for number, line in enumerate(text.splitlines(), start=1):
        entry = " ".join(line.split("#", 1)[0].split())
        if not entry:
            continue
        place = f"{name}, line {number}"
        _refuse_twice(entry, number, seen, place)
        is_exception = entry.startswith("- ")
        phrase = _phrase(entry.removeprefix("- "), place, is_exception=is_exception)
        (exceptions if is_exception else entries).append(phrase)
    if not entries:
        msg = f"{name}: holds no entry"
        raise LexiconError(msg)
    return Lexicon(tuple(entries), tuple(exceptions))


def _refuse_twice(entry: str, number: int, seen: dict[str, int], place: str) -> None:
    if seen.setdefault(entry.lower(), number) != number:
        msg = f"{place}: {entry!r} is on line {seen[entry.lower()]} already"
        raise LexiconError(msg)


def _phrase(entry: str, place: str, *, is_exception: bool) -> Phrase:
    elements = tuple(_element(part, place) for part in _parts(entry))
    ends = (elements[0], elements[-1])
    n_any = sum(one.is_any for one in elements)
    if any(one.is_gap for one in ends) or n_any > 1 or (n_any and len(elements) == 1):
        msg = f"{place}: {entry!r}: a phrase begins and ends with a word, and has at most one ~"
        raise LexiconError(msg)
    if n_any and not is_exception:
        msg = f"{place}: {entry!r}: ~ stands in exceptions only"
        raise LexiconError(msg)
    return elements


def _parts(entry: str) -> list[str]:
    """Split at spaces, and a hyphenated word into its words."""
    return [
        part
        for spaced in entry.split()
        for part in ([spaced] if "|" in spaced else spaced.split("-"))
    ]


def _element(part: str, place: str) -> Element:
    if part in {GAP, ANY}:
        return Element(is_gap=part == GAP, is_any=part == ANY)
    words, beginnings = set[str](), list[str]()
    for one in part.lower().split("|"):
        if not _ALTERNATIVE.fullmatch(one):
            msg = f"{place}: {part!r} is not a word, word*, one|other, ... or ~"
            raise LexiconError(msg)
        if one.endswith("*"):
            beginnings += [one[:-1]]
        else:
            words |= {one, one.replace("'", "")}
    return Element(frozenset(words), tuple(beginnings))


def _occurrences(words: Sequence[Word], starts: _Starts) -> Iterator[tuple[int, int]]:
    """Yield the first and last word of each occurrence, the longest of those that begin alike."""
    for place, word in enumerate(words):
        phrases = starts[word.forms]
        if phrases:
            ends = [end for one in phrases for end in _ends(one, words, place)]
            if ends:
                yield place, max(ends)


def _ends(phrase: Phrase, words: Sequence[Word], place: int) -> set[int]:
    """Return the places of the last word of the phrase's occurrences that begin at a place."""
    ends, gap = {place}, False
    for element in phrase[1:]:
        if element.is_gap:
            gap = True
            continue
        reach = {follower for end in ends for follower in _followers(words, end, gap=gap)}
        ends = {follower for follower in reach if element.fits(words[follower])}
        gap = False
    return ends


def _followers(words: Sequence[Word], place: int, *, gap: bool) -> Iterator[int]:
    """Yield the places that can come next in a phrase: the next word, or a few more."""
    most = COMMA if gap else FIRST_RUN
    for follower in range(place + 1, min(place + 2 + GAP_WORDS * gap, len(words))):
        if words[follower].parted > most or words[follower].parted == SENTENCE:
            return
        yield follower


def _is_around(phrase: Phrase, words: Sequence[Word], first: int, last: int) -> bool:
    """Tell whether a phrase with ~ stands around the words from first to last."""
    at = next(place for place, one in enumerate(phrase) if one.is_any)
    before, after = phrase[:at], phrase[at + 1 :]
    return _leads_to(before, words, first) and _follows(after, words, last)


def _leads_to(before: Phrase, words: Sequence[Word], first: int) -> bool:
    if not before:
        return True
    gap = before[-1].is_gap
    lead = before[:-1] if gap else before
    return any(
        lead[0].fits(words[start])
        and any(first in _followers(words, end, gap=gap) for end in _ends(lead, words, start))
        for start in range(max(0, first - (GAP_WORDS + 1) * len(before)), first)
    )


def _follows(after: Phrase, words: Sequence[Word], last: int) -> bool:
    return not after or bool(_ends((Element(), *after), words, last))


def _apart(found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the occurrences that do not begin inside one taken before."""
    taken = list[tuple[int, int]]()
    for first, last in found:
        if not taken or first > taken[-1][1]:
            taken.append((first, last))
    return taken


def _characters(words: Sequence[Word], first: int, last: int) -> Span:
    return Span(words[first].start, words[last].end)
