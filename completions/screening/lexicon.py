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
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from completions.screening.reading import SENTENCE, UNPARTED, WORD, Reading, Span, Word

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
        if not self.words.isdisjoint(word.forms):
            return True
        return bool(self.beginnings) and any(
            form.startswith(self.beginnings) for form in word.forms
        )


Phrase = tuple[Element, ...]


class _Starts(dict[tuple[str, ...], tuple[Phrase, ...]]):
    """The phrases that a word can begin; worked out once per spelling."""

    def __init__(self, phrases: Iterable[Phrase]) -> None:
        super().__init__()
        self._by_word: dict[str, list[Phrase]] = defaultdict(list)
        self._by_beginning: dict[str, list[Phrase]] = defaultdict(list)
        for phrase in phrases:
            for word in phrase[0].words:
                self._by_word[word].append(phrase)
            for beginning in phrase[0].beginnings:
                self._by_beginning[beginning].append(phrase)

    def __missing__(self, forms: tuple[str, ...]) -> tuple[Phrase, ...]:
        found = [phrase for form in forms for phrase in self._by_word.get(form, ())]
        found += [
            phrase
            for form in forms
            for length in range(1, len(form) + 1)
            for phrase in self._by_beginning.get(form[:length], ())
        ]
        self[forms] = tuple(dict.fromkeys(found))
        return self[forms]


@dataclass(frozen=True)
class Lexicon:
    """The entries of one file, and its exceptions: phrases, and phrases around a ``~``."""

    entries: tuple[Phrase, ...]
    exceptions: tuple[Phrase, ...] = ()
    around: tuple[Phrase, ...] = ()

    @cached_property
    def _entry_starts(self) -> _Starts:
        return _Starts(self.entries)

    @cached_property
    def _exception_starts(self) -> _Starts:
        return _Starts(self.exceptions)

    def find(self, reading: Reading) -> list[Span]:
        """Return where entries occur, longest first at each place, without overlaps."""
        words = reading.words
        found = list(_occurrences(words, self._entry_starts))
        if found and (self.exceptions or self.around):
            covered = list(_occurrences(words, self._exception_starts))
            found = [one for one in found if not self._is_excepted(words, one, covered)]
        return [Span(words[first].start, words[last].end) for first, last in _apart(found)]

    def _is_excepted(
        self, words: Sequence[Word], found: tuple[int, int], covered: Iterable[tuple[int, int]]
    ) -> bool:
        first, last = found
        if any(start <= first and last <= end for start, end in covered):
            return True
        return any(_is_around(phrase, words, first, last) for phrase in self.around)


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
    around = [one for one in exceptions if any(part.is_any for part in one)]
    plain = [one for one in exceptions if one not in around]
    return Lexicon(tuple(entries), tuple(plain), tuple(around))


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


def _ends(phrase: Phrase, words: Sequence[Word], place: int) -> Collection[int]:
    """Return the places of the last word of the phrase's occurrences that begin at a place."""
    ends, gap = {place}, False
    for element in phrase[1:]:
        if element.is_gap:
            gap = True
            continue
        ends = {
            follower
            for end in ends
            for follower in _followers(words, end, gap=gap)
            if element.fits(words[follower])
        }
        if not ends:
            break
        gap = False
    return ends


def _followers(words: Sequence[Word], place: int, *, gap: bool) -> Sequence[int]:
    """Return the places that can come next in a phrase: the next word, or a few more."""
    if not gap:
        following = place + 1
        is_next = following < len(words) and words[following].parted == UNPARTED
        return (following,) if is_next else ()
    last = place
    while last < min(place + 1 + GAP_WORDS, len(words) - 1) and words[last + 1].parted != SENTENCE:
        last += 1
    return range(place + 1, last + 1)


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
