"""How cells of findings are written, and how warm they are on a heat map."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import floor, log10

from django.utils.formats import number_format
from django.utils.translation import gettext

from ranking.findings import Cell, ColumnKind

NOTHING = "\N{EN DASH}"
HEAT_STEPS = 5
SMALLEST_P = 0.001
DIGITS = 3
MIDDLES = {ColumnKind.SHARE: (0.5,), ColumnKind.ELO: (1500.0,)}
WORDS = frozenset({ColumnKind.TEXT, ColumnKind.SYSTEM, ColumnKind.EVALUATOR})


@dataclass(frozen=True)
class Warmth:
    """The middle of a heat map, and how far from it its farthest cell is.

    ``lowest`` is where its colours begin: as far on the other side, or at the middle where that
    is the lowest value.
    """

    middle: float
    reach: float
    lowest: float

    @classmethod
    def of(cls, values: Sequence[float], kind: ColumnKind) -> "Warmth":
        """Return what means "even" if there are values on both sides of it, else the lowest.

        Shades then go two ways from the middle, or from pale to dark.
        """
        low, high = min(values, default=0.0), max(values, default=0.0)
        for middle in (*MIDDLES.get(kind, ()), 0.0):
            if low < middle < high:
                reach = max(high - middle, middle - low)
                return cls(middle, reach, middle - reach)
        return cls(low, high - low, low)

    def shade(self, value: float) -> str:
        """Return the class of a cell: ``up`` or ``down`` with its step; none in the middle."""
        if not self.reach:
            return ""
        step = round(HEAT_STEPS * abs(value - self.middle) / self.reach)
        return f"{'up' if value > self.middle else 'down'}{step}" if step else ""


def as_number(cell: Cell) -> float | None:
    """Return the cell as a number, or None if it is words, yes or no, or nothing."""
    is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
    return float(cell) if is_number and cell is not None else None


def written(cell: Cell, kind: ColumnKind, *, is_terse: bool = False) -> str:
    """Write a cell for readers; terse leaves the per cent sign to the words around the table."""
    if cell is None:
        return NOTHING
    if isinstance(cell, bool):
        return gettext("yes") if cell else gettext("no")
    if isinstance(cell, str):
        return cell
    return _number(float(cell), kind, is_terse=is_terse).replace("-", "\N{MINUS SIGN}")


def _number(value: float, kind: ColumnKind, *, is_terse: bool) -> str:
    if kind is ColumnKind.SHARE:
        return _fixed(100.0 * value, 0) if is_terse else f"{_fixed(100.0 * value, 1)} %"
    if kind is ColumnKind.P_VALUE:
        is_small = value < SMALLEST_P
        return f"{'< ' if is_small else ''}{_fixed(max(value, SMALLEST_P), DIGITS)}"
    return _fixed(value, 0 if kind in {ColumnKind.COUNT, ColumnKind.ELO} else _places(value))


def _places(value: float) -> int:
    """Return after how many places three digits have been told."""
    if value == int(value):
        return 0
    return min(max(DIGITS - 1 - floor(log10(abs(value))), 0), 2 * DIGITS)


def _fixed(value: float, places: int) -> str:
    """Write a number with so many places, and nought without a sign."""
    rounded = round(value, places) or 0.0
    return str(number_format(Decimal(f"{rounded:.{places}f}"), places))
