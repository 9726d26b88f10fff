"""How often one system is ahead of another over the resamples."""

import numpy as np

from ranking.numerics.arrays import Floats
from ranking.numerics.intervals import check_finite_rows


def superiority(replicates: Floats) -> Floats:
    """Return the share of replicates in which one system is ahead of another.

    Parameters
    ----------
    replicates : array of shape (n_replicates, n_systems)
        Bootstrap replicates of the ratings, all finite, in any unit.

    Returns
    -------
    array of shape (n_systems, n_systems)
        ``[i, j]`` is the share in which i is above j, an exact tie counting half; the two
        shares of a pair add up to 1, and the diagonal is 0.5.

    Raises
    ------
    ValueError
        If there are fewer than two replicates, or one is not finite.

    Notes
    -----
    Read under a flat prior it is about the probability that i is better; it is not adjusted for
    the number of pairs. With R replicates its Monte Carlo error is at most 0.5 / sqrt(R).
    Cost O(n_replicates * n_systems**2), memory O(n_replicates * n_systems).

    References
    ----------
    .. [1] Efron & Tibshirani (1998), Ann. Statist. 26:1687-1718. doi:10.1214/aos/1024691353
    """
    check_finite_rows(replicates)
    shares = np.empty((replicates.shape[1], replicates.shape[1]))
    for i in range(len(shares)):
        shares[i] = (np.sign(replicates[:, i, None] - replicates).mean(axis=0) + 1.0) / 2.0
    return shares
