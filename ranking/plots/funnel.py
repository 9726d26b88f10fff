"""Funnel pictures as plain geometry: dots against limits, and the lines between them."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from ranking.plots.planes import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    X_TICKS,
    Y_TICKS,
    Axis,
    Curve,
    Dot,
    Plot,
    labelled,
)
from ranking.plots.scales import Scale

STEPS = 60


@dataclass(frozen=True)
class Limit:
    """A limit of a funnel, known at some values of ``x``, all above 0."""

    xs: tuple[float, ...]
    values: tuple[float, ...]

    @classmethod
    def of(cls, known: Mapping[float, float]) -> "Limit":
        """Return the limit through what is known of it."""
        xs = tuple(sorted(known))
        return cls(xs, tuple(known[x] for x in xs))

    def at(self, x: float) -> float:
        """Return the limit anywhere on the scale.

        Between two places it is straight over one by the root of ``x``, as errors of means are:
        a limit so many errors from a centre comes out as it is.
        """
        if x <= self.xs[0] or len(self.xs) == 1:
            return self.values[0]
        after = min(bisect_right(self.xs, x), len(self.xs) - 1)
        before = after - 1
        start, end, here = (1.0 / sqrt(one) for one in (self.xs[before], self.xs[after], x))
        share = (here - start) / (end - start)
        return self.values[before] + min(share, 1.0) * (self.values[after] - self.values[before])

    def curve(self) -> tuple[tuple[float, float], ...]:
        """Return points close enough together to be a smooth line."""
        first, last = self.xs[0], self.xs[-1]
        width = (last - first) / STEPS
        xs = sorted({*self.xs, *(first + width * step for step in range(STEPS + 1))})
        return tuple((x, self.at(x)) for x in xs)


def is_outside(value: float, low: float | None, high: float | None) -> bool:
    """Say whether a value is beyond a limit that is known."""
    return (low is not None and value < low) or (high is not None and value > high)


def known_limits(xs: Sequence[float], values: Sequence[float | None]) -> Limit | None:
    """Return a limit from its values at dots, or None if it is known at fewer than two places."""
    known = {x: one for x, one in zip(xs, values, strict=True) if one is not None and x > 0.0}
    return Limit.of(known) if len(known) > 1 else None


INNER = ("low", "high")
LOOKS = {"centre": "centre", "low": "inner", "high": "inner"}
LOOKS |= {"outer_low": "outer", "outer_high": "outer"}


@dataclass(frozen=True)
class FunnelSpot:
    """A named dot with the limits at its place, by key; None where one is not known."""

    name: str
    x: float
    y: float
    limits: Mapping[str, float | None]

    @property
    def is_outside(self) -> bool:
        """Say whether it is beyond the inner limits."""
        low, high = (self.limits.get(key) for key in INNER)
        return is_outside(self.y, low, high)


def funnel(spots: Sequence[FunnelSpot], *, x: Axis, y: Axis) -> Plot:
    """Draw dots and their limits; only dots beyond the inner limits are named."""
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    xs = [spot.x for spot in spots]
    limits = {key: one for key in LOOKS if (one := _limit(spots, key)) is not None}
    ys = [spot.y for spot in spots] + [value for one in limits.values() for value in one.values]
    x_scale = x.scale(xs, start=LEFT + 12, end=right - 12)
    y_scale = y.scale(ys, start=bottom - 12, end=TOP + 12)
    dots = [
        Dot(one.name, x_scale.place(one.x), y_scale.place(one.y), is_outside=one.is_outside)
        for one in spots
    ]
    return Plot(
        *(HEIGHT, LEFT, right, TOP, bottom),
        x_ticks=x_scale.ticks(at_most=X_TICKS),
        y_ticks=y_scale.ticks(at_most=Y_TICKS),
        x_label=x.label,
        y_label=y.label,
        dots=labelled(dots, only_outside=True),
        curves=tuple(_curve(one, LOOKS[key], x_scale, y_scale) for key, one in limits.items()),
    )


def _limit(spots: Sequence[FunnelSpot], key: str) -> Limit | None:
    return known_limits([spot.x for spot in spots], [spot.limits.get(key) for spot in spots])


def _curve(limit: Limit, look: str, x_scale: Scale, y_scale: Scale) -> Curve:
    points = ((x_scale.place(x), y_scale.place(y)) for x, y in limit.curve())
    return Curve(" ".join(f"{x},{y}" for x, y in points), look)
