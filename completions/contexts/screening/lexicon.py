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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from completions.contexts.screening.phrases import Element, Phrase, Range, Starts
from completions.contexts.screening.reading import WORD, ReadText, Span, Word

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
