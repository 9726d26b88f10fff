"""Rank intervals that hold for all systems at once."""

from dataclasses import dataclass

import numpy as np

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.intervals import check_replicates

STILL = 1e-9  # natural-log units; a spread below what the fit resolves counts as none


@dataclass(frozen=True)
class RankIntervals:
    """Best and worst rank each system may have, shape (n_systems,), and the cut-off used.

    Rank 1 is the best. ``critical_value`` is the number of standard errors by which two
    systems must differ to be told apart.
    """

    best: Integers
    worst: Integers
    critical_value: float


def rank_intervals(estimate: Floats, replicates: Floats, *, level: float = 0.95) -> RankIntervals:
    """Find the ranks that the differences between systems leave open.

    Parameters
    ----------
    estimate : array of shape (n_systems,)
        Fitted log strengths, in any unit; higher is better.
    replicates : array of shape (n_replicates, n_systems)
        Bootstrap replicates of ``estimate`` in the same unit, all finite.
    level : float
        Probability, over repetitions of the study, that all intervals hold together.

    Returns
    -------
    RankIntervals
        ``best[i]`` is 1 plus the number of systems told to be better than i, ``worst[i]`` is
        n_systems less the number told to be worse.

    Raises
    ------
    ValueError
        If there are fewer than two replicates, one is not finite, the shapes do not fit, or
        the level is not a share.

    Notes
    -----
    Systems i and j are told apart when |d_ij| exceeds c * sd_ij, d_ij being their difference,
    sd_ij its standard deviation over the replicates, and c the ``level`` quantile over
    replicates of the largest |d*_ij - d_ij| / sd_ij of all pairs. That is what makes the
    intervals simultaneous; ranks read from overlapping single intervals, or percentiles of
    bootstrap ranks, do not hold near ties. A pair whose difference is the same in every
    replicate has nothing to be judged by and is told apart as it stands.
    Cost O(n_replicates * n_systems**2), memory O(n_replicates * n_systems).

    References
    ----------
    .. [1] Mogstad, Romano, Shaikh & Wilhelm (2024), Rev. Econ. Stud. 91:476-518.
       doi:10.1093/restud/rdad006
    .. [2] Klein, Wright & Wieczorek (2020), J. R. Stat. Soc. A 183:1141-1159.
       doi:10.1111/rssa.12554
    """
    check_replicates(replicates, level)
    if estimate.shape != replicates.shape[1:]:
        msg = f"estimate must be of shape {replicates.shape[1:]}, not {estimate.shape}"
        raise ValueError(msg)
    difference = estimate[:, None] - estimate[None, :]
    spread = _difference_spread(replicates)
    critical = float(np.quantile(_largest_deviation(estimate, replicates, spread), level))
    above = difference > np.maximum(critical * spread, STILL)
    best = 1 + above.sum(axis=0)
    worst = len(estimate) - above.sum(axis=1)
    return RankIntervals(best, worst, critical)


def _difference_spread(replicates: Floats) -> Floats:
    """Return the standard deviation of every pairwise difference, 0 where it stands still."""
    rows = [(replicates[:, i, None] - replicates).std(axis=0, ddof=1) for i in _systems(replicates)]
    spread = np.array(rows)
    return np.where(spread > STILL, spread, 0.0)


def _largest_deviation(estimate: Floats, replicates: Floats, spread: Floats) -> Floats:
    """Return the largest studentised pairwise deviation of each replicate, shape (n,)."""
    deviation = replicates - estimate
    # A pair that stands still says nothing about how far the others may stray.
    scale = np.where(spread > 0.0, spread, np.inf)
    largest = np.zeros(len(replicates))
    for i in _systems(replicates):
        gaps = np.abs(deviation[:, i, None] - deviation) / scale[i]
        np.maximum(largest, gaps.max(axis=1), out=largest)
    return largest


def _systems(replicates: Floats) -> range:
    """Return the column indices; going through them one by one keeps memory low."""
    return range(replicates.shape[1])
