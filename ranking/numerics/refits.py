"""Refits of many samples of units: draws with replacement, sums made once, and their strengths."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.batches import STEPS, in_threads, pair_numbers
from ranking.numerics.bradley_terry import fit_replicates
from ranking.numerics.connectivity import connecting_wins, strong_components
from ranking.numerics.tables import WinTables

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


Totals = NDArray[np.floating[Any]]
"""Weights of pairs in samples: single precision where that is exact, or double."""


def fit_by_chords(pair_totals: Totals, wins: Floats, start: Floats, inverse: Floats) -> ChordFits:
    """Climb to the maximum of each sample by steps of the inverse information at the start.

    Parameters
    ----------
    pair_totals : array of shape (n_pairs, n_samples)
        Weight of all judgments of each pair, numbered as in `ranking.numerics.batches`.
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
    found = np.empty((len(start), wins.shape[1]))
    theta = np.tile(start[:, None], wins.shape[1])
    settled = np.zeros(wins.shape[1], dtype=np.bool_)
    moving = np.arange(wins.shape[1])
    going = np.ones(wins.shape[1], dtype=np.bool_)
    before = np.full(wins.shape[1], np.inf)
    single = pair_totals.astype(np.float32, copy=False)
    for n_done in range(MAX_STEPS):
        is_rough = n_done < STEPS_IN_SINGLE
        odds: Totals = np.exp(theta).astype(np.float32 if is_rough else np.float64)
        expected = _expected(single if is_rough else pair_totals, odds)
        gradient = np.subtract(wins, expected, dtype=np.float64)
        step = product_in_this_thread(inverse, gradient)
        # What has settled or left stays where it is, so that no sample depends on the others.
        moved = theta + step
        going &= np.abs(moved - start[:, None]).max(axis=0) < TOO_FAR
        np.copyto(theta, moved, where=going)
        length = np.abs(step).max(axis=0)
        ended = going & (_error_left(length, before) <= TOLERANCE) & (not is_rough)
        settled[moving[ended]] = True
        going &= ~ended
        if not going.any():
            break
        before = length
        if not is_rough and going.mean() < 0.5:  # noqa: PLR2004 (then copying pays)
            found[:, moving[~going]] = theta[:, ~going]
            pair_totals, wins, theta = pair_totals[:, going], wins[:, going], theta[:, going]
            moving, before, going = moving[going], before[going], going[going]
    found[:, moving] = theta
    return ChordFits(found - found.mean(axis=0), settled)


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


def _expected(pair_totals: Totals, odds: Totals) -> Totals:
    """Return the wins that strengths predict, (n_systems, n_samples), as precise as odds are."""
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


Times = NDArray[np.unsignedinteger[Any]]
"""How often each unit was drawn: bytes, or two bytes where a byte is too narrow."""

SAMPLES_PER_SEED = 64
"""Samples that share a generator of their own, so that threads can draw them in any order."""
DRAWS_AT_ONCE = 2**15


def draw_units(n_units: int, size: int, rng: np.random.Generator) -> Floats:
    """Draw how often each unit appears in each sample, shape (size, n_units).

    Each sample is ``n_units`` draws with replacement, so that each row is multinomial and adds
    up to ``n_units``. The first samples of a longer series are those of a shorter one.
    """
    seeds = draw_seeds(size, rng)
    drawn = [times_drawn(n_units, int(seed)).T for seed in seeds]
    return np.concatenate([*drawn, np.zeros((0, n_units))])[:size].astype(np.float64)


def draw_seeds(size: int, rng: np.random.Generator) -> Integers:
    """Draw the seeds that ``size`` samples need, one for each 64 of them."""
    return rng.integers(2**63, size=-(-size // SAMPLES_PER_SEED))


def times_drawn(n_units: int, seed: int) -> Times:
    """Return how often each unit appears in the 64 samples of a seed, shape (n_units, 64).

    Bytes, unless a unit was drawn more than 255 times.
    """
    rng = np.random.default_rng(seed)
    times = np.empty((SAMPLES_PER_SEED, n_units), dtype=np.uint16)
    dtype = np.uint16 if n_units <= 2**16 else np.uint32
    for start, stop in _steps(max(1, DRAWS_AT_ONCE // max(n_units, 1))):
        drawn = rng.integers(n_units, size=(stop - start, n_units), dtype=dtype).astype(np.int64)
        drawn += np.arange(stop - start)[:, None] * n_units
        counted = np.bincount(drawn.ravel(), minlength=drawn.size)
        times[start:stop] = counted.reshape(drawn.shape)
    narrow = times.max(initial=0) <= np.iinfo(np.uint8).max
    return np.ascontiguousarray(times.T, dtype=np.uint8 if narrow else np.uint16)


def _steps(size: int) -> Iterator[tuple[int, int]]:
    """Cut the samples of a seed into steps of at most ``size``."""
    edges = [*range(0, SAMPLES_PER_SEED, size), SAMPLES_PER_SEED]
    return itertools.pairwise(edges)


BLOCK_BYTES = 20 * 2**20  # of the pair totals that are fitted together, as floats
MOST_SEEDS = 8  # in a block, so that there are blocks for more than one thread
EXACT_IN_SINGLE = 2.0**24


@dataclass(frozen=True)
class _Connecting:
    """A few wins, or pairs, that make one component by themselves where they are drawn.

    ``pairs`` are numbers of pairs; they suffice where every judgment gives both systems a
    share. Else ``units`` has a row for each win, with the units in which it is.
    """

    pairs: Integers
    units: sparse.csr_array | None

    def hold(self, times: Times, pair_totals: Totals) -> Booleans:
        """Say in which samples all of them were drawn."""
        if self.units is None:
            drawn: NDArray[np.bool_] = pair_totals[self.pairs] > 0
        else:
            drawn = np.asarray(self.units @ times.astype(np.float32)) > 0
        return np.asarray(drawn.all(axis=0))


@dataclass(frozen=True)
class SampleRefits:
    """What the refits of all samples share.

    ``connecting`` are a few wins that connect all systems; None if all judgments together do
    not. ``wins`` is what each system took in each unit, (n_systems, n_units), times ``scale``.
    """

    tables: WinTables
    start: Floats
    inverse: Floats
    connecting: "_Connecting | None"
    wins: NDArray[np.float64] | NDArray[np.float32]
    scale: float

    @classmethod
    def of(cls, tables: WinTables, start: Floats, *, n_threads: int = 1) -> "SampleRefits":
        """Prepare refits that start from strengths near the maximum of ``tables``."""
        connecting = _connecting(tables)
        n = tables.n_systems
        if connecting is None:
            return cls(tables, start, np.zeros((n, n)), None, np.zeros((n, 0)), 1.0)
        # Made here, side by side, and not by each thread for itself.
        sums = [(tables, "unit_wins"), (tables, "pair_totals")]
        in_threads(lambda one: getattr(*one), sums, n_threads=n_threads)
        inverse = pseudo_inverse(tables.information(start))
        return cls(tables, start, inverse, connecting, *_wins_to_add(tables))

    def fit(self, seeds: NDArray[np.int64], *, n_threads: int) -> Floats:
        """Return the strengths of the 64 samples of each seed, rows of NaN without a maximum."""
        n_units = self.tables.n_units
        drawn = in_threads(lambda seed: times_drawn(n_units, int(seed)), seeds, n_threads=n_threads)
        n_pairs = max(1, self.tables.n_systems * (self.tables.n_systems - 1) // 2)
        width = min(MOST_SEEDS, max(1, BLOCK_BYTES // (8 * n_pairs * SAMPLES_PER_SEED)))
        blocks = [
            np.concatenate(drawn[first : first + width], axis=1)
            for first in range(0, len(drawn), width)
        ]
        return np.concatenate(in_threads(self._fit_block, blocks, n_threads=n_threads))

    def _fit_block(self, times: Times) -> Floats:
        """Return the strengths of samples that are fitted together, times drawn (n_units, n)."""
        theta = np.full((self.tables.n_systems, times.shape[1]), np.nan)
        done = np.zeros(times.shape[1], dtype=np.bool_)
        if self.connecting is not None:
            wins = self._system_wins(times)
            totals = sampled_pair_totals(self.tables, times, wins.sum(axis=0))
            fits = fit_by_chords(totals, wins, self.start, self.inverse)
            done = fits.settled & self.connecting.hold(times, totals)
            theta[:, done] = fits.log_strengths[:, done]
        if not done.all():
            rest = self.tables.weighted(times[:, ~done].T.astype(np.float64))
            theta[:, ~done] = fit_replicates(rest, self.start).T
        return theta.T

    def _system_wins(self, times: Times) -> Floats:
        """Return the wins of each system in samples, (n_systems, n_samples)."""
        added: NDArray[np.floating[Any]] = self.wins @ times.astype(self.wins.dtype)
        if self.wins.dtype == np.float32 and added.max(initial=0.0) > EXACT_IN_SINGLE / 2.0:
            added = self.wins.astype(np.float64) @ times.astype(np.float64)
        wins: Floats = added.astype(np.float64) / self.scale
        return wins


def sampled_pair_totals(tables: WinTables, times: Times, drawn: Floats) -> Totals:
    """Return the pair totals in samples, (n_pairs, n_samples), given the total weight of each.

    Times in bytes are multiplied two at a time, the fastest way there is. A sum that runs over
    adds to that of the other of the two: then the pairs of a sample do not add up to what it
    drew, and those of both are added anew as floats.
    """
    totals = _added_by_bytes(tables, times)
    added = totals.sum(axis=0, dtype=np.float64)
    wrong = np.flatnonzero(~np.isclose(added, drawn, rtol=1e-9, atol=0.5))
    if len(wrong):
        both = np.union1d(wrong, wrong ^ 1)
        chosen = times[:, both].astype(np.float64)
        totals = totals.astype(np.float64)
        totals[:, both] = sum(table.astype(np.float64) @ chosen for table in tables.pair_totals)
    return totals


def _added_by_bytes(tables: WinTables, times: Times) -> Totals:
    """Return pair totals of which some may have run over, unless they are added as floats."""
    shape = (tables.n_systems * (tables.n_systems - 1) // 2, times.shape[1])
    of_bytes, others = np.zeros(shape, dtype=np.uint16), []
    for table in tables.pair_totals:
        if table.dtype == np.uint16 and times.dtype == np.uint8:
            of_bytes += (table @ times.view(np.uint16)).view(np.uint8)
        else:
            others.append(table)
    # Whole numbers of two bytes are exact in single precision.
    totals: Totals = of_bytes.astype(np.float64 if others else np.float32)
    for table in others:
        totals += table.astype(np.float64) @ times.astype(np.float64)
    return totals


def pseudo_inverse(information: Floats) -> Floats:
    """Return the pseudo-inverse of an information whose rows add up to 0."""
    n = len(information)
    scale = np.trace(information) / n
    filled = np.linalg.inv(information + scale / n)
    inverse: Floats = filled - 1.0 / (scale * n)
    return inverse


def _connecting(tables: WinTables) -> _Connecting | None:
    """Choose what connects all systems, if all judgments together do."""
    total = tables.total()
    if len(strong_components(total)) > 1:
        return None
    connecting = connecting_wins(total)
    pairs = np.unique(pair_numbers(tables.n_systems)[connecting])
    if tables.gives_both:
        return _Connecting(pairs, None)
    cells, units = tables.units_with(connecting)
    place = np.cumsum(connecting.ravel()) - 1
    ones = np.ones(len(units), dtype=np.float32)
    shape = (int(connecting.sum()), tables.n_units)
    return _Connecting(pairs, sparse.csr_array((ones, (place[cells], units)), shape=shape))


def _wins_to_add(tables: WinTables) -> tuple[NDArray[np.float64] | NDArray[np.float32], float]:
    """Return what each system took per unit, (n_systems, n_units), and its multiplier.

    Multiples of a twentieth are made whole; small enough ones then add up without rounding even
    in single precision.
    """
    wins = np.ascontiguousarray(tables.unit_wins.T)
    if not tables.in_steps:
        return wins, 1.0
    whole = np.rint(wins * STEPS)
    if 2.0 * whole.sum(axis=1).max(initial=0.0) < EXACT_IN_SINGLE:
        return whole.astype(np.float32), float(STEPS)
    return whole, float(STEPS)
