"""Funnels: dots against limits that narrow the more a dot rests on."""

from collections.abc import Sequence
from dataclasses import dataclass

from ranking.figures.axes import FigureAxis, along_bottom, along_left, tick_width
from ranking.figures.colours import BLUE, BROWN
from ranking.figures.labels import MOST_NAMED, Place, labelled
from ranking.figures.lettering import as_number, centred, head
from ranking.figures.marks import INK, MIDDLE, QUIET, SIZE, Mark, Spot, Stroke, Words
from ranking.figures.refusing import places, row_names
from ranking.figures.sheet import Box, box
from ranking.findings import Column, Table
from ranking.plots.funnel import Limit, is_outside, known_limits

WIDTH, HEIGHT = 210.0, 150.0
INSET = 8.0
FRAME: Box = (0.0, 0.0, WIDTH, HEIGHT)
LOOKS: dict[str, tuple[float, ...]] = {
    "centre": (),
    "low": (4.0, 2.0),
    "high": (4.0, 2.0),
    "outer_low": (1.0, 1.5),
    "outer_high": (1.0, 1.5),
}


@dataclass(frozen=True)
class _FunnelDot:
    name: str
    x: float
    y: float
    is_outside: bool


@dataclass(frozen=True)
class _Funnel:
    dots: tuple[_FunnelDot, ...]
    limits: dict[str, Limit]
    x: FigureAxis
    y: FigureAxis


def funnel(table: Table) -> tuple[Mark, ...]:
    """Draw the columns ``x`` and ``y`` between their limits; dots beyond them are named."""
    across, up = places(table, "x", "y") or [0, 0]
    drawn = _laid_out(table, across, up)
    spots = [_spot(dot, drawn) for dot in drawn.dots]
    outside = [
        Place(dot.name, spot.x, spot.y)
        for dot, spot in zip(drawn.dots, spots, strict=True)
        if dot.is_outside
    ]
    taken = [box(spot) for spot in spots]
    return (
        *_frame(drawn, table.columns[across], table.columns[up]),
        *(_curve(one, drawn, LOOKS[key]) for key, one in drawn.limits.items()),
        *spots,
        *(labelled(outside, FRAME, taken) if len(outside) <= MOST_NAMED else ()),
    )


def _laid_out(table: Table, across: int, up: int) -> _Funnel:
    rows = [row for row in table.rows if _is_known(row[across]) and _is_known(row[up])]
    xs = [as_number(row[across]) or 0.0 for row in rows]
    ys = [as_number(row[up]) or 0.0 for row in rows]
    values = {
        key: [as_number(row[at[0]]) for row in rows]
        for key in LOOKS
        if (at := places(table, key)) is not None
    }
    limits = {k: one for k, found in values.items() if (one := known_limits(xs, found))}
    nothing = [None] * len(rows)
    ends = zip(values.get("low", nothing), values.get("high", nothing), strict=True)
    named = zip(_names(table, across, up), xs, ys, ends, strict=True)
    dots = tuple(_FunnelDot(name, x, y, is_outside(y, *end)) for name, x, y, end in named)
    held = [*ys, *(value for one in limits.values() for value in one.values)]
    return _Funnel(
        dots,
        limits,
        FigureAxis.of(xs, table.columns[across], start=INSET, end=WIDTH - INSET),
        FigureAxis.of(held, table.columns[up], start=HEIGHT - INSET, end=INSET),
    )


def _names(table: Table, across: int, up: int) -> list[str]:
    return [
        name
        for name, row in zip(row_names(table), table.rows, strict=True)
        if _is_known(row[across]) and _is_known(row[up])
    ]


def _is_known(cell: object) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _spot(dot: _FunnelDot, drawn: _Funnel) -> Spot:
    colour = BROWN if dot.is_outside else BLUE
    x, y = drawn.x.place(dot.x), drawn.y.place(dot.y)
    return Spot(x, y, 2.0, colour, is_hollow=dot.is_outside)


def _curve(limit: Limit, drawn: _Funnel, dashes: Sequence[float]) -> Stroke:
    points = tuple((drawn.x.place(x), drawn.y.place(y)) for x, y in limit.curve())
    return Stroke(points, QUIET, 0.6, tuple(dashes))


def _frame(drawn: _Funnel, x: Column, y: Column) -> tuple[Mark, ...]:
    left = -tick_width(drawn.y) - 3.0 - 1.2 * SIZE
    return (
        *along_bottom(drawn.x, 0.0, HEIGHT),
        *along_left(drawn.y, 0.0, WIDTH),
        Stroke(((0.0, 0.0), (0.0, HEIGHT), (WIDTH, HEIGHT)), INK),
        centred(head(x), WIDTH / 2, HEIGHT + 18.0, QUIET),
        Words(head(y), left, HEIGHT / 2, SIZE, MIDDLE, QUIET, is_turned=True),
    )
