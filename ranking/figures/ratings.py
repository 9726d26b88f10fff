"""The leaderboard in print, and intervals below each other on one scale."""

from collections.abc import Sequence
from dataclasses import dataclass

from ranking.figures.axes import FigureAxis, along_bottom
from ranking.figures.marks import (
    BLUE,
    LEADING,
    NOTHING,
    PALE,
    QUIET,
    SIZE,
    Block,
    Mark,
    Spot,
    Stroke,
    Words,
    centred,
    ended,
    extent,
    row_names,
    stacked,
    widest,
    wrapped,
    written,
)
from ranking.findings import Column, ColumnKind, Table
from ranking.plots import tables
from ranking.plots.scales import Interval, head

ELO = Column("elo", "Elo", ColumnKind.ELO)
TITLE = "Ratings with intervals"


def ratings(groups: Sequence["Group"]) -> tuple[Mark, ...]:
    """Draw groups of ratings, and below them what their lines are."""
    marks = intervals(groups, ELO)
    found = [line.interval for _, lines in groups for line in lines if line.interval]
    has_joint = any(one.joint_low is not None for one in found)
    return (*marks, *_key(extent(marks)[3] + 9.0, has_joint=has_joint))


def _key(y: float, *, has_joint: bool) -> tuple[Mark, ...]:
    """Say what the dark and the pale line are."""
    marks: list[Mark] = [
        Stroke(((0.0, y), (16.0, y)), BLUE, 1.1),
        Spot(8.0, y, colour=BLUE),
        Words("95 % interval of one system", 20.0, y + 2.4, 6.0, colour=QUIET),
    ]
    if has_joint:
        marks += [
            Block(124.0, y - 2.5, 16.0, 5.0, PALE),
            Words("of all systems at once", 144.0, y + 2.4, 6.0, colour=QUIET),
        ]
    return tuple(marks)


CENTRES = (0.0, 0.5, 1500.0)
GAP = 8.0
PLOT = 130.0
INSET = 5.0
BAND, CAP = 5.0, 2.0
LINE_HEIGHT = 11.0


@dataclass(frozen=True)
class RatingLine:
    """One row; ``is_derived`` rows are no rows like the others and are drawn hollow."""

    name: str
    interval: Interval | None
    is_derived: bool = False


Group = tuple[str, tuple[RatingLine, ...]]
"""Rows under a heading of their own, which may be empty."""


def whiskers(table: Table) -> tuple[Mark, ...]:
    """Draw the intervals of a table around what means "no difference"."""
    found = zip(row_names(table), tables.intervals(table) or (), strict=True)
    lines = tuple(RatingLine(name, one) for name, one in found)
    (at,) = tables.places(table, "value") or [0]
    return intervals([("", lines)], table.columns[at])


def intervals(groups: Sequence[Group], column: Column) -> tuple[Mark, ...]:
    """Draw groups of rows: names left, intervals in the middle, figures right."""
    lines = [line for _, group in groups for line in group]
    names = [widest(wrapped(line.name)) for line in lines]
    left = max([*names, *(widest([heading]) for heading, _ in groups)]) + GAP
    right = left + PLOT
    ends = [end for line in lines if line.interval for end in line.interval.ends]
    axis = FigureAxis.of(ends, column, start=left + INSET, end=right - INSET)
    edge = right + GAP + widest([_figures(line.interval, column) for line in lines])
    placed, bottom = _places(groups)
    drawn = [mark for one, y in placed for mark in _row(one, axis, y)]
    figures = [
        ended(_figures(one.interval, column), edge, y)
        for one, y in placed
        if isinstance(one, RatingLine)
    ]
    label = centred(head(column), (left + right) / 2, bottom + 17.0, QUIET)
    return (*along_bottom(axis, 0.0, bottom), *_centre(axis, bottom), *drawn, *figures, label)


def _places(groups: Sequence[Group]) -> tuple[list[tuple[RatingLine | str, float]], float]:
    """Return headings with their tops and rows with their middles, and where all of them end."""
    placed, y = list[tuple[RatingLine | str, float]](), 0.0
    for heading, lines in groups:
        if heading:
            placed.append((heading, y))
            y += LINE_HEIGHT
        for line in lines:
            high = _high(wrapped(line.name))
            placed.append((line, y + high / 2))
            y += high
    return placed, y + 2.0


def _row(one: RatingLine | str, axis: FigureAxis, y: float) -> tuple[Mark, ...]:
    if isinstance(one, str):
        return (_heading(one, y),)
    return (*stacked(wrapped(one.name), 0.0, y), *_drawn(one, axis, y))


def _high(lines: Sequence[str]) -> float:
    return max(LINE_HEIGHT, len(lines) * LEADING * SIZE + 3.0)


def _heading(text: str, y: float) -> Words:
    return Words(text, 0.0, y + LINE_HEIGHT - 3.0, SIZE, colour=QUIET, is_bold=True)


def _figures(one: Interval | None, column: Column) -> str:
    if one is None:
        return NOTHING
    low, middle, high = (written(value, column.kind) for value in (one.low, one.middle, one.high))
    return f"{middle}  [{low}, {high}]"


def _drawn(line: RatingLine, axis: FigureAxis, y: float) -> tuple[Mark, ...]:
    one = line.interval
    if one is None:
        return ()
    low, middle, high = (axis.place(value) for value in (one.low, one.middle, one.high))
    marks: list[Mark] = []
    if one.joint_low is not None and one.joint_high is not None:
        start, end = axis.place(one.joint_low), axis.place(one.joint_high)
        marks.append(Block(start, y - BAND / 2, end - start, BAND, PALE))
    marks.append(Stroke(((low, y), (high, y)), BLUE, 1.1))
    marks += [Stroke(((x, y - CAP), (x, y + CAP)), BLUE, 0.8) for x in (low, high)]
    return (*marks, Spot(middle, y, colour=BLUE, is_hollow=line.is_derived))


def _centre(axis: FigureAxis, bottom: float) -> tuple[Mark, ...]:
    """Return an upright where no difference lies, if it is among the values."""
    kinds = {ColumnKind.SHARE: CENTRES[:2], ColumnKind.ELO: (CENTRES[0], CENTRES[2])}
    value = next((one for one in kinds.get(axis.kind, CENTRES[:1]) if axis.holds(one)), None)
    if value is None:
        return ()
    at = axis.place(value)
    return (Stroke(((at, 0.0), (at, bottom)), QUIET, 0.6, (3.0, 2.0)),)
