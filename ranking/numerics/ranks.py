"""Rank intervals that hold for all systems at once."""

from dataclasses import dataclass

import numpy as np

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.intervals import check_replicates
from ranking.numerics.simultaneous import STILL, for_few_units

MOST_STEPS = 10
"""More than it takes; each further step tells apart less."""


@dataclass(frozen=True)
class RankIntervals:
    """Best and worst rank each system may have, shape (n_systems,), and the cut-off used.

    Rank 1 is the best. ``critical_value`` is the number of standard errors by which the last
    two systems had to differ to be told apart.
    """

    best: Integers
    worst: Integers
    critical_value: float


def rank_intervals(
    estimate: Floats, replicates: Floats, *, level: float = 0.95, n_units: int | None = None
) -> RankIntervals:
    """Find the ranks that the differences between systems leave open.

    Parameters
    ----------
    estimate : array of shape (n_systems,)
        Fitted log strengths, in any unit; higher is better.
    replicates : array of shape (n_replicates, n_systems)
        Bootstrap replicates of ``estimate`` in the same unit, all finite.
    level : float
        Probability, over repetitions of the study, that all intervals hold together.
    n_units : int, optional
        Units that the replicates were drawn from, for the correction of
        `ranking.numerics.simultaneous.for_few_units`; without it there is none.

    Returns
    -------
    RankIntervals
        ``best[i]`` is 1 plus the number of systems told to be better than i, ``worst[i]`` is
        n_systems less the number told to be worse.

    Raises
    ------
    ValueError
        If there are fewer than two replicates, one is not finite, the shapes do not fit, the
        level is not a share, or there are fewer than two units.

    Notes
    -----
    System i is told to be better than j when d_ij exceeds c * sd_ij, d_ij being their
    difference, sd_ij its standard deviation over the replicates, and c the ``level`` quantile
    over replicates of the largest (d*_ij - d_ij) / sd_ij of all ordered pairs. That is what
    makes the intervals simultaneous; ranks read from overlapping single intervals, or
    percentiles of bootstrap ranks, do not hold near ties. Step by step, c is taken anew over
    the ordered pairs that are not yet told, until none is added. A pair whose difference is
    the same in every replicate has nothing to be judged by and is told apart as it stands.
    Cost O(n_replicates * n_systems**2) per step, two to four of them; memory
    O(n_replicates * n_systems).

    References
    ----------
    .. [1] Mogstad, Romano, Shaikh & Wilhelm (2024), Rev. Econ. Stud. 91:476-518.
       doi:10.1093/restud/rdad006
    .. [2] Klein, Wright & Wieczorek (2020), J. R. Stat. Soc. A 183:1141-1159.
       doi:10.1111/rssa.12554
    .. [3] Romano & Wolf (2005), J. Am. Stat. Assoc. 100:94-108.
       doi:10.1198/016214504000000539
    """
    check_replicates(replicates, level)
    if estimate.shape != replicates.shape[1:]:
        msg = f"estimate must be of shape {replicates.shape[1:]}, not {estimate.shape}"
        raise ValueError(msg)
    difference = estimate[:, None] - estimate[None, :]
    spread = difference_spread(replicates)
    above = np.zeros(spread.shape, dtype=np.bool_)
    critical = 0.0
    for _ in range(MOST_STEPS):
        largest = largest_deviation(estimate, replicates, np.where(above, 0.0, spread))
        critical = for_few_units(float(np.quantile(largest, level)), n_units)
        told = above | (difference > np.maximum(critical * spread, STILL))
        if (told == above).all():
            break
        above = told
    best = 1 + above.sum(axis=0)
    worst = len(estimate) - above.sum(axis=1)
    return RankIntervals(best, worst, critical)


def difference_spread(replicates: Floats) -> Floats:
    """Return the standard deviation of every pairwise difference, 0 where it stands still."""
    centred = _by_system(replicates - replicates.mean(axis=0))
    squares = np.empty((len(centred), len(centred)))
    for i, one in enumerate(centred):
        gaps = one - centred
        squares[i] = np.einsum("sr,sr->s", gaps, gaps)
    spread = np.sqrt(squares / (len(replicates) - 1.0))
    return np.where(spread > STILL, spread, 0.0)


def largest_deviation(estimate: Floats, replicates: Floats, spread: Floats) -> Floats:
    """Return the largest studentised deviation of each replicate, shape (n_replicates,).

    Of all ordered pairs whose ``spread`` is not 0.
    """
    deviation = _by_system(replicates - estimate)
    # A pair that stands still says nothing about how far the others may stray.
    share = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0.0)
    largest = np.zeros(len(replicates))
    for i, one in enumerate(deviation):
        gaps = one - deviation
        gaps *= share[i, :, None]
        np.maximum(largest, gaps.max(axis=0), out=largest)
    return largest


def _by_system(replicates: Floats) -> Floats:
    """Return one row per system; going through them one by one keeps memory low."""
    return np.ascontiguousarray(replicates.T)
