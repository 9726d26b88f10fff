"""Rings and spokes of radar pictures: round values around a middle, and where each axis points."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ranking.plots.scales import TINY, round_step

FEWEST_AXES = 3
RINGS = 4
UPRIGHT = 0.02  # nearer to the vertical than this, words stand around the axis


class TooFewAxesError(ValueError):
    """A radar needs three axes or more."""


@dataclass(frozen=True)
class Rings:
    """The value in the middle of a radar, and how much more each of its `RINGS` rings is."""

    middle: float
    step: float

    @classmethod
    def around(cls, values: Sequence[float], *, least: float) -> "Rings":
        """Return round rings that hold all values, ``least`` apart or more.

        The lowest value is on the first ring or outside it: never in the very middle, where
        corners of different axes could not be told apart.
        """
        low, high = min(values), max(values)
        step = round_step(max(least, (high - low) / RINGS))
        while high > _below(low, step) + RINGS * step * (1.0 + TINY):
            step = round_step(1.01 * step)
        return cls(_below(low, step), step)

    @property
    def values(self) -> tuple[float, ...]:
        """Return the value of each ring, the innermost first."""
        return tuple(round(self.middle + ring * self.step, 9) for ring in range(1, RINGS + 1))

    def reach(self, value: float) -> float:
        """Return how far from the middle a value is, the outermost ring being 1."""
        return (value - self.middle) / (RINGS * self.step)


def corner(place: int, n_axes: int, reach: float) -> tuple[float, float]:
    """Return where a reach along an axis ends, the middle being (0, 0), downwards more.

    The first axis points upwards, the others follow clockwise.
    """
    angle = 2.0 * math.pi * place / n_axes
    return reach * math.sin(angle), -reach * math.cos(angle)


def anchor(x: float) -> str:
    """Return the end at which SVG holds words beside an axis that ends at that ``x``."""
    if abs(x) < UPRIGHT:
        return "middle"
    return "start" if x > 0.0 else "end"


def _below(low: float, step: float) -> float:
    """Return the round value one step below the one at or under ``low``."""
    return (math.floor(low / step + TINY) - 1) * step
