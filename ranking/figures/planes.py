"""Pictures over two axes: dots, funnels whose limits narrow the more a dot rests on, and lines."""

from collections.abc import Sequence
from dataclasses import dataclass

from ranking.figures.axes import (
    MOST_NAMED,
    TICK_SIZE,
    FigureAxis,
    along_bottom,
    along_left,
    apart,
    labelled,
    tick_width,
)
from ranking.figures.marks import (
    ASCENT,
    BLUE,
    BROWN,
    DASHES,
    INK,
    LEADING,
    LINES,
    MIDDLE,
    QUIET,
    SIZE,
    Mark,
    Spot,
    Stroke,
    Words,
    box,
    centred,
    clean,
    row_names,
    stacked,
    width,
    wrapped,
)
from ranking.findings import Column, Table
from ranking.plots import planes, tables
from ranking.plots.planes import LOOKS, Box, Limit, Place, Point, is_outside, known_limits
from ranking.plots.scales import head
from ranking.plots.tables import as_number, axes, places

DOTS_SIZE, FUNNEL_SIZE = (190.0, 160.0), (210.0, 150.0)
DOTS_INSET = 8.0
ERROR = "#8fa9bd"
Run = tuple[Place, ...]


@dataclass(frozen=True)
class _Plane:
    """Two axes, the columns that they are of, and the rectangle between them."""

    x: FigureAxis
    y: FigureAxis
    columns: tuple[Column, Column]
    size: tuple[float, float]

    @classmethod
    def of_dots(
        cls,
        xs: Sequence[float],
        ys: Sequence[float],
        columns: tuple[Column, Column],
        size: tuple[float, float],
    ) -> "_Plane":
        """Return a plane that holds dots, with room around them."""
        return cls(
            FigureAxis.of(xs, columns[0], start=DOTS_INSET, end=size[0] - DOTS_INSET),
            FigureAxis.of(ys, columns[1], start=size[1] - DOTS_INSET, end=DOTS_INSET),
            columns,
            size,
        )

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return where a pair of values lies."""
        return self.x.place(x), self.y.place(y)

    @property
    def box(self) -> Box:
        """Return the rectangle."""
        return (0.0, 0.0, *self.size)

    def frame(self) -> tuple[Mark, ...]:
        """Return the grid with its values, and the words of the axis below."""
        wide, high = self.size
        return (
            *along_bottom(self.x, 0.0, high),
            *along_left(self.y, 0.0, wide),
            Stroke(((0.0, 0.0), (0.0, high), (wide, high)), INK),
            centred(head(self.columns[0]), wide / 2, high + 18.0, QUIET),
        )

    def upright(self) -> Words:
        """Return the words of the axis at the left."""
        left, middle = -tick_width(self.y) - 3.0 - 1.2 * SIZE, self.size[1] / 2
        return Words(head(self.columns[1]), left, middle, SIZE, MIDDLE, QUIET, is_turned=True)


def points(table: Table) -> tuple[Mark, ...]:
    """Draw the columns ``x`` and ``y``, with the intervals of ``y`` where the table has them."""
    dots, names = tables.dots(table), row_names(table)
    ends = [_ends(table, row) for row, _, _ in dots]
    plane = _plane_of_points(table, dots, ends)
    spots = [Spot(*plane.at(x, y), colour=BLUE) for _, x, y in dots]
    errors = _errors(dots, ends, plane)
    line = _line(plane)
    taken = [*map(box, errors), *(box(mark) for mark in line if isinstance(mark, Words))]
    named = [Point(names[dot[0]], spot.x, spot.y) for dot, spot in zip(dots, spots, strict=True)]
    return (
        *plane.frame(),
        plane.upright(),
        *_diagonal(plane),
        *line,
        *errors,
        *spots,
        *labelled(named, plane.box, taken),
    )


def _ends(table: Table, row: int) -> tuple[float | None, float | None]:
    """Return the ends of the interval of a row, as far as they are known."""
    at = places(table, "low", "high")
    low, high = [as_number(table.rows[row][n]) for n in at] if at else (None, None)
    return low, high


def _plane_of_points(
    table: Table,
    dots: Sequence[tuple[int, float, float]],
    ends: Sequence[tuple[float | None, float | None]],
) -> _Plane:
    x, y = axes(table)
    xs = [dot[1] for dot in dots]
    ys = [
        one
        for dot, end in zip(dots, ends, strict=True)
        for one in (dot[2], *end)
        if one is not None
    ]
    if x.mark is not None:
        xs.append(x.mark)
    if _are_alike(x, y):
        xs = ys = xs + ys
    return _Plane.of_dots(xs, ys, (x, y), DOTS_SIZE)


def _are_alike(x: Column, y: Column) -> bool:
    """Say whether both tell of the same, so that the diagonal means that they agree."""
    return x.kind is y.kind and not x.is_logarithmic


def _diagonal(plane: _Plane) -> tuple[Mark, ...]:
    if not _are_alike(*plane.columns):
        return ()
    x, y = plane.x.scale, plane.y.scale
    return (Stroke(((x.start, y.start), (x.end, y.end)), QUIET, 0.6, (3.0, 2.0)),)


def _line(plane: _Plane) -> tuple[Mark, ...]:
    """Return an upright at the mark of the x axis, with its value."""
    mark, (wide, high) = plane.columns[0].mark, plane.size
    if mark is None or not plane.x.holds(mark):
        return ()
    at, text = plane.x.place(mark), f"{mark:g}"
    near = at + 3.0 + width(text, TICK_SIZE) <= wide
    return (
        Stroke(((at, 0.0), (at, high)), QUIET, 0.7, (3.0, 2.0)),
        Words(
            text,
            at + 2.0 if near else at - 2.0,
            2 * ASCENT * TICK_SIZE + 1.0,
            TICK_SIZE,
            "left" if near else "right",
            QUIET,
        ),
    )


def _errors(
    dots: Sequence[tuple[int, float, float]],
    ends: Sequence[tuple[float | None, float | None]],
    plane: _Plane,
) -> tuple[Mark, ...]:
    return tuple(
        Stroke((plane.at(x, low), plane.at(x, high)), ERROR, 0.7)
        for (_, x, _), (low, high) in zip(dots, ends, strict=True)
        if low is not None and high is not None
    )


LIMITS: dict[str, tuple[float, ...]] = {"centre": (), "inner": (4.0, 2.0), "outer": (1.0, 1.5)}
"""The dashes of each kind of limits of a funnel."""


def funnel(table: Table) -> tuple[Mark, ...]:
    """Draw the columns ``x`` and ``y`` between their limits; dots beyond them are named."""
    dots, names = tables.dots(table), row_names(table)
    limits = _limits(table, dots)
    xs, ys = [dot[1] for dot in dots], [dot[2] for dot in dots]
    x, y = axes(table)
    held = [*ys, *(value for one in limits.values() for value in one.values)]
    plane = _Plane.of_dots(xs, held, (x, y), FUNNEL_SIZE)
    beyond = [is_outside(dot[2], *_ends(table, dot[0])) for dot in dots]
    spots = [
        Spot(*plane.at(x, y), 2.0, BROWN if is_far else BLUE, is_hollow=is_far)
        for (_, x, y), is_far in zip(dots, beyond, strict=True)
    ]
    outside = [
        Point(names[dot[0]], spot.x, spot.y)
        for dot, spot in zip(dots, spots, strict=True)
        if spot.is_hollow
    ]
    return (
        *plane.frame(),
        plane.upright(),
        *(_curve(one, plane, LIMITS[LOOKS[key]]) for key, one in limits.items()),
        *spots,
        *(labelled(outside, plane.box, [*map(box, spots)]) if len(outside) <= MOST_NAMED else ()),
    )


def _limits(table: Table, dots: Sequence[tuple[int, float, float]]) -> dict[str, Limit]:
    """Return the limits that are known, by key."""
    xs = [dot[1] for dot in dots]
    values = {
        key: [as_number(table.rows[dot[0]][at[0]]) for dot in dots]
        for key in LOOKS
        if (at := places(table, key)) is not None
    }
    return {key: one for key, found in values.items() if (one := known_limits(xs, found))}


def _curve(limit: Limit, plane: _Plane, dashes: tuple[float, ...]) -> Stroke:
    return Stroke(tuple(plane.at(x, y) for x, y in limit.curve()), QUIET, 0.6, dashes)


LINES_WIDTH, LINES_HEIGHT = 170.0, 140.0
LINES_INSET = 6.0
LEAD = 14.0
LONGEST = 170.0


@dataclass(frozen=True)
class _Series:
    name: str
    runs: tuple[Run, ...]
    colour: str
    dashes: tuple[float, ...]

    @property
    def end(self) -> tuple[float, float]:
        """Return the last point of all."""
        return self.runs[-1][-1]


def lines(table: Table) -> tuple[Mark, ...]:
    """Draw every column of numbers over ``x``; a line is broken where a value is missing."""
    known, meant = tables.lines(table)
    known.sort(key=lambda one: one[0])
    xs = [x for x, _ in known]
    columns = {n: [as_number(row[n]) for _, row in known] for n in meant}
    values = [value for column in columns.values() for value in column if value is not None]
    high = max(LINES_HEIGHT, sum(_size(table.columns[n].label) for n in meant))
    (x,) = (table.columns[n] for n in places(table, "x") or [0])
    y = table.columns[meant[0]]
    plane = _Plane(
        FigureAxis.of(xs, x, start=LINES_INSET, end=LINES_WIDTH - LINES_INSET),
        FigureAxis.of(values, y, start=high - LINES_INSET, end=LINES_INSET),
        (x, y),
        (LINES_WIDTH, high),
    )
    drawn = [
        _Series(clean(table.columns[n].label), runs, *_style(number))
        for number, n in enumerate(meant)
        if (runs := tuple(_placed(run, plane) for run in planes.runs(xs, columns[n])))
    ]
    return (*plane.frame(), *_drawn(drawn), *_named(drawn, high))


def _style(number: int) -> tuple[str, tuple[float, ...]]:
    return LINES[number % len(LINES)], DASHES[number // len(LINES) % len(DASHES)]


def _placed(run: Sequence[Place], plane: _Plane) -> Run:
    return tuple(plane.at(*values) for values in run)


def _drawn(series: Sequence[_Series]) -> tuple[Mark, ...]:
    """Return the lines, and dots where a line has one point alone."""
    return tuple(
        Stroke(run, one.colour, 1.1, one.dashes) if len(run) > 1 else Spot(*run[0], 1.5, one.colour)
        for one in series
        for run in one.runs
    )


def _named(series: Sequence[_Series], high: float) -> tuple[Mark, ...]:
    """Name each line at the right, as near to its end as the others allow."""
    ordered = sorted(series, key=lambda one: one.end[1])
    names = [wrapped(one.name, LONGEST) for one in ordered]
    sizes = [_size(one.name) for one in ordered]
    heights = apart([one.end[1] for one in ordered], sizes, 0.0, high)
    marks: list[Mark] = []
    for one, y, name in zip(ordered, heights, names, strict=True):
        lead = (one.end, (LINES_WIDTH, y), (LINES_WIDTH + LEAD - 3.0, y))
        marks.append(Stroke(lead, one.colour, 0.5, one.dashes))
        marks += stacked(name, LINES_WIDTH + LEAD, y)
    return tuple(marks)


def _size(name: str) -> float:
    """Return how high a name is."""
    return len(wrapped(name, LONGEST)) * LEADING * SIZE
