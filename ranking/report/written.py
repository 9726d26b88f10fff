"""Tables of findings as plain values of pages, and how their cells are written."""

from dataclasses import dataclass
from decimal import Decimal
from math import floor, log10
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext

from ranking.findings import Cell, ColumnKind, Picture
from ranking.plots.planes import Plot
from ranking.plots.radar import Radar
from ranking.plots.scales import Tick, Whisker


@dataclass(frozen=True)
class RenderedCell:
    """One cell, or the head of a column, as written; ``shade`` is its class on a heat map."""

    text: str
    is_simulated: bool = False
    is_number: bool = False
    shade: str = ""


@dataclass(frozen=True)
class RenderedRow:
    """One row: its head, its other cells, and its interval where the table draws one.

    ``is_nothing`` if all its figures are 0 or missing. Where a picture draws some rows alone, it is
    chosen by its ``slug``, and ``style`` is how it is drawn, None while it is not.
    """

    head: RenderedCell
    cells: tuple[RenderedCell, ...]
    whisker: Whisker | None = None
    is_nothing: bool = False
    slug: str = ""
    style: int | None = None


@dataclass(frozen=True)
class Chart:
    """What a browser draws of a table in place of its picture; ``parts`` go out as JSON."""

    picture: Picture
    parts: dict[str, Any]
    is_simulated: bool = False

    @property
    def as_json(self) -> dict[str, Any]:
        """Return what the page hands to its script."""
        known = {"picture": self.picture.value} | self.parts
        return known | {"isSimulated": True} if self.is_simulated else known


@dataclass(frozen=True)
class RenderedTable:
    """One table with its picture; ``csv`` is the address of its download.

    ``n_hidden`` people are in it together or not at all. Where a picture draws some rows alone,
    ``query`` names those in an address.
    """

    key: str
    title: str
    caption: str
    headers: tuple[RenderedCell, ...]
    rows: tuple[RenderedRow, ...]
    n_hidden: int = 0
    has_whiskers: bool = False
    ticks: tuple[Tick, ...] = ()
    is_heat: bool = False
    is_in_per_cent: bool = False
    plot: Plot | None = None
    radar: Radar | None = None
    are_too_many: bool = False
    query: str = ""
    csv: str = ""
    has_figure: bool = False
    chart: Chart | None = None

    @property
    def folded(self) -> tuple[RenderedRow, ...]:
        """Return the rows in which nothing was found, where others tell something."""
        empty = tuple(row for row in self.rows if row.is_nothing)
        return empty if len(empty) < len(self.rows) else ()

    @property
    def telling(self) -> tuple[RenderedRow, ...]:
        """Return the rows that are not folded."""
        return tuple(row for row in self.rows if not row.is_nothing) or self.rows

    @property
    def drawn(self) -> tuple[RenderedRow, ...]:
        """Return the rows that a picture of some alone draws."""
        return tuple(row for row in self.rows if row.style is not None)


NOTHING = "\N{EN DASH}"
SMALLEST_P = 0.001
DIGITS = 3


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
    if kind is ColumnKind.ELO:
        return _fixed(value, 0)
    return _fixed(value, 0 if kind is ColumnKind.COUNT else _places(value), is_grouped=True)


def _places(value: float) -> int:
    """Return after how many places three digits have been told."""
    if value == int(value):
        return 0
    return min(max(DIGITS - 1 - floor(log10(abs(value))), 0), 2 * DIGITS)


def _fixed(value: float, places: int, *, is_grouped: bool = False) -> str:
    """Write a number with so many places, and nought without a sign."""
    exact = Decimal(f"{round(value, places) or 0.0:.{places}f}")
    return str(number_format(exact, places, force_grouping=is_grouped))
