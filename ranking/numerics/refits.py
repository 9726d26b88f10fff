"""Refits of many samples of units, from sums over the units that are made once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.batches import STEPS, Batch
from ranking.numerics.bradley_terry import fit_replicates
from ranking.numerics.chords import fit_by_chords
from ranking.numerics.connectivity import connecting_wins, strong_components
from ranking.numerics.draws import SAMPLES_PER_SEED, Times, times_drawn
from ranking.numerics.pairs import pair_numbers
from ranking.numerics.tables import WinTables
from ranking.numerics.threads import in_threads

BLOCK_BYTES = 10 * 2**20  # of the pair totals that are fitted together, as floats
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

    def hold(self, times: Times, pair_totals: Floats) -> Booleans:
        """Say in which samples all of them were drawn."""
        if self.units is None:
            drawn: NDArray[np.bool_] = pair_totals[self.pairs] > 0
        else:
            drawn = np.asarray(self.units @ times.astype(np.float32)) > 0
        return np.asarray(drawn.all(axis=0))


@dataclass(frozen=True)
class Refit:
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
    def of(cls, tables: WinTables, start: Floats) -> "Refit":
        """Prepare refits that start from strengths near the maximum of ``tables``."""
        connecting = _connecting(tables)
        n = tables.n_systems
        if connecting is None:
            return cls(tables, start, np.zeros((n, n)), None, np.zeros((n, 0)), 1.0)
        for batch in tables.batches:
            _ = batch.pair_totals  # made here, and not by each thread for itself
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
            totals, wins = self._pair_totals(times), self._system_wins(times)
            fits = fit_by_chords(totals, wins, self.start, self.inverse)
            done = fits.settled & self.connecting.hold(times, totals)
            theta[:, done] = fits.log_strengths[:, done]
        if not done.all():
            rest = self.tables.weighted(times[:, ~done].T.astype(np.float64))
            theta[:, ~done] = fit_replicates(rest, self.start).log_strengths.T
        return theta.T

    def _system_wins(self, times: Times) -> Floats:
        """Return the wins of each system in samples, (n_systems, n_samples)."""
        added: NDArray[np.floating[Any]] = self.wins @ times.astype(self.wins.dtype)
        if self.wins.dtype == np.float32 and added.max(initial=0.0) > EXACT_IN_SINGLE / 2.0:
            added = self.wins.astype(np.float64) @ times.astype(np.float64)
        wins: Floats = added.astype(np.float64) / self.scale
        return wins

    def _pair_totals(self, times: Times) -> Floats:
        first, *others = self.tables.batches
        totals = batch_totals(first, times)
        for batch in others:
            totals += batch_totals(batch, times)
        return totals


def batch_totals(batch: Batch, times: Times) -> Floats:
    """Return the pair totals of one batch in samples, (n_pairs, n_samples).

    Bytes are added as bytes, which may run over: then the sum over pairs falls short of the
    judgments drawn, and everything is added anew as floats.
    """
    times = times[: batch.n_units]
    shape = (batch.n_systems * (batch.n_systems - 1) // 2, times.shape[1])
    narrow, wide = np.zeros(shape, dtype=np.uint16), np.zeros(shape)
    for table in batch.pair_totals:
        if table.dtype == np.uint8 == times.dtype:
            narrow += table @ times
        else:
            wide += table.astype(np.float64) @ times.astype(np.float64)
    wide += narrow
    drawn = batch.unit_totals @ times.astype(np.float64)
    if np.allclose(wide.sum(axis=0), drawn, rtol=1e-9, atol=0.5):
        return wide
    wide[:] = 0.0
    for table in batch.pair_totals:
        wide += table.astype(np.float64) @ times.astype(np.float64)
    return wide


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
    wanted = connecting_wins(total)
    pairs = np.unique(pair_numbers(tables.n_systems)[wanted])
    if all(batch.gives_both for batch in tables.batches):
        return _Connecting(pairs, None)
    found = [batch.units_with(wanted) for batch in tables.batches]
    cells, units = (np.concatenate(columns) for columns in zip(*found, strict=True))
    place = np.cumsum(wanted.ravel()) - 1
    ones = np.ones(len(units), dtype=np.float32)
    shape = (int(wanted.sum()), tables.n_units)
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
