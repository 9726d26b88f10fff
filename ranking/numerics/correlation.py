"""How two figures of the same things go together: with intervals, over units, and as orders."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import scipy
from scipy import special

from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.few_units import expanded_intervals
from ranking.numerics.refits import draw_units
from ranking.numerics.simultaneous import effective_units

FEWEST = 4  # the interval's variance divides by n - 3
MOST_ORDERED = 8  # 40,320 orders


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
    (1 + r**2 / 2) / (n - 3), which holds up to about 0.95; it takes the same order in both for
    half a step short of it, which few things reach by chance. The p-value is over all orders of
    up to `MOST_ORDERED` things, and of more by Student's t.

    References
    ----------
    .. [1] Bonett & Wright (2000), Psychometrika 65:23-28. doi:10.1007/BF02294183
    """
    from scipy import stats  # noqa: PLC0415 (takes a second to load)

    x, y = _complete(x, y)
    found = stats.spearmanr(x, y)
    r = float(found.statistic)
    p_value = _of_all_orders(x, y) if len(x) <= MOST_ORDERED else float(found.pvalue)
    most = 1.0 - 6.0 / (len(x) * (len(x) ** 2 - 1))  # a step is two neighbours turned round
    near = float(np.clip(r, -most, most))
    reach = float(special.ndtri((1 + level) / 2)) * math.sqrt((1 + near**2 / 2) / (len(x) - 3))
    low, high = (math.tanh(math.atanh(near) + end) for end in (-reach, reach))
    return Correlation(r, min(low, r), max(high, r), p_value, len(x))


def _of_all_orders(x: Floats, y: Floats) -> float:
    """Return in what share of all orders of the one the ranks go together as much, either way."""
    from scipy import stats  # noqa: PLC0415 (as above)

    one, other = (stats.rankdata(values) - (len(x) + 1) / 2 for values in (x, y))
    together = np.abs(other[np.array(list(permutations(range(len(x)))))] @ one)
    return float((together >= abs(float(one @ other)) - STILL).mean())


def _known(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the figures of the things with both, or raise ValueError."""
    if x.shape != y.shape or x.ndim != 1:
        msg = f"both must be of one shape (n,), not {x.shape} and {y.shape}"
        raise ValueError(msg)
    known = np.isfinite(x) & np.isfinite(y)
    return x[known], y[known]


def _complete(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return what both are known of, or raise."""
    x, y = _known(x, y)
    if len(x) < FEWEST:
        msg = f"{len(x)} have both figures, and {FEWEST} are needed"
        raise TooFewError(msg)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        msg = "one of the figures is the same for all"
        raise TooFewError(msg)
    return x, y


FEWEST_UNITS = 2
STILL = 1e-12
BLOCK_CELLS = 2**22  # weights held at once


@dataclass(frozen=True)
class UnitCorrelation:
    """A coefficient with its interval, and how many things in how many units it rests on.

    The ends are NaN where hardly any sample has a coefficient.
    """

    coefficient: float
    low: float
    high: float
    n: int
    n_units: int


def unit_pearson(
    x: Floats,
    y: Floats,
    unit: Integers,
    *,
    n_replicates: int,
    rng: np.random.Generator,
    level: float = 0.95,
) -> UnitCorrelation:
    """Return the product-moment correlation with an interval over resampled units.

    Parameters
    ----------
    x, y : arrays of shape (n,)
        The two figures of each thing; things with NaN in either are left out.
    unit : integer array of shape (n,)
        The source dialogue of each; any whole numbers.
    n_replicates : int
        Samples of whole units to draw.
    rng : numpy.random.Generator
        The only source of chance.
    level : float
        Of the interval, between 0 and 1.

    Returns
    -------
    UnitCorrelation
        The interval is of percentiles, expanded for few units as ratings' intervals are.

    Raises
    ------
    TooFewError
        If fewer than four things, or things of fewer than two units, have both figures, or one
        of the figures does not vary.
    ValueError
        If the shapes differ.

    Notes
    -----
    Cost O(n_replicates * n).

    References
    ----------
    .. [1] Efron & Tibshirani (1993), An Introduction to the Bootstrap, section 13.3.
    .. [2] Field & Welsh (2007), J. R. Stat. Soc. B 69:369-390, for resampling of clusters.
       doi:10.1111/j.1467-9868.2007.00593.x
    """
    x, y, unit = _complete_with_units(x, y, unit)
    times, place = _draws(unit, n_replicates, rng)
    return _over_units(_weighted_pearson, x, y, times, place, level)


def unit_spearman(
    x: Floats,
    y: Floats,
    unit: Integers,
    *,
    n_replicates: int,
    rng: np.random.Generator,
    level: float = 0.95,
) -> UnitCorrelation:
    """Return the correlation of ranks with an interval over resampled units.

    Notes
    -----
    Arguments and errors as in `unit_pearson`. Each sample is ranked anew, ties sharing the mean
    of their ranks. Cost O(n_replicates * n + n log n).
    """
    x, y, unit = _complete_with_units(x, y, unit)
    times, place = _draws(unit, n_replicates, rng)

    def correlate(x: Floats, y: Floats, times: Floats) -> Floats:
        return _weighted_pearson(_mid_ranks(x, times), _mid_ranks(y, times), times)

    return _over_units(correlate, x, y, times, place, level)


def _complete_with_units(x: Floats, y: Floats, unit: Integers) -> tuple[Floats, Floats, Integers]:
    if not x.shape == y.shape == unit.shape or x.ndim != 1:
        msg = f"all must be of one shape (n,), not {x.shape}, {y.shape} and {unit.shape}"
        raise ValueError(msg)
    known: Booleans = np.isfinite(x) & np.isfinite(y)
    x, y, unit = x[known], y[known], unit[known]
    n_units = len(np.unique(unit))
    if len(x) < FEWEST or n_units < FEWEST_UNITS:
        msg = f"{len(x)} of {n_units} dialogues have both; {FEWEST} of {FEWEST_UNITS} are needed"
        raise TooFewError(msg)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        msg = "one of the figures is the same for all"
        raise TooFewError(msg)
    return x, y, unit


def _draws(unit: Integers, n_replicates: int, rng: np.random.Generator) -> tuple[Floats, Integers]:
    """Draw how often each unit counts, (n_replicates, n_units), and return each thing's unit."""
    found, place = np.unique(unit, return_inverse=True)
    return draw_units(len(found), n_replicates, rng), place.astype(np.int64)


def _over_units(
    correlate: Callable[[Floats, Floats, Floats], Floats],
    x: Floats,
    y: Floats,
    times: Floats,
    place: Integers,
    level: float,
) -> UnitCorrelation:
    r = correlate(x, y, np.ones((1, len(x))))
    step = max(1, BLOCK_CELLS // len(x))
    blocks = [
        correlate(x, y, times[first : first + step][:, place])
        for first in range(0, len(times), step)
    ]
    resampled = np.concatenate([np.zeros(0), *blocks])
    resampled = resampled[np.isfinite(resampled)]
    n_units = times.shape[1]
    low, high = float("nan"), float("nan")
    if len(resampled) >= FEWEST_UNITS:
        worth = int(effective_units(np.bincount(place)))
        reach = expanded_intervals(r, resampled[:, None], n_units=worth, level=level)
        low, high = float(reach.low[0]), float(reach.high[0])
    return UnitCorrelation(float(r[0]), low, high, len(x), n_units)


def _weighted_pearson(x: Floats, y: Floats, times: Floats) -> Floats:
    """Return the correlation in each sample, NaN where a figure does not vary in it.

    ``times`` has shape (n_replicates, n); figures are of shape (n,), or one row a sample.
    """
    n = times.sum(axis=1, keepdims=True)
    x = x - (times * x).sum(axis=1, keepdims=True) / n
    y = y - (times * y).sum(axis=1, keepdims=True) / n
    of_x, of_y, of_both = ((times * one).sum(axis=1) for one in (x * x, y * y, x * y))
    varies = (of_x > STILL * n[:, 0]) & (of_y > STILL * n[:, 0])
    scale = np.sqrt(np.where(varies, of_x * of_y, 1.0))
    r: Floats = np.where(varies, np.clip(of_both / scale, -1.0, 1.0), np.nan)
    return r


def _mid_ranks(values: Floats, times: Floats) -> Floats:
    """Return the mean rank of each value in each sample, shape (n_replicates, n)."""
    _, group = np.unique(values, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    drawn = np.add.reduceat(times[:, order], starts, axis=1)
    ranks: Floats = (np.cumsum(drawn, axis=1) - drawn + (drawn + 1.0) / 2.0)[:, group]
    return ranks


FEWEST_RANKED = 3
ROWS_AT_ONCE = 64  # replicates at once: each takes n_systems**2 numbers


@dataclass(frozen=True)
class OrderAgreement:
    """Kendall's tau-b and Spearman's coefficient, and of how many systems."""

    kendall: float
    spearman: float
    n: int


def order_agreement(x: Floats, y: Floats) -> OrderAgreement:
    """Return the rank correlations of two orders.

    Parameters
    ----------
    x, y : arrays of shape (n_systems,)
        What each order goes by; systems with NaN in either are left out.

    Raises
    ------
    TooFewError
        If fewer than three systems are in both, or one order has them all equal.
    ValueError
        If the shapes differ.

    Notes
    -----
    Tau-b is the share of pairs in the same order less the share in the opposite one, of the
    pairs that are tied in neither. Cost O(n log n).

    References
    ----------
    .. [1] Kendall (1945), Biometrika 33:239-251. doi:10.1093/biomet/33.3.239
    """
    x, y = _known(x, y)
    if len(x) < FEWEST_RANKED:
        msg = f"{len(x)} systems are in both orders, and {FEWEST_RANKED} are needed"
        raise TooFewError(msg)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        msg = "one of the orders has all systems equal"
        raise TooFewError(msg)
    tau, rho = scipy.stats.kendalltau(x, y).statistic, scipy.stats.spearmanr(x, y).statistic
    return OrderAgreement(float(tau), float(rho), len(x))


def resampled_kendall(x: Floats, y: Floats) -> Floats:
    """Return tau-b row by row.

    Parameters
    ----------
    x, y : arrays of shape (n_replicates, n_systems)
        Replicates from the same samples.

    Returns
    -------
    array of shape (n_replicates,)
        NaN where a row of either is all ties or not all finite. Cost O(n_replicates *
        n_systems**2).
    """
    found = [
        _taus(x[first : first + ROWS_AT_ONCE], y[first : first + ROWS_AT_ONCE])
        for first in range(0, len(x), ROWS_AT_ONCE)
    ]
    return np.concatenate([np.zeros(0), *found])


def _taus(x: Floats, y: Floats) -> Floats:
    one, two = (np.sign(row[:, :, None] - row[:, None, :]) for row in (x, y))
    together = (one * two).sum(axis=(1, 2))
    apart = np.sqrt((one * one).sum(axis=(1, 2)) * (two * two).sum(axis=(1, 2)))
    is_known = np.isfinite(apart) & (apart > 0)
    taus: Floats = np.divide(together, apart, out=np.full(len(x), np.nan), where=is_known)
    return taus
