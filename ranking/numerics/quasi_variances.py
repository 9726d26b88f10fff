"""One variance per system from which the error of every difference can be read."""

from dataclasses import dataclass

import numpy as np
import scipy
from scipy import special

from ranking.numerics.arrays import Floats

FEWEST_SYSTEMS = 3


@dataclass(frozen=True)
class QuasiVariances:
    """Quasi-variances, shape (n_systems,), and how far they err.

    ``worst_error`` is the largest relative error of the standard error of a difference.
    """

    variances: Floats
    worst_error: float


def quasi_variances(covariance: Floats) -> QuasiVariances:
    """Find variances that give the error of each difference by addition alone.

    Parameters
    ----------
    covariance : array of shape (n_systems, n_systems)
        Of the strengths, in any gauge; at least three systems.

    Returns
    -------
    QuasiVariances
        ``q`` for which ``q_i + q_j`` is nearest to the variance of the difference of i and j:
        the sum of squared log ratios is least.

    Raises
    ------
    ValueError
        If there are fewer than three systems, the matrix is not square or not finite, or a
        difference has no variance.

    Notes
    -----
    A rating has no error of its own, only differences have. With quasi-variances a table of one
    column carries them all: two systems differ by about ``sqrt(q_i + q_j)``. Exact for three
    systems unless a quasi-variance would be negative, and for independent strengths; they are
    held above 0 here. Cost O(n_systems**4) per step.

    References
    ----------
    .. [1] Firth & de Menezes (2004), Biometrika 91:65-80. doi:10.1093/biomet/91.1.65
    """
    variance = _difference_variances(np.asarray(covariance, dtype=np.float64))
    first, second = np.triu_indices(len(variance), 1)
    target = np.log(variance[first, second])

    def error(logs: Floats) -> Floats:
        return np.logaddexp(logs[first], logs[second]) - target

    def slopes(logs: Floats) -> Floats:
        share = special.expit(logs[first] - logs[second])
        found = np.zeros((len(first), len(logs)))
        rows = np.arange(len(first))
        found[rows, first], found[rows, second] = share, 1.0 - share
        return found

    # A mean variance of differences is the sum of two quasi-variances of a common size.
    start = np.log(variance.sum(axis=1) / (len(variance) - 1) / 2.0)
    logs = scipy.optimize.least_squares(error, start, slopes, method="lm", xtol=1e-10, ftol=1e-10).x
    worst = float(np.abs(np.expm1(error(logs) / 2.0)).max())
    return QuasiVariances(np.exp(logs), worst)


def _difference_variances(covariance: Floats) -> Floats:
    n = len(covariance)
    if n < FEWEST_SYSTEMS or covariance.shape != (n, n):
        msg = f"covariance must be square with three systems or more, not {covariance.shape}"
        raise ValueError(msg)
    diagonal = covariance.diagonal()
    variance: Floats = diagonal[:, None] + diagonal[None, :] - 2.0 * covariance
    if not (variance[~np.eye(n, dtype=np.bool_)] > 0.0).all():
        msg = "every difference must have a finite variance above 0"
        raise ValueError(msg)
    np.fill_diagonal(variance, 0.0)
    return variance
