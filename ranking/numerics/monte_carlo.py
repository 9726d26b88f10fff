"""How far chance in the resampling itself moves the ends of an interval."""

import numpy as np
from scipy import special

from ranking.numerics.arrays import Floats
from ranking.numerics.intervals import Intervals, check_replicates


def quantile_errors(replicates: Floats, *, level: float = 0.95) -> Intervals:
    """Estimate the Monte Carlo standard error of both ends of percentile intervals.

    Parameters
    ----------
    replicates : array of shape (n_replicates, n_systems)
        Refitted values, in any unit, as `ranking.numerics.intervals.percentile_intervals`
        takes them.
    level : float
        Share of replicates between the two ends, above 0 and below 1.

    Returns
    -------
    Intervals
        Standard errors of the lower and of the upper end, in the replicates' unit: how much
        the ends would vary if only the resampling were done anew, with other chance.

    Raises
    ------
    ValueError
        If there are fewer than two replicates, one is not finite, or the level is not a
        share.

    Notes
    -----
    The standard deviation of the quantile when the replicates themselves are resampled, which
    needs no resampling: sorted values are weighted with a beta distribution. With 1,000 normal
    replicates it is about 8 % of their standard deviation at 2.5 %. Replicates that do not vary
    have no error. Cost O(n_replicates log n_replicates) per system.

    References
    ----------
    .. [1] Maritz & Jarrett (1978), JASA 73:194-196. doi:10.1080/01621459.1978.10480027
    """
    check_replicates(replicates, level)
    ordered = np.sort(replicates, axis=0)
    tail = (1.0 - level) / 2.0
    return Intervals(_error(ordered, tail), _error(ordered, 1.0 - tail))


def _error(ordered: Floats, share: float) -> Floats:
    """Return the standard error of one quantile of sorted columns."""
    n = len(ordered)
    rank = np.floor(share * n + 0.5)
    edges = special.betainc(max(rank - 1.0, 0.5), max(n - rank, 0.5), np.arange(n + 1) / n)
    weights = np.diff(edges)
    mean = weights @ ordered
    spread: Floats = np.sqrt(weights @ np.square(ordered - mean))
    return spread
