"""The cumulative logit of graded preferences: log likelihood and slopes of each judgment."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.numerics.arrays import Floats, Integers


@dataclass(frozen=True)
class Graded:
    """Graded judgments, or counts of alike ones, as columns of shape (n_rows,).

    ``winner`` and ``loser`` are indices of systems from 0, in any order for a tie; ``level`` is
    0 for a tie and grows with the preference; ``weight`` is at least 0.
    """

    winner: Integers
    loser: Integers
    level: Integers
    weight: Floats


@dataclass(frozen=True)
class Scale:
    """How thresholds bound the levels: P(level at least k, for the winner) = F(d - tau_k).

    A row of level k ends at d + above[k] @ tau on the upper side and d + below[k] @ tau on the
    lower one; the highest level has no lower end. Shapes (n_levels, n_thresholds).
    """

    above: Floats
    below: Floats

    @property
    def highest(self) -> int:
        """Return the highest level."""
        return len(self.above) - 1

    @classmethod
    def of(cls, n_levels: int, *, with_ties: bool) -> "Scale":
        """Return the symmetric scale with levels 0 to n_levels - 1.

        Without ties the threshold between the two sides is 0, and no parameter.
        """
        steps = np.eye(n_levels)[:, 1:] if with_ties else np.eye(n_levels)[:, 2:]
        below = np.vstack([-steps[1:], np.zeros((1, steps.shape[1]))])
        above = -steps
        above[0] = steps[1] if n_levels > 1 else 0.0
        return cls(above, below)


@dataclass(frozen=True)
class RowSlopes:
    """Slopes of the log likelihood of each row by its two ends, shape (n_rows,) each.

    ``upper`` and ``lower`` are first derivatives; ``curved_upper``, ``curved_lower`` and
    ``mixed`` the second ones with their signs turned (the mixed one is not positive).
    """

    value: Floats
    upper: Floats
    lower: Floats
    curved_upper: Floats
    curved_lower: Floats
    mixed: Floats


def row_slopes(upper: Floats, lower: Floats) -> RowSlopes:
    """Return log(F(upper) - F(lower)) and its derivatives, F being the logistic function.

    Notes
    -----
    F(a) - F(b) = F(a) F(-b) (1 - exp(b - a)), which loses no digits however small it is.
    ``lower`` may be minus infinity. Where upper <= lower the value is minus infinity.
    """
    width = upper - lower
    allowed = width > 0
    width = np.where(allowed, width, 1.0)
    value = special.log_expit(upper) + special.log_expit(-lower) + np.log(-np.expm1(-width))
    near = np.exp(-width)
    pull = near / -np.expm1(-width)
    bend = near / np.expm1(-width) ** 2
    return RowSlopes(
        value=np.where(allowed, value, -np.inf),
        upper=special.expit(-upper) + pull,
        lower=-special.expit(lower) - pull,
        curved_upper=special.expit(upper) * special.expit(-upper) + bend,
        curved_lower=special.expit(lower) * special.expit(-lower) + bend,
        mixed=-bend,
    )


def at_ends(judgments: Graded, scale: Scale, strengths: Floats, thresholds: Floats) -> RowSlopes:
    """Return the slopes of each judgment at the given log strengths and thresholds."""
    d = strengths[judgments.winner] - strengths[judgments.loser]
    upper = d + (scale.above @ thresholds)[judgments.level]
    lower = d + (scale.below @ thresholds)[judgments.level]
    return row_slopes(upper, np.where(judgments.level == scale.highest, -np.inf, lower))
