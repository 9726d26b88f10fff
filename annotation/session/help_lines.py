"""Which help lines concern a visitor: their country's first, by what their browser asks; pure."""

import re
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

LANGUAGE = re.compile(r"^\s*([a-z]{2,3})(?:-[a-z]{4})?(?:-([a-z]{2}))?\b", re.IGNORECASE)
LONGEST = 500


class Line(Protocol):
    """A help line with the codes of the countries that it serves; none means anywhere."""

    @property
    def countries(self) -> Sequence[str]:
        """Two-letter codes."""


AnyLine = TypeVar("AnyLine", bound=Line)


def requested_countries(accept_language: str) -> tuple[str, ...]:
    """Return the countries in an Accept-Language header, as it orders them.

    >>> countries_asked("de-CH,de;q=0.9,en-GB;q=0.5")
    ('CH', 'GB')
    """
    found = []
    for part in accept_language[:LONGEST].split(","):
        match = LANGUAGE.match(part)
        if match and match[2] and match[2].upper() not in found:
            found.append(match[2].upper())
    return tuple(found)


def split_lines(
    lines: Iterable[AnyLine], countries: Sequence[str]
) -> tuple[tuple[AnyLine, ...], tuple[AnyLine, ...]]:
    """Return the lines to show at once, and the rest.

    At once: those of the visitor's countries, then those for anywhere. Where no line is of a
    country of theirs, all are shown, those for anywhere first.
    """

    def rank(line: AnyLine) -> int:
        served = [countries.index(code) for code in line.countries if code in countries]
        return min(served) if served else len(countries) + bool(line.countries)

    ordered = sorted(lines, key=rank)
    if not any(rank(line) < len(countries) for line in ordered):
        return tuple(ordered), ()
    near = [line for line in ordered if rank(line) <= len(countries)]
    return tuple(near), tuple(ordered[len(near) :])
