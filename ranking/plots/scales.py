"""Scales of pictures, their round values, and intervals as rows of a table draw them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil, floor, log10

from ranking.findings import Column, ColumnKind

ROUND_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
TINY = 1e-9


@dataclass(frozen=True)
class Tick:
    """A round value of an axis, and where it is drawn; ``name`` is for what is no number."""

    at: float
    value: float
    name: str = ""

    @property
    def text(self) -> str:
        """Return the value as an axis has it: without what is always nought."""
        return self.name or f"{self.value:.10g}".replace("-", "\N{MINUS SIGN}")


@dataclass(frozen=True)
class Scale:
    """A straight line from values between ``low`` and ``high`` to places in a picture."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def over(cls, values: Iterable[float], *, start: float, end: float) -> "Scale":
        """Return the scale that just holds the values; around one value alone, it is in the middle.

        Without values it runs from 0 to 1.
        """
        known = list(values) or [0.0, 1.0]
        low, high = min(known), max(known)
        if high - low < TINY:
            low, high = low - 0.5, high + 0.5
        return cls(low, high, start, end)

    def place(self, value: float) -> float:
        """Return where the value is drawn, to a tenth of a unit."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self, *, at_most: int) -> tuple[Tick, ...]:
        """Return the round values on the scale, ``at_most`` so many."""
        step = round_step((self.high - self.low) / at_most)
        first, last = ceil(self.low / step - TINY), floor(self.high / step + TINY)
        values = [place * step for place in range(first, last + 1)][:at_most]
        return tuple(Tick(self.place(value), round(value, 9)) for value in values)

    def holds(self, value: float) -> bool:
        """Say whether the value is on the scale."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class LogScale(Scale):
    """The same with equal steps for equal factors; values are above 0, ends are logarithms."""

    @classmethod
    def over(cls, values: Iterable[float], *, start: float, end: float) -> "LogScale":
        """Return the scale that just holds the values."""
        ends = Scale.over([log10(value) for value in values], start=start, end=end)
        return cls(ends.low, ends.high, start, end)

    def place(self, value: float) -> float:
        """Return where the value is drawn, to a tenth of a unit."""
        return super().place(log10(value))

    def ticks(self, *, at_most: int) -> tuple[Tick, ...]:
        """Return 1 to 9 times powers of ten on the scale, or 1, 2 and 5 times, or fewer still."""
        powers = [10.0**power for power in range(floor(self.low), ceil(self.high) + 1)]
        choices = [
            [value for power in powers for step in steps if self.holds(value := step * power)]
            for steps in (range(1, 10), (1, 2, 5), (1, 3), (1,))
        ]
        fitting = next((values for values in choices if len(values) <= at_most), choices[-1])
        return tuple(Tick(self.place(value), round(value, 9)) for value in fitting[:at_most])

    def holds(self, value: float) -> bool:
        """Say whether the value is on the scale."""
        return value > 0.0 and super().holds(log10(value))


def scale_of(column: Column, values: Iterable[float], *, start: float, end: float) -> Scale:
    """Return the scale that holds values of a column and its mark, if it has one.

    Logarithmic if the column asks for that and all of them are above 0.
    """
    held = [*values] if column.mark is None else [*values, column.mark]
    kind = LogScale if column.is_logarithmic and min(held, default=0.0) > 0.0 else Scale
    return kind.over(held, start=start, end=end)


def head(column: Column) -> str:
    """Return the words of a column with its unit."""
    return f"{column.label}, %" if column.kind is ColumnKind.SHARE else column.label


def in_unit(tick: Tick, kind: ColumnKind) -> Tick:
    """Return a tick with its value as the axis writes it: shares in per cent."""
    is_share = kind is ColumnKind.SHARE
    return replace(tick, value=round(100.0 * tick.value, 6)) if is_share else tick


def round_step(least: float) -> float:
    """Return the smallest of 1, 2, 2.5, 5 times a power of ten that is at least so much."""
    power = 10.0 ** floor(log10(least))
    return next(step * power for step in ROUND_STEPS if step * power >= least * (1 - TINY))


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


def whiskers(
    intervals: Sequence[Interval | None], *, centre: float | None
) -> tuple[tuple[Whisker | None, ...], tuple[Tick, ...]]:
    """Place intervals on one common scale, and return them with the ticks of its axis.

    The centre is marked where it lies on that scale.
    """
    known = [one for one in intervals if one is not None]
    ends = chain.from_iterable(one.ends for one in known)
    scale = Scale.over(ends, start=MARGIN, end=WIDTH - MARGIN)
    middle = scale.place(centre) if centre is not None and scale.holds(centre) else None
    rows = tuple(None if one is None else _whisker(one, scale, middle) for one in intervals)
    return rows, scale.ticks(at_most=TICKS) if known else ()


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
