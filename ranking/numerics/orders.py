"""How far two orders of the same systems agree."""

from dataclasses import dataclass

import numpy as np
import scipy

from ranking.numerics.arrays import Floats
from ranking.numerics.correlation import TooFewError

FEWEST = 3
BLOCK = 64  # replicates at once: each takes n_systems**2 numbers


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
    if x.shape != y.shape or x.ndim != 1:
        msg = f"both must be of one shape (n,), not {x.shape} and {y.shape}"
        raise ValueError(msg)
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    if len(x) < FEWEST:
        msg = f"{len(x)} systems are in both orders, and {FEWEST} are needed"
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
        _taus(x[first : first + BLOCK], y[first : first + BLOCK])
        for first in range(0, len(x), BLOCK)
    ]
    return np.concatenate([np.zeros(0), *found])


def _taus(x: Floats, y: Floats) -> Floats:
    one, two = (np.sign(row[:, :, None] - row[:, None, :]) for row in (x, y))
    together = (one * two).sum(axis=(1, 2))
    apart = np.sqrt((one * one).sum(axis=(1, 2)) * (two * two).sum(axis=(1, 2)))
    is_known = np.isfinite(apart) & (apart > 0)
    taus: Floats = np.divide(together, apart, out=np.full(len(x), np.nan), where=is_known)
    return taus
