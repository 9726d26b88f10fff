"""Dots over two axes."""

from dataclasses import dataclass

from ranking.figures.axes import TICK_SIZE, FigureAxis, along_bottom, along_left, tick_width
from ranking.figures.colours import BLUE
from ranking.figures.labels import Place, labelled
from ranking.figures.lettering import ASCENT, as_number, centred, head, width
from ranking.figures.marks import INK, MIDDLE, QUIET, SIZE, Mark, Spot, Stroke, Words
from ranking.figures.refusing import places, row_names
from ranking.figures.sheet import Box, box
from ranking.findings import Column, Table

WIDTH, HEIGHT = 190.0, 160.0
INSET = 8.0
ERROR = "#8fa9bd"
FRAME: Box = (0.0, 0.0, WIDTH, HEIGHT)


@dataclass(frozen=True)
class _Dot:
    name: str
    x: float
    y: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class _Axes:
    x: FigureAxis
    y: FigureAxis
    x_column: Column
    y_column: Column

    @property
    def are_alike(self) -> bool:
        """Say whether both tell of the same, so that the diagonal means that they agree."""
        return self.x_column.kind is self.y_column.kind and not self.x_column.is_logarithmic


def points(table: Table) -> tuple[Mark, ...]:
    """Draw the columns ``x`` and ``y``, with the intervals of ``y`` where the table has them."""
    dots, axes = _dots(table), _axes(table)
    spots = [Spot(axes.x.place(dot.x), axes.y.place(dot.y), colour=BLUE) for dot in dots]
    errors = _errors(dots, axes)
    line = _line(axes)
    taken = [*map(box, errors), *(box(mark) for mark in line if isinstance(mark, Words))]
    named = [Place(dot.name, spot.x, spot.y) for dot, spot in zip(dots, spots, strict=True)]
    return (
        *_frame(axes),
        *line,
        *errors,
        *spots,
        *labelled(named, FRAME, taken),
    )


def _dots(table: Table) -> tuple[_Dot, ...]:
    x, y = places(table, "x", "y") or [0, 0]
    ends = places(table, "low", "high") or []
    found = []
    for name, row in zip(row_names(table), table.rows, strict=True):
        across, up = as_number(row[x]), as_number(row[y])
        if across is not None and up is not None:
            low, high = [as_number(row[n]) for n in ends] or [None, None]
            found.append(_Dot(name, across, up, low, high))
    return tuple(found)


def _axes(table: Table) -> _Axes:
    x, y = (table.columns[n] for n in places(table, "x", "y") or [0, 0])
    dots = _dots(table)
    xs = [dot.x for dot in dots]
    ys = [one for dot in dots for one in (dot.y, dot.low, dot.high) if one is not None]
    if x.mark is not None:
        xs.append(x.mark)
    if x.kind is y.kind and not x.is_logarithmic:
        xs = ys = xs + ys
    return _Axes(
        FigureAxis.of(xs, x, start=INSET, end=WIDTH - INSET),
        FigureAxis.of(ys, y, start=HEIGHT - INSET, end=INSET),
        x,
        y,
    )


def _frame(axes: _Axes) -> tuple[Mark, ...]:
    left = -tick_width(axes.y) - 3.0 - 1.2 * SIZE
    upright = Words(head(axes.y_column), left, HEIGHT / 2, SIZE, MIDDLE, QUIET, is_turned=True)
    marks = (
        *along_bottom(axes.x, 0.0, HEIGHT),
        *along_left(axes.y, 0.0, WIDTH),
        Stroke(((0.0, 0.0), (0.0, HEIGHT), (WIDTH, HEIGHT)), INK),
        centred(head(axes.x_column), WIDTH / 2, HEIGHT + 18.0, QUIET),
        upright,
    )
    if not axes.are_alike:
        return marks
    ends = ((axes.x.scale.start, axes.y.scale.start), (axes.x.scale.end, axes.y.scale.end))
    return (*marks, Stroke(ends, QUIET, 0.6, (3.0, 2.0)))


def _line(axes: _Axes) -> tuple[Mark, ...]:
    """Return an upright at the mark of the x axis, with its value."""
    mark = axes.x_column.mark
    if mark is None or not axes.x.holds(mark):
        return ()
    at, text = axes.x.place(mark), f"{mark:g}"
    near = at + 3.0 + width(text, TICK_SIZE) <= WIDTH
    return (
        Stroke(((at, 0.0), (at, HEIGHT)), QUIET, 0.7, (3.0, 2.0)),
        Words(
            text,
            at + 2.0 if near else at - 2.0,
            2 * ASCENT * TICK_SIZE + 1.0,
            TICK_SIZE,
            "left" if near else "right",
            QUIET,
        ),
    )


def _errors(dots: tuple[_Dot, ...], axes: _Axes) -> tuple[Mark, ...]:
    return tuple(
        Stroke(((x, axes.y.place(dot.low)), (x, axes.y.place(dot.high))), ERROR, 0.7)
        for dot in dots
        if dot.low is not None and dot.high is not None
        for x in (axes.x.place(dot.x),)
    )
