"""A batch of weighted judgments, the numbers of its pairs, the sums that fits need, and threads."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ranking.numerics.arrays import Booleans, Floats, Integers

STEPS = 20
"""Shares are multiples of a twentieth: in twentieths their sums are whole, hence exact."""
CHUNK = 2**18  # judgments whose intermediate results stay in the cache
SLAB = 2**21  # judgments per sparse table: small enough for memory to be used again
UNITS_PER_BLOCK = 2**13  # whose multiplicities in 64 resamples stay in the cache
MEAN_IN_A_BYTE = 100  # of a pair in a block; twice and a half that still fits


@dataclass(frozen=True)
class WeightedPairs:
    """Judgments, or groups of alike judgments, as columns of shape (n_rows,).

    ``unit``, ``first`` and ``second`` are indices from 0; ``to_first`` and ``to_second`` are
    the weights (dimensionless, at least 0) that go to each of the two systems.
    """

    unit: Integers
    first: Integers
    second: Integers
    to_first: Floats
    to_second: Floats

    def part(self, rows: slice) -> "WeightedPairs":
        """Return some of the rows."""
        return WeightedPairs(
            self.unit[rows],
            self.first[rows],
            self.second[rows],
            self.to_first[rows],
            self.to_second[rows],
        )


def joined(parts: Sequence[WeightedPairs]) -> WeightedPairs:
    """Return the rows of all parts, one part after the other."""
    if len(parts) == 1:
        return parts[0]
    return WeightedPairs(
        np.concatenate([part.unit for part in parts]),
        np.concatenate([part.first for part in parts]),
        np.concatenate([part.second for part in parts]),
        np.concatenate([part.to_first for part in parts]),
        np.concatenate([part.to_second for part in parts]),
    )


@dataclass(frozen=True)
class Batch:
    """Judgments that were checked, and what is summed over them, once each when asked for."""

    pairs: WeightedPairs
    n_units: int
    n_systems: int

    @cached_property
    def in_steps(self) -> bool:
        """Say whether every weight is a multiple of a twentieth."""
        return all(
            _is_whole(column[rows] * STEPS)
            for rows in _slices(len(self.pairs.unit), CHUNK)
            for column in (self.pairs.to_first, self.pairs.to_second)
        )

    @cached_property
    def gives_both(self) -> bool:
        """Say whether both systems took a share in every judgment, as soft scores have it."""
        shares = (self.pairs.to_first, self.pairs.to_second)
        return all(bool(share.min(initial=1.0) > 0.0) for share in shares)

    @cached_property
    def wins(self) -> Floats:
        """The win matrix of all units together, shape (n_systems, n_systems)."""
        shape = (self.n_systems, self.n_systems)
        to_first, to_second = np.zeros(shape), np.zeros(shape)
        for chunk in self._chunks():
            key = self._cell(chunk)
            to_first += np.bincount(key, chunk.to_first, minlength=shape[0] ** 2).reshape(shape)
            to_second += np.bincount(key, chunk.to_second, minlength=shape[0] ** 2).reshape(shape)
        return self.rounded(to_first + to_second.T)

    @cached_property
    def unit_wins(self) -> Floats:
        """The weight that each system took in each unit, shape (n_units, n_systems)."""
        wins = np.zeros((self.n_units, self.n_systems))
        for slab in _slices(len(self.pairs.unit), SLAB):
            rows = self.pairs.part(slab)
            unit = rows.unit.astype(np.int32)
            for system, weight in ((rows.first, rows.to_first), (rows.second, rows.to_second)):
                cells = (unit, system.astype(np.int32))
                wins += sparse.coo_array((weight, cells), shape=wins.shape).toarray()
        return self.rounded(wins)

    @cached_property
    def pair_totals(self) -> tuple[sparse.csr_array, ...]:
        """Weights of each pair in each unit: tables (n_pairs, n_units) that add up to all.

        Whole weights are kept as bytes, others as floats. A unit may appear in several tables,
        and several times in a row.
        """
        numbers = pair_numbers(self.n_systems).ravel()
        slabs = [self.pairs.part(rows) for rows in _slices(len(self.pairs.unit), SLAB)]
        found = in_threads(
            lambda slab: _tables(slab, numbers, self.n_units, self._cell(slab)),
            slabs,
            n_threads=available_threads(),
        )
        return tuple(table for tables in found for table in tables)

    @cached_property
    def unit_totals(self) -> Floats:
        """The weight of all judgments of each unit, shape (n_units,)."""
        totals: Floats = self.unit_wins.sum(axis=1)
        return totals

    def units_with(self, chosen: Booleans) -> tuple[Integers, Integers]:
        """Return cells and units in which a winner took a share from a loser, (n_found,) each.

        Parameters
        ----------
        wanted : boolean array of shape (n_systems, n_systems)
            Which (winner, loser) to look for; a cell is ``winner * n_systems + loser``.
        """
        either_way = (chosen | chosen.T).ravel()
        cells, units = [], []
        for chunk in self._chunks():
            rows = np.flatnonzero(either_way[self._cell(chunk)])
            for one, other, weight in (
                (chunk.first, chunk.second, chunk.to_first),
                (chunk.second, chunk.first, chunk.to_second),
            ):
                won = rows[(weight[rows] > 0) & chosen[one[rows], other[rows]]]
                cells.append(one[won].astype(np.int64) * self.n_systems + other[won])
                units.append(chunk.unit[won].astype(np.int64))
        return np.concatenate(cells), np.concatenate(units)

    def rounded(self, sums: Floats) -> Floats:
        """Free sums of twentieths of the rounding that depends on the order of adding."""
        return np.rint(sums * STEPS) / STEPS if self.in_steps else sums

    def _chunks(self) -> Iterator[WeightedPairs]:
        for rows in _slices(len(self.pairs.unit), CHUNK):
            yield self.pairs.part(rows)

    def _cell(self, pairs: WeightedPairs) -> Integers:
        cell: Integers = pairs.first.astype(np.int64)
        cell *= self.n_systems
        cell += pairs.second
        return cell


def _slices(total: int, most: int) -> Iterator[slice]:
    """Cut ``total`` rows into slices of ``most``; there is always one."""
    for start in range(0, max(total, 1), most):
        yield slice(start, min(start + most, total))


def _is_whole(values: Floats) -> bool:
    return bool((np.abs(values - np.rint(values)) < 1e-9 * STEPS).all())


def _tables(
    rows: WeightedPairs, numbers: Integers, n_units: int, cell: Integers
) -> list[sparse.csr_array]:
    """Return the pair totals of some judgments, one table per block of units."""
    if not len(rows.unit):
        return []
    n_pairs = max(1, int(numbers.max()) + 1)
    pair, unit = numbers.astype(np.int32)[cell], rows.unit.astype(np.int32)
    total = rows.to_first + rows.to_second
    if _is_whole(total) and total.max() < MEAN_IN_A_BYTE:
        total = np.rint(total).astype(np.uint8)
    lowest, highest = int(unit.min()), int(unit.max())
    size = _block_size(pair, total, highest - lowest + 1)
    block = (unit - lowest) // size
    n_blocks = int(block.max()) + 1
    cells = (block * n_pairs + pair, unit)
    table = sparse.coo_array((total, cells), shape=(n_blocks * n_pairs, n_units))
    table.has_canonical_format = True  # it is not, but the sum of repeats can wait
    return [*_cut(table.tocsr(), n_blocks, n_pairs)]


def _block_size(pair: NDArray[np.int32], total: NDArray[Any], n_units: int) -> int:
    """Return how many units go into a table, so that sums of a pair mostly fit in a byte."""
    if total.dtype != np.uint8:
        return n_units
    most = float(np.bincount(pair, total).max())
    return max(1, min(UNITS_PER_BLOCK, int(n_units * MEAN_IN_A_BYTE / max(most, 1.0))))


def _cut(table: sparse.csr_array, n_blocks: int, n_pairs: int) -> Iterator[sparse.csr_array]:
    """Cut a tall table into its blocks of ``n_pairs`` rows, without copies."""
    for block in range(n_blocks):
        starts = table.indptr[block * n_pairs : (block + 1) * n_pairs + 1]
        span = slice(starts[0], starts[-1])
        columns = (table.data[span], table.indices[span], starts - starts[0])
        yield sparse.csr_array(columns, shape=(n_pairs, table.shape[1]))


def pair_ends(n_systems: int) -> tuple[Integers, Integers]:
    """Return the lower and the higher system of each pair, shape (n_pairs,) each.

    Pairs are sorted by their lower system, then by the higher one, so that the pairs of one
    lower system lie together.
    """
    low, high = np.triu_indices(n_systems, 1)
    return low.astype(np.int64), high.astype(np.int64)


def pair_numbers(n_systems: int) -> Integers:
    """Return the number of the pair (i, j) at [i, j] and at [j, i]; the diagonal is 0."""
    low, high = pair_ends(n_systems)
    numbers = np.zeros((n_systems, n_systems), dtype=np.int64)
    numbers[low, high] = numbers[high, low] = np.arange(len(low))
    return numbers


Task = TypeVar("Task")
Result = TypeVar("Result")


def available_threads() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def in_threads(
    work: Callable[[Task], Result], tasks: Iterable[Task], *, n_threads: int
) -> list[Result]:
    """Return ``work`` of each task, in the order of the tasks, ``n_threads`` at a time."""
    waiting = list(tasks)
    if min(n_threads, len(waiting)) <= 1:
        return [work(task) for task in waiting]
    with ThreadPoolExecutor(max_workers=n_threads) as pool:
        return list(pool.map(work, waiting))
