"""How two figures of the same things go together, with intervals."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.numerics.arrays import Floats

FEWEST = 4  # the interval's variance divides by n - 3


class TooFewError(ValueError):
    """There are too few things with both figures, or one figure is the same for all."""


@dataclass(frozen=True)
class Correlation:
    """A coefficient, its interval, its two-sided p-value and how many things it rests on."""

    coefficient: float
    low: float
    high: float
    p_value: float
    n: int


def pearson(x: Floats, y: Floats, *, level: float) -> Correlation:
    """Return the product-moment correlation.

    Parameters
    ----------
    x, y : arrays of shape (n,)
        The two figures of each thing; things with NaN in either are left out.
    level : float
        Of the interval, between 0 and 1.

    Returns
    -------
    Correlation
        The interval by Fisher's z, the p-value by Student's t with n - 2 degrees of freedom.

    Raises
    ------
    TooFewError
        If fewer than four things have both figures, or one of them does not vary.
    ValueError
        If the shapes differ.

    Notes
    -----
    Assumes independent things and, for the interval, figures normal together. Cost O(n).

    References
    ----------
    .. [1] Fisher (1921), Metron 1:3-32.
    """
    from scipy import stats  # noqa: PLC0415 (takes a second to load)

    x, y = _complete(x, y)
    found = stats.pearsonr(x, y)
    low, high = found.confidence_interval(confidence_level=level)
    return Correlation(float(found.statistic), float(low), float(high), float(found.pvalue), len(x))


def spearman(x: Floats, y: Floats, *, level: float) -> Correlation:
    """Return the correlation of ranks.

    Notes
    -----
    Arguments and errors as in `pearson`. The interval is by Fisher's z with the variance
    (1 + r**2 / 2) / (n - 3), which holds up to about 0.95; the p-value is by Student's t.

    References
    ----------
    .. [1] Bonett & Wright (2000), Psychometrika 65:23-28. doi:10.1007/BF02294183
    """
    from scipy import stats  # noqa: PLC0415 (takes a second to load)

    x, y = _complete(x, y)
    found = stats.spearmanr(x, y)
    r = float(found.statistic)
    reach = float(special.ndtri((1 + level) / 2)) * math.sqrt((1 + r * r / 2) / (len(x) - 3))
    if abs(r) >= 1:
        return Correlation(r, r, r, float(found.pvalue), len(x))
    low, high = math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach)
    return Correlation(r, low, high, float(found.pvalue), len(x))


def _complete(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return what both are known of, or raise."""
    if x.shape != y.shape or x.ndim != 1:
        msg = f"both must be of one shape (n,), not {x.shape} and {y.shape}"
        raise ValueError(msg)
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    if len(x) < FEWEST:
        msg = f"{len(x)} have both figures, and {FEWEST} are needed"
        raise TooFewError(msg)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        msg = "one of the figures is the same for all"
        raise TooFewError(msg)
    return x, y
