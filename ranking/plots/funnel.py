"""Funnel pictures of results as plain geometry: dots against limits that narrow with more data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ranking.plots.limits import Limit, is_outside, known_limits
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

INNER = ("low", "high")
LOOKS = {"centre": "centre", "low": "inner", "high": "inner"}
LOOKS |= {"outer_low": "outer", "outer_high": "outer"}


@dataclass(frozen=True)
class Spot:
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


def funnel(spots: Sequence[Spot], *, x: Axis, y: Axis) -> Plot:
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


def _limit(spots: Sequence[Spot], key: str) -> Limit | None:
    return known_limits([spot.x for spot in spots], [spot.limits.get(key) for spot in spots])


def _curve(limit: Limit, look: str, x_scale: Scale, y_scale: Scale) -> Curve:
    points = ((x_scale.place(x), y_scale.place(y)) for x, y in limit.curve())
    return Curve(" ".join(f"{x},{y}" for x, y in points), look)
