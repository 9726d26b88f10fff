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


def countries_asked(accept_language: str) -> tuple[str, ...]:
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


def order_lines(lines: Iterable[AnyLine], countries: Sequence[str]) -> tuple[AnyLine, ...]:
    """Return the lines of ``countries`` first, then those for anywhere, then all others."""

    def rank(line: AnyLine) -> int:
        served = [countries.index(code) for code in line.countries if code in countries]
        if served:
            return min(served)
        return len(countries) + bool(line.countries)

    return tuple(sorted(lines, key=rank))
