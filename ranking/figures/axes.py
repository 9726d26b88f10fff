"""Axes: straight and logarithmic scales with their round values."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, log10

from ranking.figures.lettering import ASCENT, width
from ranking.figures.marks import GRID, INK, QUIET, Mark, Stroke, Words
from ranking.findings import Column, ColumnKind
from ranking.plots.scales import Scale, Tick

TICK_SIZE = 6.5
STEPS = (tuple(map(float, range(1, 10))), (1.0, 2.0, 5.0), (1.0,))


@dataclass(frozen=True)
class FigureAxis:
    """Where values of a column lie between two ends of a picture."""

    scale: Scale
    kind: ColumnKind
    is_logarithmic: bool

    @classmethod
    def of(
        cls, values: Iterable[float], column: Column, *, start: float, end: float
    ) -> "FigureAxis":
        """Return the axis that holds the values, logarithmic if asked and none is below 0."""
        known = list(values)
        is_logarithmic = column.is_logarithmic and min(known, default=0.0) > 0.0
        shown = map(log10, known) if is_logarithmic else known
        return cls(Scale.over(shown, start=start, end=end), column.kind, is_logarithmic)

    def place(self, value: float) -> float:
        """Return where the value lies."""
        return self.scale.place(log10(value) if self.is_logarithmic else value)

    def holds(self, value: float) -> bool:
        """Say whether the value is on the axis."""
        if self.is_logarithmic:
            return value > 0.0 and self.scale.holds(log10(value))
        return self.scale.holds(value)

    def ticks(self, at_most: int) -> tuple[tuple[float, str], ...]:
        """Return where round values lie, and how they are written."""
        found = self._powers(at_most) if self.is_logarithmic else self.scale.ticks(at_most=at_most)
        return tuple((tick.at, self._text(tick)) for tick in found)

    def _text(self, tick: Tick) -> str:
        if self.kind is ColumnKind.SHARE:
            return Tick(tick.at, round(100.0 * tick.value, 6)).text
        return tick.text

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


def along_bottom(axis: FigureAxis, top: float, bottom: float, at_most: int = 5) -> tuple[Mark, ...]:
    """Return the lines of a grid and the values below it, none in another's way."""
    marks: list[Mark] = [Stroke(((axis.scale.start, bottom), (axis.scale.end, bottom)), INK)]
    taken = float("-inf")
    for at, text in axis.ticks(at_most):
        half = width(text, TICK_SIZE) / 2
        marks.append(Stroke(((at, top), (at, bottom)), GRID, 0.4))
        if at - half > taken + 2.0:
            marks.append(Words(text, at, bottom + 9.0, TICK_SIZE, "center", QUIET))
            taken = at + half
    return tuple(marks)


def along_left(axis: FigureAxis, left: float, right: float, at_most: int = 6) -> tuple[Mark, ...]:
    """Return the lines of a grid and the values left of it."""
    marks: list[Mark] = []
    for at, text in axis.ticks(at_most):
        marks.append(Stroke(((left, at), (right, at)), GRID, 0.4))
        baseline = at + ASCENT * TICK_SIZE
        marks.append(Words(text, left - 3.0, baseline, TICK_SIZE, "right", QUIET))
    return tuple(marks)


def tick_width(axis: FigureAxis, at_most: int = 6) -> float:
    """Return how wide the widest value beside the axis is."""
    return max((width(text, TICK_SIZE) for _, text in axis.ticks(at_most)), default=0.0)
