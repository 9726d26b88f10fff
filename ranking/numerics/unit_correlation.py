"""Correlations of figures that hang together inside source dialogues, with resampled intervals."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.correlation import FEWEST, TooFewError
from ranking.numerics.few_units import expanded_intervals
from ranking.numerics.refits import draw_units

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
        The interval is of percentiles, expanded below 50 units as ratings' intervals are.

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
    x, y, unit = _complete(x, y, unit)
    draws = _draws(unit, n_replicates, rng)
    return _found(_weighted_pearson, x, y, draws, level)


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
    x, y, unit = _complete(x, y, unit)
    draws = _draws(unit, n_replicates, rng)

    def correlate(x: Floats, y: Floats, times: Floats) -> Floats:
        return _weighted_pearson(_mid_ranks(x, times), _mid_ranks(y, times), times)

    return _found(correlate, x, y, draws, level)


def _complete(x: Floats, y: Floats, unit: Integers) -> tuple[Floats, Floats, Integers]:
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


@dataclass(frozen=True)
class _Draws:
    """How often each unit was drawn, shape (n_replicates, n_units), and each thing's unit."""

    times: Floats
    place: Integers


def _draws(unit: Integers, n_replicates: int, rng: np.random.Generator) -> _Draws:
    found, place = np.unique(unit, return_inverse=True)
    return _Draws(draw_units(len(found), n_replicates, rng), place.astype(np.int64))


def _found(
    correlate: Callable[[Floats, Floats, Floats], Floats],
    x: Floats,
    y: Floats,
    draws: _Draws,
    level: float,
) -> UnitCorrelation:
    r = correlate(x, y, np.ones((1, len(x))))
    step = max(1, BLOCK_CELLS // len(x))
    blocks = [
        correlate(x, y, draws.times[first : first + step][:, draws.place])
        for first in range(0, len(draws.times), step)
    ]
    resampled = np.concatenate([np.zeros(0), *blocks])
    resampled = resampled[np.isfinite(resampled)]
    n_units = draws.times.shape[1]
    low, high = float("nan"), float("nan")
    if len(resampled) >= FEWEST_UNITS:
        reach = expanded_intervals(r, resampled[:, None], n_units=n_units, level=level)
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
