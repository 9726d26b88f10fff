"""Colours that stay apart for readers who see no difference between red and green.

References
----------
Okabe, M., & Ito, K. (2008). Color universal design: How to make figures and presentations that are
friendly to colorblind people. https://jfly.uni-koeln.de/color/
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ranking.findings import ColumnKind

BLUE, BROWN = "#0072b2", "#b35900"
PALE = "#a9cbe3"
LINES = (BLUE, "#e69f00", "#1a1a1a", "#56b4e9", "#cc79a7", "#8c510a")
DASHES: tuple[tuple[float, ...], ...] = ((), (4.0, 1.5), (1.0, 1.5))
PAPER, DARK = "#ffffff", "#1a1a1a"
NOTHING = "#f2f2f2"
MIDDLES = {ColumnKind.SHARE: 0.5, ColumnKind.ELO: 1500.0}
WHITE_BELOW = 0.45


@dataclass(frozen=True)
class Shades:
    """The colours of a heat map: away from a middle on both sides, or from light to dark."""

    low: float
    high: float
    middle: float | None = None

    @classmethod
    def of(cls, values: Sequence[float], kind: ColumnKind) -> "Shades":
        """Return shades on both sides of what means "even", if there are values on both sides."""
        low, high = min(values, default=0.0), max(values, default=0.0)
        for middle in (MIDDLES.get(kind, 0.0), 0.0):
            if low < middle < high:
                reach = max(high - middle, middle - low)
                return cls(middle - reach, middle + reach, middle)
        return cls(low, high)

    def colour(self, value: float) -> str:
        """Return the colour of a value."""
        if self.high <= self.low:
            return PAPER
        if self.middle is None:
            return _mixed(PAPER, BLUE, 0.08 + 0.92 * (value - self.low) / (self.high - self.low))
        share = (value - self.middle) / (self.high - self.middle)
        return _mixed(PAPER, BLUE if share > 0 else BROWN, abs(share))


def ink_on(colour: str) -> str:
    """Return black or white: what can be read on the colour."""
    red, green, blue = _parts(colour)
    is_dark = (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255 < WHITE_BELOW
    return PAPER if is_dark else DARK


def _mixed(one: str, other: str, share: float) -> str:
    parts = zip(_parts(one), _parts(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in parts)


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
