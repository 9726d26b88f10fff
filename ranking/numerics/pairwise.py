"""Differences of every pair of systems: tests and intervals that hold together, quasi-variances."""

from dataclasses import dataclass

import numpy as np
import scipy
from scipy import special

from ranking.numerics.arrays import Floats
from ranking.numerics.intervals import Intervals, check_finite_rows, check_replicates
from ranking.numerics.simultaneous import (
    STILL,
    Units,
    as_if_many_units,
    check_ratings,
    difference_spread,
    for_few_units,
    largest_deviation,
    units_of_pairs,
)

BLOCK_CELLS = 2**22
MOST_COINS = 1000
"""That come up alike less often than any number says."""


def pairwise_p_values(estimate: Floats, replicates: Floats, *, n_units: Units) -> Floats:
    """Test each pair alone for a difference.

    Parameters
    ----------
    estimate : array of shape (n_systems,)
        Fitted values, in any unit; higher is better.
    replicates : array of shape (n_replicates, n_systems)
        Bootstrap replicates of ``estimate`` in the same unit, all finite.
    n_units : int or integer array of shape (n_systems,)
        Units that the replicates were drawn from, or in how many of them each system is; at
        least 2. A pair has those of the system that is in fewer.

    Returns
    -------
    array of shape (n_systems, n_systems)
        Two-sided p-values of |d_ij| / sd_ij by the t distribution with n_units - 1 degrees of
        freedom, not adjusted for their number; 1 on the diagonal. A difference that is the same
        in every replicate has ``2**(1 - n_units)``, as if each unit had thrown a coin and all
        had come up alike, or 1 if it is none.

    Raises
    ------
    ValueError
        If there are fewer than two replicates, one is not finite, shapes do not fit, or there
        are fewer than two units.

    Notes
    -----
    Finer than a count of replicates, whose smallest p-value is 1 / n_replicates: adjusted for
    190 pairs that would never be small. Cost O(n_replicates * n_systems**2).
    """
    ratio = _ratios(estimate, replicates, n_units)
    p_values: Floats = 2.0 * special.ndtr(-ratio)
    return p_values


def step_down_p_values(estimate: Floats, replicates: Floats, *, n_units: Units) -> Floats:
    """Test all pairs for a difference, adjusted by the largest of them all.

    Notes
    -----
    Arguments, shape and errors as in `pairwise_p_values`. From the clearest pair downwards,
    each p-value is the share of replicates in which any pair that is left strays as far:
    ``(1 + count) / (1 + n_replicates)``; a pair that never strays keeps its own. The chance of
    any false rejection is held, with less loss than by Holm as pairs that share a system go
    together.
    Cost O(n_replicates * n_systems**2).

    References
    ----------
    .. [1] Romano & Wolf (2005), Econometrica 73:1237-1282.
       doi:10.1111/j.1468-0262.2005.00615.x
    """
    ratio = _ratios(estimate, replicates, n_units)
    pairs = np.triu_indices(len(estimate), 1)
    clearest = np.argsort(-ratio[pairs], kind="stable")
    first, second = pairs[0][clearest], pairs[1][clearest]
    spread = difference_spread(replicates)[first, second]
    scale = np.where(spread > 0.0, spread, np.inf)
    reached, n = np.zeros(len(first)), len(replicates)
    for block in np.array_split(replicates - estimate, 1 + n * len(first) // BLOCK_CELLS):
        strayed = np.abs(block[:, first] - block[:, second]) / scale
        largest_left = np.maximum.accumulate(strayed[:, ::-1], axis=1)[:, ::-1]
        reached += (largest_left >= ratio[first, second]).sum(axis=0)
    agreed = np.where(spread > 0.0, 0.0, 2.0 * special.ndtr(-ratio[first, second]))
    p_values = np.ones_like(ratio)
    p_values[first, second] = np.maximum.accumulate(np.maximum((1.0 + reached) / (1.0 + n), agreed))
    return np.minimum(p_values, p_values.T)


def difference_intervals(
    estimate: Floats, replicates: Floats, *, n_units: Units, level: float = 0.95
) -> Intervals:
    """Return intervals of all differences that hold together, (n_systems, n_systems) each.

    Notes
    -----
    Arguments and errors as in `ranking.numerics.simultaneous.joint_intervals`; ``[i, j]`` is for
    i less j. ``d_ij +- c * sd_ij`` with c for the largest of all pairs, so they agree with the
    first step of the rank intervals. Cost O(n_replicates * n_systems**2).
    """
    check_replicates(replicates, level)
    spread = difference_spread(replicates)
    largest = largest_deviation(estimate, replicates, spread)
    critical = for_few_units(float(np.quantile(largest, level)), units_of_pairs(n_units))
    difference = estimate[:, None] - estimate[None, :]
    return Intervals(difference - critical * spread, difference + critical * spread)


def _ratios(estimate: Floats, replicates: Floats, n_units: Units) -> Floats:
    """Return |d_ij| / sd_ij as if there were many units.

    Where a difference stands still, what units that all agree are worth.
    """
    check_ratings(estimate, replicates, 0.5)
    difference = np.abs(estimate[:, None] - estimate[None, :])
    spread = difference_spread(replicates)
    units = units_of_pairs(n_units)
    agreed = -special.ndtri(2.0 ** -np.minimum(units, MOST_COINS).astype(np.float64))
    moves = spread > 0.0
    moved = as_if_many_units(difference / np.where(moves, spread, 1.0), units)
    ratios: Floats = np.where(moves, moved, np.where(difference > STILL, agreed, 0.0))
    return ratios


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
