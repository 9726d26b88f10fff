"""Bradley-Terry strengths of many resamples at once, by one and the same inverse Hessian."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.numerics.arrays import Booleans, Floats

TOLERANCE = 1e-9  # of the error left, in natural-log units
LEAST_RATE = 0.1  # of one step to the one before it, as far as it is trusted
MAX_STEPS = 40
STEPS_IN_SINGLE = 3  # the first ones, which need no more digits than that
PIECE = 2**18  # multiplications up to which OpenBLAS stays in one thread
TOO_FAR = 3.0  # from the start, in natural-log units: the chord is no longer a guide


@dataclass(frozen=True)
class ChordFits:
    """Log strengths, shape (n_systems, n_samples), mean 0; and which samples settled."""

    log_strengths: Floats
    settled: Booleans


def fit_by_chords(pair_totals: Floats, wins: Floats, start: Floats, inverse: Floats) -> ChordFits:
    """Climb to the maximum of each sample by steps of the inverse information at the start.

    Parameters
    ----------
    pair_totals : array of shape (n_pairs, n_samples)
        Weight of all judgments of each pair, numbered as in `ranking.numerics.pairs`.
    wins : array of shape (n_systems, n_samples)
        Weight that each system took.
    start : array of shape (n_systems,)
        Log strengths (natural log) near which the maxima lie.
    inverse : array of shape (n_systems, n_systems)
        Inverse of the information at the start; for strengths of mean 0, its pseudo-inverse.

    Returns
    -------
    ChordFits
        Samples that have not settled after 40 steps, or left the neighbourhood of the start,
        are flagged; their strengths mean nothing.

    Notes
    -----
    A maximum must exist. Where the steps end, the gradient is zero, so that the answer is that
    of Newton's method; only the way there is cheaper. The gradient of system i is w_i - e_i
    sum_j n_ij / (e_i + e_j) with e = exp(theta): a division per pair and step, no exponential.
    Each step cuts the error by the relative difference between the information of the sample
    and that of the start; the first three are made in single precision, those that decide in
    double. Cost O(n_systems**2 * n_samples) per step.

    References
    ----------
    .. [1] Ortega & Rheinboldt (2000), Iterative Solution of Nonlinear Equations in Several
       Variables, section 7.1 (the simplified Newton method). doi:10.1137/1.9780898719468
    """
    start = start - start.mean()
    theta = np.tile(start[:, None], wins.shape[1])
    settled = np.zeros(wins.shape[1], dtype=np.bool_)
    moving = np.arange(wins.shape[1])
    going = np.ones(wins.shape[1], dtype=np.bool_)
    before = np.full(wins.shape[1], np.inf)
    single = pair_totals.astype(np.float32)
    for n_done in range(MAX_STEPS):
        is_rough = n_done < STEPS_IN_SINGLE
        totals = single if is_rough else pair_totals
        gradient = np.subtract(wins, _expected(totals, theta[:, moving]), dtype=np.float64)
        step = product_in_this_thread(inverse, gradient)
        # What has settled or left stays where it is, so that no sample depends on the others.
        going &= np.abs(theta[:, moving] + step - start[:, None]).max(axis=0) < TOO_FAR
        theta[:, moving] += np.where(going, step, 0.0)
        length = np.abs(step).max(axis=0)
        ended = going & (_error_left(length, before) <= TOLERANCE) & (not is_rough)
        settled[moving[ended]] = True
        going &= ~ended
        if not going.any():
            break
        before = length
        if not is_rough and going.mean() < 0.5:  # noqa: PLR2004 (then copying pays)
            pair_totals, wins = pair_totals[:, going], wins[:, going]
            moving, before, going = moving[going], before[going], going[going]
    return ChordFits(theta - theta.mean(axis=0), settled)


def product_in_this_thread(matrix: Floats, columns: Floats) -> Floats:
    """Multiply in pieces that BLAS does not spread over threads: there are threads already."""
    width = max(1, PIECE // matrix.size)
    result = np.empty((len(matrix), columns.shape[1]))
    for first in range(0, columns.shape[1], width):
        part = slice(first, first + width)
        result[:, part] = matrix @ columns[:, part]
    return result


def _error_left(length: Floats, before: Floats) -> Floats:
    """Return what all further steps would add, if each shrinks as the last one did."""
    rate = np.maximum(length / np.maximum(before, np.finfo(np.float64).tiny), LEAST_RATE)
    left: Floats = np.where(rate < 1.0, length * rate / np.maximum(1.0 - rate, LEAST_RATE), np.inf)
    return left


def _expected(pair_totals: NDArray[np.floating[Any]], theta: Floats) -> NDArray[np.floating[Any]]:
    """Return the wins that strengths predict, (n_systems, n_samples), as precise as totals are."""
    odds = np.exp(theta).astype(pair_totals.dtype)
    shares = np.zeros_like(odds)
    each = np.empty((len(odds) - 1, odds.shape[1]), dtype=odds.dtype)
    first = 0
    for low in range(len(odds) - 1):
        above = odds[low + 1 :]
        share = each[: len(above)]
        np.add(above, odds[low], out=share)
        np.divide(pair_totals[first : first + len(above)], share, out=share)
        shares[low] += np.add.reduce(share, axis=0)
        shares[low + 1 :] += share
        first += len(above)
    shares *= odds
    return shares
