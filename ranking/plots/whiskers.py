"""Intervals as they are drawn in the rows of a table, all on one scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from ranking.plots.scales import Scale, Tick

WIDTH = 240
MARGIN = 8
TICKS = 4


@dataclass(frozen=True)
class Interval:
    """A value with its interval; the joint one holds for all rows at once and may be missing."""

    low: float
    middle: float
    high: float
    joint_low: float | None = None
    joint_high: float | None = None

    @property
    def ends(self) -> tuple[float, ...]:
        """Return every value that has to be on the picture."""
        known = (self.low, self.middle, self.high, self.joint_low, self.joint_high)
        return tuple(value for value in known if value is not None)


@dataclass(frozen=True)
class Whisker:
    """Where an interval is drawn, in the units of a picture `WIDTH` wide."""

    low: float
    middle: float
    high: float
    joint_low: float | None
    joint_high: float | None
    centre: float | None


@dataclass(frozen=True)
class Whiskers:
    """The intervals of a table, with the axis that heads their column."""

    rows: tuple[Whisker | None, ...]
    ticks: tuple[Tick, ...]


def whiskers(intervals: Sequence[Interval | None], *, centre: float | None) -> Whiskers:
    """Place intervals on one common scale; the centre is marked where it lies on that scale."""
    known = [one for one in intervals if one is not None]
    ends = chain.from_iterable(one.ends for one in known)
    scale = Scale.over(ends, start=MARGIN, end=WIDTH - MARGIN)
    middle = scale.place(centre) if centre is not None and scale.holds(centre) else None
    rows = tuple(None if one is None else _whisker(one, scale, middle) for one in intervals)
    return Whiskers(rows, scale.ticks(at_most=TICKS) if known else ())


def _whisker(one: Interval, scale: Scale, centre: float | None) -> Whisker:
    def place(value: float | None) -> float | None:
        return None if value is None else scale.place(value)

    return Whisker(
        low=scale.place(one.low),
        middle=scale.place(one.middle),
        high=scale.place(one.high),
        joint_low=place(one.joint_low),
        joint_high=place(one.joint_high),
        centre=centre,
    )
