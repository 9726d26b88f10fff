"""Lines over one axis, each named at its end."""

from collections.abc import Sequence
from dataclasses import dataclass

from ranking.figures.axes import FigureAxis, along_bottom, along_left
from ranking.figures.colours import DASHES, LINES
from ranking.figures.labels import apart
from ranking.figures.lettering import (
    LEADING,
    WORDS,
    as_number,
    centred,
    clean,
    head,
    stacked,
    wrapped,
)
from ranking.figures.marks import INK, QUIET, SIZE, Mark, Spot, Stroke
from ranking.figures.refusing import places
from ranking.findings import Column, Table

WIDTH, HEIGHT = 170.0, 140.0
INSET = 6.0
LEAD = 14.0
LONGEST = 170.0
Run = tuple[tuple[float, float], ...]


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
    (at,) = places(table, "x") or [0]
    rows = [row for row in table.rows if as_number(row[at]) is not None]
    rows.sort(key=lambda row: as_number(row[at]) or 0.0)
    meant = [n for n, one in enumerate(table.columns) if n != at and one.kind not in WORDS]
    xs = [as_number(row[at]) for row in rows]
    columns = {n: [as_number(row[n]) for row in rows] for n in meant}
    values = [value for column in columns.values() for value in column if value is not None]
    high = max(HEIGHT, sum(_size(table.columns[n].label) for n in meant))
    over = [x for x in xs if x is not None]
    x_axis = FigureAxis.of(over, table.columns[at], start=INSET, end=WIDTH - INSET)
    y_axis = FigureAxis.of(values, table.columns[meant[0]], start=high - INSET, end=INSET)
    drawn = [
        _Series(clean(table.columns[n].label), runs, *_style(number))
        for number, n in enumerate(meant)
        if (runs := _runs(over, columns[n], x_axis, y_axis))
    ]
    return (*_frame(x_axis, y_axis, table.columns[at], high), *_drawn(drawn), *_named(drawn, high))


def _style(number: int) -> tuple[str, tuple[float, ...]]:
    return LINES[number % len(LINES)], DASHES[number // len(LINES) % len(DASHES)]


def _runs(
    xs: Sequence[float], values: Sequence[float | None], x_axis: FigureAxis, y_axis: FigureAxis
) -> tuple[Run, ...]:
    runs: list[list[tuple[float, float]]] = [[]]
    for x, value in zip(xs, values, strict=True):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((x_axis.place(x), y_axis.place(value)))
    return tuple(tuple(run) for run in runs if run)


def _frame(x_axis: FigureAxis, y_axis: FigureAxis, column: Column, high: float) -> tuple[Mark, ...]:
    return (
        *along_bottom(x_axis, 0.0, high),
        *along_left(y_axis, 0.0, WIDTH),
        Stroke(((0.0, 0.0), (0.0, high), (WIDTH, high)), INK),
        centred(head(column), WIDTH / 2, high + 18.0, QUIET),
    )


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
        lead = (one.end, (WIDTH, y), (WIDTH + LEAD - 3.0, y))
        marks.append(Stroke(lead, one.colour, 0.5, one.dashes))
        marks += stacked(name, WIDTH + LEAD, y)
    return tuple(marks)


def _size(name: str) -> float:
    """Return how high a name is."""
    return len(wrapped(name, LONGEST)) * LEADING * SIZE
