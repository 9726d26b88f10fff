"""Axes with their round values, and labels beside dots, none in another's way."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, cos, floor, pi, sin

from ranking.figures.marks import (
    ASCENT,
    END,
    GRID,
    INK,
    LEADING,
    QUIET,
    START,
    Mark,
    Stroke,
    Words,
    clean,
    width,
    wrapped,
)
from ranking.findings import Column, ColumnKind
from ranking.plots.planes import Box, Point, meets
from ranking.plots.scales import LogScale, Scale, Tick, in_unit, scale_of

TICK_SIZE = 6.5
MOST_BELOW, MOST_BESIDE = 5, 6  # ticks of an axis
STEPS = (tuple(map(float, range(1, 10))), (1.0, 2.0, 5.0), (1.0,))


@dataclass(frozen=True)
class FigureAxis:
    """Where values of a column lie between two ends of a picture."""

    scale: Scale
    kind: ColumnKind

    @classmethod
    def of(
        cls, values: Iterable[float], column: Column, *, start: float, end: float
    ) -> "FigureAxis":
        """Return the axis that holds the values."""
        return cls(scale_of(column, values, start=start, end=end), column.kind)

    def place(self, value: float) -> float:
        """Return where the value lies."""
        return self.scale.place(value)

    def holds(self, value: float) -> bool:
        """Say whether the value is on the axis."""
        return self.scale.holds(value)

    def ticks(self, at_most: int) -> tuple[tuple[float, str], ...]:
        """Return where round values lie, and how they are written."""
        is_logarithmic = isinstance(self.scale, LogScale)
        found = self._powers(at_most) if is_logarithmic else self.scale.ticks(at_most=at_most)
        return tuple((tick.at, in_unit(tick, self.kind).text) for tick in found)

    def _powers(self, at_most: int) -> tuple[Tick, ...]:
        """Return 1 to 9 times the powers of ten, or 1, 2, 5 times, or some of the powers alone."""
        low, high = floor(self.scale.low), ceil(self.scale.high)
        powers = [10.0**power for power in range(low, high + 1)]
        for steps in STEPS:
            values = [step * power for power in powers for step in steps]
            kept = [value for value in values if self.holds(value)]
            if len(kept) <= at_most:
                break
        kept = kept[:: -(-len(kept) // at_most)] if kept else []
        return tuple(Tick(self.place(value), value) for value in kept)


def along_bottom(axis: FigureAxis, top: float, bottom: float) -> tuple[Mark, ...]:
    """Return the lines of a grid and the values below it, none in another's way."""
    marks: list[Mark] = [Stroke(((axis.scale.start, bottom), (axis.scale.end, bottom)), INK)]
    taken = float("-inf")
    for at, text in axis.ticks(MOST_BELOW):
        half = width(text, TICK_SIZE) / 2
        marks.append(Stroke(((at, top), (at, bottom)), GRID, 0.4))
        if at - half > taken + 2.0:
            marks.append(Words(text, at, bottom + 9.0, TICK_SIZE, "center", QUIET))
            taken = at + half
    return tuple(marks)


def along_left(axis: FigureAxis, left: float, right: float) -> tuple[Mark, ...]:
    """Return the lines of a grid and the values left of it."""
    marks: list[Mark] = []
    for at, text in axis.ticks(MOST_BESIDE):
        marks.append(Stroke(((left, at), (right, at)), GRID, 0.4))
        baseline = at + ASCENT * TICK_SIZE
        marks.append(Words(text, left - 3.0, baseline, TICK_SIZE, "right", QUIET))
    return tuple(marks)


def tick_width(axis: FigureAxis) -> float:
    """Return how wide the widest value beside the axis is."""
    return max((width(text, TICK_SIZE) for _, text in axis.ticks(MOST_BESIDE)), default=0.0)


NEAR, FAR = (5.0, 9.0, 14.0), (5.0, 8.0, 12.0, 17.0, 24.0, 32.0, 42.0, 54.0)
TURNS = (0, 8, 14, 2, 12, 4, 10, 6, 1, 15, 7, 9, 3, 5, 11, 13)
LEADER = 7.0
SMALL = 6.0
MOST_NAMED = 40
LISTED = 170.0


def labelled(dots: Sequence[Point], frame: Box, taken: Sequence[Box]) -> tuple[Mark, ...]:
    """Name dots beside them, or number them and list the names at the right, or do neither.

    Names are listed where there is no room for each beside its dot. More than `MOST_NAMED` dots
    have no names.
    """
    if len(dots) > MOST_NAMED or not any(dot.name for dot in dots):
        return ()
    around = [*taken, *(_around(dot) for dot in dots)]
    beside = _placed(dots, [clean(dot.name) for dot in dots], frame, around, NEAR)
    if beside is not None:
        return beside
    numbers = [str(place) for place in range(1, len(dots) + 1)]
    numbered = _placed(dots, numbers, frame, around, FAR) or ()
    return (*numbered, *_listed(dots, frame[2] + 10.0, frame[1]))


def _around(dot: Point) -> Box:
    return dot.x - 2.6, dot.y - 2.6, dot.x + 2.6, dot.y + 2.6


def _placed(
    dots: Sequence[Point],
    texts: Sequence[str],
    frame: Box,
    taken: Sequence[Box],
    reaches: Sequence[float],
) -> tuple[Mark, ...] | None:
    """Return each text at the nearest free place, or None if one has none."""
    full, marks = list(taken), list[Mark]()
    for dot, text in zip(dots, texts, strict=True):
        found = _free(dot, width(text, SMALL), frame, full, reaches)
        if found is None:
            return None
        place, reach = found
        full.append(place)
        marks += _led(dot, text, place, reach)
    return tuple(marks)


def _free(
    dot: Point, wide: float, frame: Box, taken: Sequence[Box], reaches: Sequence[float]
) -> tuple[Box, float] | None:
    for reach, turn in product(reaches, TURNS):
        angle = 2 * pi * turn / len(TURNS)
        x, y = dot.x + reach * cos(angle), dot.y + reach * sin(angle)
        left = x if cos(angle) >= 0 else x - wide
        if abs(cos(angle)) < 0.5:  # noqa: PLR2004 - above and below, text is around the dot
            left = x - wide / 2
        place = (left, y - SMALL / 2, left + wide, y + SMALL / 2)
        if _is_inside(place, frame) and not any(meets(place, other) for other in taken):
            return place, reach
    return None


def _is_inside(one: Box, other: Box) -> bool:
    return one[0] >= other[0] and one[1] >= other[1] and one[2] <= other[2] and one[3] <= other[3]


def _led(dot: Point, text: str, place: Box, reach: float) -> tuple[Mark, ...]:
    """Return a text at its place, with a line to its dot where it is farther off."""
    left, top, right, bottom = place
    words = Words(text, left, (top + bottom) / 2 + ASCENT * SMALL, SMALL)
    if reach <= LEADER:
        return (words,)
    end = (min(max(dot.x, left), right), min(max(dot.y, top), bottom))
    return Stroke(((dot.x, dot.y), end), QUIET, 0.3), words


def _listed(dots: Sequence[Point], left: float, top: float) -> tuple[Mark, ...]:
    """Return the names with their numbers, below each other."""
    marks, y = list[Mark](), top + SMALL
    for number, dot in enumerate(dots, start=1):
        marks.append(Words(str(number), left + 9.0, y, SMALL, END, QUIET))
        for line in wrapped(dot.name, LISTED, SMALL):
            marks.append(Words(line, left + 13.0, y, SMALL, START))
            y += LEADING * SMALL
        y += 1.0
    return tuple(marks)


def apart(
    heights: Sequence[float], sizes: Sequence[float], top: float, bottom: float
) -> list[float]:
    """Move the sorted middles of labels of these sizes apart, each by little.

    Labels go below ``bottom`` only if there is no room for all.
    """
    moved, end = list[float](), top
    for height, size in zip(heights, sizes, strict=True):
        moved.append(max(height, end + size / 2))
        end = moved[-1] + size / 2
    limit = max(bottom, top + sum(sizes))
    for place in range(len(moved) - 1, -1, -1):
        moved[place] = min(moved[place], limit - sizes[place] / 2)
        limit = moved[place] - sizes[place] / 2
    return moved
