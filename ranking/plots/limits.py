"""The lines of a funnel between the dots at which they are known."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

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
