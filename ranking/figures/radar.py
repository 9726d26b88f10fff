"""Radars: one line around all axes for each system, on one scale."""

from collections.abc import Sequence

from ranking.figures.marks import (
    DASHES,
    GRID,
    LEADING,
    LINES,
    QUIET,
    SIZE,
    Mark,
    Spot,
    Stroke,
    Words,
    extent,
    row_names,
    stacked,
    wrapped,
)
from ranking.findings import ColumnKind, Table
from ranking.plots.planes import Place, Series
from ranking.plots.radar import (
    BY_DEFAULT,
    MOST,
    Rings,
    anchor,
    axes_of,
    corner,
    joined,
    least_step,
)
from ranking.plots.scales import Tick, in_unit
from ranking.plots.tables import as_number

RADIUS = 84.0
BEYOND = 7.0
TICK_SIZE = 6.0
WIDEST_AXIS = 78.0
SAMPLE, GAP = 22.0, 9.0
LOOKS = (*DASHES, (6.0, 1.5, 1.0, 1.5))
SIDES = {"start": "left", "middle": "center", "end": "right"}


def radar(table: Table) -> tuple[Mark, ...]:
    """Draw the rows, or the first few of more than can be told apart."""
    at = axes_of(table)
    column = table.columns[at[0]]
    shapes = _shapes(table, at)
    values = [value for one in shapes for value in one.values if value is not None]
    rings = Rings.around(values, least=least_step(column.kind))
    around = (*_web(rings, len(at), column.mark), *_named([table.columns[n].label for n in at]))
    return (
        *around,
        *_ticks(rings, column.kind),
        *(mark for number, one in enumerate(shapes) for mark in _drawn(one, rings, number)),
        *_legend(shapes, extent(around)[3] + GAP),
    )


def _shapes(table: Table, at: Sequence[int]) -> list[Series]:
    n_drawn = len(table.rows) if len(table.rows) <= MOST else BY_DEFAULT
    named = zip(row_names(table)[:n_drawn], table.rows, strict=False)
    return [Series(name, tuple(as_number(row[n]) for n in at)) for name, row in named]


def _look(number: int) -> tuple[str, tuple[float, ...]]:
    """Return the colour and the dashes of a system by its place."""
    return LINES[number % len(LINES)], LOOKS[number % len(LOOKS)]


def _web(rings: Rings, n_axes: int, mark: float | None) -> tuple[Mark, ...]:
    """Return axes and rings, the one at the mark broken and darker."""
    marks: list[Mark] = [
        Stroke(((0.0, 0.0), _at(place, n_axes, 1.0)), GRID, 0.5) for place in range(n_axes)
    ]
    marks += [Stroke(_ring(n_axes, rings.reach(value)), GRID, 0.5) for value in rings.values]
    if mark is not None and 0.0 < rings.reach(mark) <= 1.0:
        marks.append(Stroke(_ring(n_axes, rings.reach(mark)), QUIET, 0.6, (2.0, 2.0)))
    return tuple(marks)


def _ring(n_axes: int, reach: float) -> tuple[Place, ...]:
    return tuple(_at(place % n_axes, n_axes, reach) for place in range(n_axes + 1))


def _at(place: int, n_axes: int, reach: float) -> Place:
    x, y = corner(place, n_axes, reach)
    return RADIUS * x, RADIUS * y


def _drawn(one: Series, rings: Rings, number: int) -> tuple[Mark, ...]:
    n, (colour, dashes) = len(one.values), _look(number)
    places = [
        None if value is None else _at(place, n, rings.reach(value))
        for place, value in enumerate(one.values)
    ]
    lines, known = joined(places)
    return (
        *(Stroke(line, colour, 1.2, dashes) for line in lines),
        *(Spot(*place, 1.6, colour) for place in known),
    )


def _ticks(rings: Rings, kind: ColumnKind) -> tuple[Mark, ...]:
    """Return the values of the rings beside the first axis."""
    unit = " %" if kind is ColumnKind.SHARE else ""
    return tuple(
        Words(
            f"{in_unit(Tick(0.0, value), kind).text}{unit}",
            2.0,
            -RADIUS * rings.reach(value) + TICK_SIZE + 1.5,
            TICK_SIZE,
            colour=QUIET,
        )
        for value in rings.values
    )


def _named(axes: Sequence[str]) -> tuple[Mark, ...]:
    """Return the words of each axis beyond its end."""
    marks: list[Mark] = []
    for place, axis in enumerate(axes):
        x, y = corner(place, len(axes), 1.0)
        lines = wrapped(axis, WIDEST_AXIS)
        half = len(lines) * LEADING * SIZE / 2
        middle = (RADIUS + BEYOND) * y + half * y
        marks += stacked(lines, (RADIUS + BEYOND) * x, middle, anchor=SIDES[anchor(x)])
    return tuple(marks)


def _legend(shapes: Sequence[Series], y: float) -> tuple[Mark, ...]:
    """Return how each system is drawn, below each other and all names in full."""
    marks: list[Mark] = []
    for number, one in enumerate(shapes):
        colour, dashes = _look(number)
        lines = wrapped(one.name, 2.0 * RADIUS)
        high = len(lines) * LEADING * SIZE
        middle = y + high / 2
        left = -RADIUS - SAMPLE
        marks.append(Stroke(((left, middle), (left + SAMPLE, middle)), colour, 1.2, dashes))
        marks.append(Spot(left + SAMPLE / 2, middle, 1.6, colour))
        marks += stacked(lines, left + SAMPLE + 6.0, middle)
        y += high + 2.0
    return tuple(marks)
