"""Intervals for a mean that hold however often, and whenever, one looks."""

from dataclasses import dataclass

import numpy as np

from ranking.numerics.arrays import Floats
from ranking.numerics.intervals import check_level

GRID = 1_000
LARGEST_BET = 0.5  # share of what a bet may risk at most; truncation of the source


@dataclass(frozen=True)
class ConfidenceSequence:
    """Lower and upper end after each value, shape (n_values,) each; they only ever narrow."""

    low: Floats
    high: Floats


def confidence_sequence(values: Floats, *, level: float = 0.95) -> ConfidenceSequence:
    """Return intervals for the mean that hold at all times together.

    Parameters
    ----------
    values : array of shape (n_values,)
        Scores of independent units between 0 and 1 (a source dialogue's mean score of a pair),
        in the order in which they came.
    level : float
        Chance that the mean lies in every one of the intervals, however many there are.

    Returns
    -------
    ConfidenceSequence
        Ends on a grid of 1,000 steps, rounded outwards. No values give empty arrays.

    Raises
    ------
    ValueError
        If a value is not between 0 and 1, or the level not a share.

    Notes
    -----
    For each candidate mean m one bets on values above and on values below m; a mean against
    which the mixture of both has won 1 / (1 - level) times the stake is ruled out for good.
    Under the true mean the stake is a martingale, so by Ville's inequality it ever gets there
    with a chance of at most 1 - level. Bets depend on earlier values only. Valid if each value,
    given those before, has the same mean: units are drawn independently, and neither their
    order nor what is asked in them depends on what they will say. A fixed-sample interval with
    the same data is narrower, and wrong when one stops because of what one sees.
    Cost O(n_values * 1,000), in memory O(n_values).

    References
    ----------
    .. [1] Waudby-Smith & Ramdas (2024), J. R. Stat. Soc. B 86:1-27.
       doi:10.1093/jrsssb/qkad009
    .. [2] Howard, Ramdas, McAuliffe & Sekhon (2021), Ann. Statist. 49:1055-1080.
       doi:10.1214/20-AOS1991
    """
    values = _checked(values, level)
    means = np.linspace(0.0, 1.0, GRID + 1)
    alive = np.ones(len(means), dtype=np.bool_)
    ends = np.empty((len(values), 2))
    bets = _bets(values, level)
    wealth = np.zeros((2, len(means)))  # natural log, for values above and below the mean
    for at, value in enumerate(values):
        wealth += _gains(value, bets[at], means)
        alive &= np.logaddexp(wealth[0], wealth[1]) - np.log(2.0) < -np.log(1.0 - level)
        ends[at] = _ends(means, alive, ends[at - 1] if at else (0.0, 1.0))
    return ConfidenceSequence(ends[:, 0], ends[:, 1])


def stakes(values: Floats, mean: float, *, level: float = 0.95) -> Floats:
    """Return what the stake against one candidate mean has grown to after each value.

    The mean is ruled out once this reaches 1 / (1 - level); see `confidence_sequence` for the
    arguments and errors.
    """
    values = _checked(values, level)
    gains = _gains(values, _bets(values, level), np.full(values.shape, mean))
    grown: Floats = np.exp(np.cumsum(gains, axis=1)).mean(axis=0)
    return grown


def _bets(values: Floats, level: float) -> Floats:
    """Return how much to bet on each value, from those before it alone."""
    t = np.arange(1, len(values) + 1)
    centre = (0.5 + np.cumsum(values)) / (t + 1)
    spread = (0.25 + np.cumsum((values - centre) ** 2)) / (t + 1)
    before = np.concatenate([[0.25], spread])[: len(values)]
    return np.asarray(np.sqrt(2.0 * np.log(2.0 / (1.0 - level)) / (before * t * np.log(t + 1))))


def _gains(value: float | Floats, bet: float | Floats, means: Floats) -> Floats:
    """Return the log growth of the bets on above and on below, one row each."""
    with np.errstate(divide="ignore"):
        above = np.minimum(bet, LARGEST_BET / means)
        below = np.minimum(bet, LARGEST_BET / (1.0 - means))
    return np.log1p(np.stack([above, -below]) * (value - means))


def _ends(means: Floats, alive: np.ndarray, before: tuple[float, float] | Floats) -> Floats:
    """Return the ends of what is left, one step of the grid further out."""
    left = np.flatnonzero(alive)
    if not left.size:  # every mean is ruled out, which has a chance of 1 - level
        return np.asarray(before, dtype=np.float64)
    low = means[max(0, left[0] - 1)]
    high = means[min(GRID, left[-1] + 1)]
    return np.array([max(low, before[0]), min(high, before[1])])


def _checked(values: Floats, level: float) -> Floats:
    check_level(level)
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0.0) & (values <= 1.0)).all():
        msg = "values must be a flat array between 0 and 1"
        raise ValueError(msg)
    return values
