"""Percentile intervals of bootstrap replicates, and how far chance moves their ends."""

from dataclasses import dataclass

import numpy as np

from ranking.numerics.arrays import Floats


@dataclass(frozen=True)
class Intervals:
    """Lower and upper end per system, shape (n_systems,) each, in the replicates' unit."""

    low: Floats
    high: Floats


def percentile_intervals(replicates: Floats, *, level: float = 0.95) -> Intervals:
    """Return the central share of the replicates of each system.

    Parameters
    ----------
    replicates : array of shape (n_replicates, n_systems)
        Refitted values, in any unit; replicates without a maximum are to be left out, and
        counted, by the caller.
    level : float
        Share of replicates between the two ends, above 0 and below 1.

    Returns
    -------
    Intervals
        Quantiles ``(1 - level) / 2`` and ``(1 + level) / 2``, linearly interpolated. Each
        interval holds for one system alone; see `ranking.numerics.ranks` for all at once.

    Raises
    ------
    ValueError
        If there are fewer than two replicates, one is not finite, or the level is not a
        share.

    Notes
    -----
    With 1,000 replicates the Monte Carlo standard deviation of a 2.5 % quantile is about
    6 % of the standard error. Cost O(n_replicates * n_systems).

    References
    ----------
    .. [1] Efron & Tibshirani (1993), An Introduction to the Bootstrap, section 13.3.
    """
    check_replicates(replicates, level)
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(replicates, [tail, 1.0 - tail], axis=0)
    return Intervals(low, high)


def check_replicates(replicates: Floats, level: float) -> None:
    """Raise ValueError unless there are two finite rows or more and ``level`` is a share."""
    check_finite_rows(replicates)
    check_level(level)


def check_finite_rows(replicates: Floats) -> None:
    """Raise ValueError unless there are two rows of replicates or more, all finite."""
    if replicates.ndim <= 1 or len(replicates) <= 1:
        msg = f"at least two rows of replicates are needed, not shape {replicates.shape}"
        raise ValueError(msg)
    if not np.isfinite(replicates).all():
        msg = "replicates without a maximum must be left out first"
        raise ValueError(msg)


def check_level(level: float) -> None:
    """Raise ValueError unless ``level`` lies strictly between 0 and 1."""
    if not 0.0 < level < 1.0:
        msg = f"level must lie between 0 and 1, not {level}"
        raise ValueError(msg)
