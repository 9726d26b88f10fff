"""Word lists in files: how they are written, and what they find in a text.

A line is an entry, a comment after ``#``, or empty. An entry is a phrase of one or more words:

``word``            this word, whatever its case; one with an apostrophe is also met without
``word*``           every word that begins so
``one|other``       either
``...``             up to three words of the same sentence, or none
``before > phrase`` the phrase, where the other stands before it
``- phrase``        an exception: what lies inside an occurrence of the phrase is not found
``- before ~ after`` the same, with ``~`` for any entry of the file
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from completions.contexts.screening.reading import SENTENCE, UNPARTED, WORD, ReadText, Span, Word

GAP_WORDS = 3
"""The most words that a gap spans; they stand in one sentence."""

Range = tuple[int, int]
"""The first and the last word of an occurrence."""


@dataclass(frozen=True)
class Element:
    """One place of a phrase: the words that fit and the beginnings that fit, or a gap."""

    words: frozenset[str] = frozenset()
    beginnings: tuple[str, ...] = ()
    is_gap: bool = False

    def fits(self, word: Word) -> bool:
        """Tell whether the word can stand here."""
        if not self.words.isdisjoint(word.forms):
            return True
        return bool(self.beginnings) and any(
            form.startswith(self.beginnings) for form in word.forms
        )


@dataclass(frozen=True)
class Phrase:
    """What is found (``core``), and what has to stand before and after it to be found.

    An exception for any entry of its lexicon has an empty core.
    """

    core: tuple[Element, ...]
    before: tuple[Element, ...] = ()
    after: tuple[Element, ...] = ()

    def is_around(self, words: Sequence[Word], found: Range) -> bool:
        """Tell whether that which stands before and after the core stands around these words."""
        first, last = found
        return _leads_to(self.before, words, first) and (
            not self.after or bool(_ends((Element(), *self.after), words, last))
        )


class Starts(dict[tuple[str, ...], tuple[Phrase, ...]]):
    """The phrases whose core a word can begin; worked out once per spelling."""

    def __init__(self, phrases: Iterable[Phrase]) -> None:
        super().__init__()
        self._by_word: dict[str, list[Phrase]] = defaultdict(list)
        self._by_beginning: dict[str, list[Phrase]] = defaultdict(list)
        for phrase in phrases:
            for word in phrase.core[0].words:
                self._by_word[word].append(phrase)
            for beginning in phrase.core[0].beginnings:
                self._by_beginning[beginning].append(phrase)
        self._longest = max(map(len, self._by_beginning), default=0)

    def __missing__(self, forms: tuple[str, ...]) -> tuple[Phrase, ...]:
        found = [phrase for form in forms for phrase in self._by_word.get(form, ())]
        found += [
            phrase
            for form in forms
            for length in range(1, min(len(form), self._longest) + 1)
            for phrase in self._by_beginning.get(form[:length], ())
        ]
        self[forms] = tuple(dict.fromkeys(found))
        return self[forms]

    def occurrences(self, words: Sequence[Word]) -> Iterator[Range]:
        """Yield where cores occur in their surroundings, the longest at each word."""
        for place, word in enumerate(words):
            phrases = self[word.forms]
            if not phrases:
                continue
            ends = [
                end
                for phrase in phrases
                for end in _ends(phrase.core, words, place)
                if phrase.is_around(words, (place, end))
            ]
            if ends:
                yield place, max(ends)


def _ends(elements: Sequence[Element], words: Sequence[Word], place: int) -> Collection[int]:
    """Return where the elements can end if the first of them is met at a place."""
    ends, gap = {place}, False
    for element in elements[1:]:
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
    """Return the places that can come next: the next word, or with a gap a few more."""
    if not gap:
        following = place + 1
        is_next = following < len(words) and words[following].parted == UNPARTED
        return (following,) if is_next else ()
    last = place
    while last < min(place + 1 + GAP_WORDS, len(words) - 1) and words[last + 1].parted != SENTENCE:
        last += 1
    return range(place + 1, last + 1)


def _leads_to(before: Sequence[Element], words: Sequence[Word], first: int) -> bool:
    """Tell whether the elements are met just before a word, or a gap away if they end in one."""
    if not before:
        return True
    gap = before[-1].is_gap
    lead = before[:-1] if gap else before
    earliest = max(0, first - (GAP_WORDS + 1) * len(before))
    return any(
        first in _followers(words, end, gap=gap)
        for start in range(earliest, first)
        if lead[0].fits(words[start])
        for end in _ends(lead, words, start)
    )


LEXICONS = Path(__file__).parent / "lexicons"
GAP, ANY, LEAD, EXCEPTION = "...", "~", ">", "- "
_ALTERNATIVE = re.compile(rf"(?:{WORD.pattern})\*?")


class LexiconError(ValueError):
    """A lexicon cannot be read; the message says which, where and why."""


@dataclass(frozen=True)
class Lexicon:
    """The entries of one file, and its exceptions: phrases, and surroundings of any entry."""

    entries: tuple[Phrase, ...]
    exceptions: tuple[Phrase, ...] = ()
    surroundings: tuple[Phrase, ...] = ()

    @cached_property
    def _entry_starts(self) -> Starts:
        return Starts(self.entries)

    @cached_property
    def _exception_starts(self) -> Starts:
        return Starts(self.exceptions)

    def find(self, reading: ReadText) -> list[Span]:
        """Return where entries occur, longest first at each place, without overlaps."""
        words = reading.words
        found = list(self._entry_starts.occurrences(words))
        if found and (self.exceptions or self.surroundings):
            covered = list(self._exception_starts.occurrences(words))
            found = [one for one in found if not self._is_excepted(words, one, covered)]
        return [Span(words[first].start, words[last].end) for first, last in _apart(found)]

    def _is_excepted(self, words: Sequence[Word], found: Range, covered: Iterable[Range]) -> bool:
        first, last = found
        if any(start <= first and last <= end for start, end in covered):
            return True
        return any(phrase.is_around(words, found) for phrase in self.surroundings)


@cache
def languages() -> frozenset[str]:
    """Return the languages that have lexicons."""
    return frozenset(folder.name for folder in LEXICONS.iterdir())


def primary(tag: str) -> str:
    """Return the primary language of a BCP 47 tag: its lexicons serve every region and script."""
    return tag.partition("-")[0].lower()


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
        if seen.setdefault(entry.lower(), number) != number:
            msg = f"{place}: {entry!r} is on line {seen[entry.lower()]} already"
            raise LexiconError(msg)
        if entry.startswith(EXCEPTION):
            exceptions.append(_exception(entry, place))
        else:
            entries.append(_entry(entry, place))
    if not entries:
        msg = f"{name}: holds no entry"
        raise LexiconError(msg)
    return Lexicon(
        tuple(entries),
        tuple(one for one in exceptions if one.core),
        tuple(one for one in exceptions if not one.core),
    )


def _entry(entry: str, place: str) -> Phrase:
    parts = _parts(entry)
    if ANY in parts:
        msg = f"{place}: {entry!r}: {ANY} stands in exceptions only"
        raise LexiconError(msg)
    if LEAD not in parts:
        return Phrase(_elements(parts, place))
    at = parts.index(LEAD)
    return Phrase(
        _elements(parts[at + 1 :], place),
        before=_elements(parts[:at], place, may_end_in_gap=True),
    )


def _exception(entry: str, place: str) -> Phrase:
    parts = _parts(entry.removeprefix(EXCEPTION))
    if ANY not in parts:
        return Phrase(_elements(parts, place))
    if parts.count(ANY) > 1 or len(parts) == 1:
        msg = f"{place}: {entry!r}: an exception has one {ANY}, and a word"
        raise LexiconError(msg)
    at = parts.index(ANY)
    before, after = parts[:at], parts[at + 1 :]
    return Phrase(
        (),
        before=_elements(before, place, may_end_in_gap=True) if before else (),
        after=_elements(after, place, may_begin_with_gap=True) if after else (),
    )


def _parts(entry: str) -> list[str]:
    """Split at spaces, and a hyphenated word into its words."""
    return [
        part
        for spaced in entry.split()
        for part in ([spaced] if "|" in spaced else spaced.split("-"))
    ]


def _elements(
    parts: Sequence[str],
    place: str,
    *,
    may_begin_with_gap: bool = False,
    may_end_in_gap: bool = False,
) -> tuple[Element, ...]:
    ends = [
        *([] if may_begin_with_gap else parts[:1]),
        *([] if may_end_in_gap else parts[-1:]),
    ]
    if not set(parts) - {GAP} or GAP in ends:
        msg = f"{place}: a phrase begins and ends with a word"
        raise LexiconError(msg)
    return tuple(_element(part, place) for part in parts)


def _element(part: str, place: str) -> Element:
    if part == GAP:
        return Element(is_gap=True)
    words, beginnings = set[str](), list[str]()
    for one in part.lower().split("|"):
        if not _ALTERNATIVE.fullmatch(one):
            msg = f"{place}: {part!r} is not a word, word*, one|other or {GAP}"
            raise LexiconError(msg)
        if one.endswith("*"):
            beginnings.append(one[:-1])
        else:
            words |= {one, one.replace("'", "")}
    return Element(frozenset(words), tuple(beginnings))


def _apart(found: Iterable[Range]) -> list[Range]:
    """Return the occurrences that do not begin inside one taken before."""
    taken = list[Range]()
    for first, last in found:
        if not taken or first > taken[-1][1]:
            taken.append((first, last))
    return taken
