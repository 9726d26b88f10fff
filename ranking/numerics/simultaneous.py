"""Intervals and ranks that hold for all systems at once, how few units stretch them, and tiers."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse, special  # the distributions of scipy.stats take a second to import

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.batches import available_threads, in_threads, slices
from ranking.numerics.intervals import check_replicates

AT_ONCE = 512  # replicates whose gaps stay in the cache
MUCH = 2**22  # gaps above which threads gain more than they cost
Units = int | Integers
"""How many units there are, or in how many each system is."""
STILL = 1e-6
"""In natural log or in points: a spread below what refits resolve counts as none."""


@dataclass(frozen=True)
class JointIntervals:
    """Intervals that hold together, and the number of standard errors that they reach."""

    low: Floats
    high: Floats
    critical_value: float


def joint_intervals(
    estimate: Floats, replicates: Floats, *, level: float = 0.95, n_units: Units | None = None
) -> JointIntervals:
    """Return intervals of all systems that hold together.

    Parameters
    ----------
    estimate : array of shape (n_systems,)
        Fitted values, in any unit.
    replicates : array of shape (n_replicates, n_systems)
        Bootstrap replicates of ``estimate`` in the same unit, all finite.
    level : float
        Probability, over repetitions of the study, that all intervals hold together.
    n_units : int or integer array of shape (n_systems,), optional
        Units that the replicates were drawn from, or in how many of them each system is, for
        the correction of `for_few_units`; without it there is none.

    Returns
    -------
    JointIntervals
        ``estimate +- c * sd``, sd being the standard deviation over the replicates and c the
        ``level`` quantile over replicates of the largest |replicate - estimate| / sd of all
        systems, larger for those in few units; ``critical_value`` is that of the others. A
        system that is the same in every replicate has no width.

    Raises
    ------
    ValueError
        If there are fewer than two replicates, one is not finite, the shapes do not fit, the
        level is not a share, or there are fewer than two units.

    Notes
    -----
    Symmetric, and wider than intervals that hold one by one: c is about 2.9 for 18 systems.
    Differences of systems have a cut-off of their own, see `rank_intervals`.
    Cost O(n_replicates * n_systems).

    References
    ----------
    .. [1] Romano & Wolf (2005), Econometrica 73:1237-1282.
       doi:10.1111/j.1468-0262.2005.00615.x
    """
    check_ratings(estimate, replicates, level)
    spread = replicates.std(axis=0, ddof=1)
    scale = np.where(spread > STILL, spread, np.inf)
    largest = np.abs((replicates - estimate) / scale).max(axis=1, initial=0.0)
    critical = for_few_units(float(np.quantile(largest, level)), n_units)
    margin = np.where(spread > STILL, critical * spread, 0.0)
    return JointIntervals(estimate - margin, estimate + margin, float(critical.min(initial=np.inf)))


def check_ratings(estimate: Floats, replicates: Floats, level: float) -> None:
    """Raise ValueError unless replicates and level are such, and the estimate is of their shape."""
    check_replicates(replicates, level)
    if estimate.shape != replicates.shape[1:]:
        msg = f"estimate must be of shape {replicates.shape[1:]}, not {estimate.shape}"
        raise ValueError(msg)


def for_few_units(critical_value: float, n_units: Units | None) -> Floats:
    """Stretch a cut-off of the bootstrap to what so few units allow.

    Parameters
    ----------
    critical_value : float
        Number of bootstrap standard deviations, as if these were known.
    n_units : int or integer array, optional
        Units that were resampled, or those of them in which something is; None for no correction.

    Returns
    -------
    array of the shape of n_units
        The t quantile, with n - 1 degrees of freedom, at the normal level of the cut-off, times
        the root of n / (n - 1), by which the bootstrap's standard deviation is too small.

    Raises
    ------
    ValueError
        If there are fewer than two units.

    Notes
    -----
    Standard deviations from few units err, and the largest of many ratios is where they err
    most, which resampling the same units does not see. Going through the level lets the
    correction grow with the number of comparisons. 300 units add 1 % to a cut-off of 3.5,
    50 units 8 %, 20 units 24 %. Exact for one mean of normal units.
    """
    if n_units is None:
        return np.asarray(critical_value)
    n, place = np.unique(checked_units(n_units), return_inverse=True)  # of pairs few differ
    reached = -special.stdtrit(n - 1.0, float(special.ndtr(-critical_value)))
    stretched = np.asarray(reached * np.sqrt(n / (n - 1.0)), dtype=np.float64)
    return stretched[place.reshape(np.shape(n_units))]


def as_if_many_units(ratios: Floats, n_units: Units) -> Floats:
    """Shrink ratios of estimates to bootstrap standard deviations to what they are worth.

    The inverse of `for_few_units`: a ratio that just reaches the stretched cut-off comes out as
    the cut-off. Takes and gives arrays of any shape, at least 0; raises ValueError if there are
    fewer than two units.
    """
    n = checked_units(n_units)
    exact = ratios * np.sqrt((n - 1.0) / n)
    worth: Floats = -special.ndtri(special.stdtr(n - 1.0, -exact))
    return worth


def checked_units(n_units: Units) -> Integers:
    """Return numbers of units as an array; raise ValueError unless all are two or more."""
    n = np.asarray(n_units)
    if n.min(initial=FEWEST_UNITS) < FEWEST_UNITS:
        msg = f"a correction for few units needs two or more, not {n.min()}"
        raise ValueError(msg)
    return n


FEWEST_UNITS = 2


def effective_units(weights: Floats | Integers | sparse.csr_array) -> Integers:
    """Return how many units of one weight are worth as much as these, two at least.

    ``weights``, at least 0, has the units along its first axis: what is judged in each, of each
    system (`WinTables.unit_weights`) or in all. ``sum(w)**2 / sum(w**2)``, rounded: the number
    of units where they weigh alike, and fewer degrees of freedom where some outweigh the others
    (Kish 1965, section 8.2; Satterthwaite 1946, doi:10.2307/3002019).
    """
    squares = (weights**2).sum(axis=0)
    n = weights.sum(axis=0) ** 2 / np.where(squares > 0.0, squares, 1.0)
    return np.asarray(np.maximum(np.rint(n), FEWEST_UNITS), dtype=np.int64)


def units_of_pairs(n_units: Units) -> Integers:
    """Return the smaller number of units of every two systems; one number stays one."""
    n = np.asarray(n_units)
    return n if n.ndim == 0 else np.minimum(n[:, None], n[None, :])


MOST_STEPS = 10
"""More than it takes; each further step tells apart less."""


@dataclass(frozen=True)
class RankIntervals:
    """Best and worst rank each system may have, shape (n_systems,), and the cut-off used.

    Rank 1 is the best. ``critical_value`` is the number of standard errors by which the last
    two systems had to differ to be told apart, more if one is in few units.
    """

    best: Integers
    worst: Integers
    critical_value: float


def rank_intervals(
    estimate: Floats, replicates: Floats, *, level: float = 0.95, n_units: Units | None = None
) -> RankIntervals:
    """Find the ranks that the differences between systems leave open.

    Parameters
    ----------
    estimate, replicates, level, n_units
        As in `joint_intervals`; of the estimates, higher is better.

    Returns
    -------
    RankIntervals
        ``best[i]`` is 1 plus the number of systems told to be better than i, ``worst[i]`` is
        n_systems less the number told to be worse.

    Raises
    ------
    ValueError
        As in `joint_intervals`.

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
    check_ratings(estimate, replicates, level)
    difference = estimate[:, None] - estimate[None, :]
    spread = difference_spread(replicates)
    above = np.zeros(spread.shape, dtype=np.bool_)
    units = None if n_units is None else units_of_pairs(n_units)
    critical = np.zeros(())
    for _ in range(MOST_STEPS):
        largest = largest_deviation(estimate, replicates, np.where(above, 0.0, spread))
        critical = for_few_units(float(np.quantile(largest, level)), units)
        told = above | (difference > np.maximum(critical * spread, STILL))
        if (told == above).all():
            break
        above = told
    best = 1 + above.sum(axis=0)
    worst = len(estimate) - above.sum(axis=1)
    return RankIntervals(best, worst, float(critical.min(initial=np.inf)))


def difference_spread(replicates: Floats) -> Floats:
    """Return the standard deviation of every pairwise difference, 0 where it stands still."""
    centred = _by_system(replicates - replicates.mean(axis=0))
    squares = np.empty((len(centred), len(centred)))
    for i, one in enumerate(centred):
        gaps = one - centred[i:]
        squares[i, i:] = squares[i:, i] = np.einsum("sr,sr->s", gaps, gaps)
    spread = np.sqrt(squares / (len(replicates) - 1.0))
    return np.where(spread > STILL, spread, 0.0)


def largest_deviation(estimate: Floats, replicates: Floats, spread: Floats) -> Floats:
    """Return the largest studentised deviation of each replicate, shape (n_replicates,).

    Of all ordered pairs whose ``spread`` is not 0.
    """
    # A pair that stands still says nothing about how far the others may stray.
    share = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0.0)
    # Who is told to be better is so by the lower ones: with the best first, rows end early.
    best_first = np.argsort(-estimate)
    share = share[np.ix_(best_first, best_first)]
    ends = [int(np.flatnonzero(row).max(initial=-1)) + 1 for row in share]

    def of_some(rows: slice) -> Floats:
        deviation = _by_system((replicates[rows] - estimate)[:, best_first])
        largest = np.zeros(deviation.shape[1])
        for one, row, end in zip(deviation, share, ends, strict=True):
            gaps = one - deviation[:end]
            gaps *= row[:end, None]
            np.maximum(largest, gaps.max(axis=0, initial=0.0), out=largest)
        return largest

    n_threads = available_threads() if replicates.size * len(estimate) > MUCH else 1
    parts = in_threads(of_some, slices(len(replicates), AT_ONCE), n_threads=n_threads)
    return np.concatenate(parts)


def _by_system(replicates: Floats) -> Floats:
    """Return one row per system; going through them one by one keeps memory low."""
    return np.ascontiguousarray(replicates.T)


def tiers(estimate: Floats, low: Floats, high: Floats) -> Integers:
    """Sort systems into tiers with fixed anchors.

    Parameters
    ----------
    estimate, low, high : arrays of shape (n_systems,)
        Rating and the two ends of its interval, in one unit; higher is better.

    Returns
    -------
    integer array of shape (n_systems,)
        The best system opens tier 1 and is its anchor. Going down, a system joins the tier while
        its upper end reaches the anchor's lower end; the first that does not opens the next tier.

    Raises
    ------
    ValueError
        If shapes differ, a value is not finite, or an estimate lies outside its interval.

    Notes
    -----
    The anchor stays, so a tier cannot creep down along a chain of overlaps. Tiers are a way to
    show the table, not a test: two systems of one tier may differ, and use simultaneous
    intervals if all tiers are to hold together. Equal estimates go by the higher upper end,
    then by the order given. No systems give no tiers. Cost O(n_systems log n_systems).
    """
    _check_ends(estimate, low, high)
    found = np.zeros(len(estimate), dtype=np.int64)
    tier, floor = 0, np.inf
    for system in np.lexsort((-high, -estimate)):
        if high[system] < floor:
            tier, floor = tier + 1, low[system]
        found[system] = tier
    return found


def _check_ends(estimate: Floats, low: Floats, high: Floats) -> None:
    if not estimate.shape == low.shape == high.shape:
        msg = f"shapes differ: {estimate.shape}, {low.shape}, {high.shape}"
        raise ValueError(msg)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        msg = "intervals must be finite"
        raise ValueError(msg)
    if not ((low <= estimate) & (estimate <= high)).all():
        msg = "every estimate must lie inside its interval"
        raise ValueError(msg)
