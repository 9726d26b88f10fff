"""What the picture of a table draws: which rows and columns, their values, and their colours.

A page, its chart in the browser and the figure for print all read a table by these.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ranking.findings import Cell, Column, ColumnKind, Table
from ranking.plots.scales import Interval

FEWEST_DOTS = 2
"""Dots that make a funnel."""
MIDDLES = {ColumnKind.SHARE: 0.5, ColumnKind.ELO: 1500.0}
STEPS = 5
"""Shades of a heat map on a page, on each side of its middle."""
Row = tuple[Cell, ...]


def as_number(cell: Cell) -> float | None:
    """Return the cell as a number, or None if it is words, yes or no, or nothing."""
    is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
    return float(cell) if is_number and cell is not None else None


def places(table: Table, *keys: str) -> list[int] | None:
    """Return where the columns of these keys are, or None if one is missing."""
    known = [column.key for column in table.columns]
    return [known.index(key) for key in keys] if set(keys) <= set(known) else None


def alike(table: Table) -> tuple[ColumnKind, list[int]]:
    """Return the kind of the second column, and all of that kind but the first.

    They are the cells of a heat map, and the axes of a radar.
    """
    kind = table.columns[1].kind if len(table.columns) > 1 else ColumnKind.TEXT
    return kind, [n for n, one in enumerate(table.columns) if n and one.kind is kind]


def axes(table: Table) -> tuple[Column, Column]:
    """Return the columns ``x`` and ``y`` of a table that has them."""
    x, y = (table.columns[n] for n in places(table, "x", "y") or ())
    return x, y


def intervals(table: Table) -> list[Interval | None] | None:
    """Return the interval of each row, None where an end is not known; or None without columns."""
    at = places(table, "low", "value", "high")
    return None if at is None else [_interval([row[n] for n in at]) for row in table.rows]


def _interval(cells: Sequence[Cell]) -> Interval | None:
    low, middle, high = map(as_number, cells)
    if low is None or middle is None or high is None:
        return None
    return Interval(min(low, middle), middle, max(high, middle))


def dots(table: Table) -> list[tuple[int, float, float]]:
    """Return the rows whose ``x`` and ``y`` are known, each by its place, with both."""
    at = places(table, "x", "y")
    if at is None:
        return []
    both = [(n, as_number(row[at[0]]), as_number(row[at[1]])) for n, row in enumerate(table.rows)]
    return [(n, x, y) for n, x, y in both if x is not None and y is not None]


def lines(table: Table) -> tuple[list[tuple[float, Row]], list[int]]:
    """Return the rows whose ``x`` is known, each with it, and the columns that are lines."""
    at = places(table, "x")
    if at is None:
        return [], []
    known = [(x, row) for row in table.rows if (x := as_number(row[at[0]])) is not None]
    drawn = [n for n, one in enumerate(table.columns) if n != at[0] and not one.kind.is_words]
    return known, drawn


@dataclass(frozen=True)
class Shades:
    """Where the colours of a heat map begin and end: away from a middle, or from pale to dark.

    ``reach`` is how far the farthest cell is from the middle, or from the lowest without one.
    """

    low: float
    high: float
    reach: float
    middle: float | None = None

    @classmethod
    def of(cls, values: Sequence[float], kind: ColumnKind) -> "Shades":
        """Return shades on both sides of what means "even", if there are values on both sides."""
        low, high = min(values, default=0.0), max(values, default=0.0)
        for middle in (MIDDLES.get(kind, 0.0), 0.0):
            if low < middle < high:
                reach = max(high - middle, middle - low)
                return cls(middle - reach, middle + reach, reach, middle)
        return cls(low, high, high - low)

    @property
    def start(self) -> float:
        """Return the value without a colour: the middle, or the lowest without one."""
        return self.low if self.middle is None else self.middle

    def step(self, value: float) -> str:
        """Return the class of a cell: ``up`` or ``down`` with its step; none in the middle."""
        if not self.reach:
            return ""
        step = round(STEPS * abs(value - self.start) / self.reach)
        return f"{'up' if value > self.start else 'down'}{step}" if step else ""
