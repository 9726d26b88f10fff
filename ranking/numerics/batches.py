"""Weighted judgments, the numbers of their pairs, sparse tables of pairs by unit, and threads."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ranking.numerics.arrays import Booleans, Floats, Indices, Integers

STEPS = 20
"""Shares are multiples of a twentieth: in twentieths their sums are whole, hence exact."""
CHUNK = 2**18  # judgments whose intermediate results stay in the cache
SLAB = 2**19  # judgments per sparse table: small enough for memory to be used again
UNITS_PER_BLOCK = 2**13  # whose multiplicities in 64 resamples stay in the cache
MOST_IN_A_BYTE = 255
DEVIATIONS = 6.0  # by which hardly any sum over drawn units exceeds its mean


@dataclass(frozen=True)
class WeightedPairs:
    """Judgments, or groups of alike judgments, as columns of shape (n_rows,).

    ``unit``, ``first`` and ``second`` are indices from 0; ``to_first`` and ``to_second`` are
    the weights (dimensionless, at least 0) that go to each of the two systems.
    """

    unit: Indices
    first: Indices
    second: Indices
    to_first: Floats
    to_second: Floats

    def part(self, rows: slice | Booleans) -> "WeightedPairs":
        """Return some of the rows."""
        return WeightedPairs(
            self.unit[rows],
            self.first[rows],
            self.second[rows],
            self.to_first[rows],
            self.to_second[rows],
        )


def slices(total: int, most: int) -> Iterator[slice]:
    """Cut ``total`` rows into slices of ``most``; there is always one."""
    for start in range(0, max(total, 1), most):
        yield slice(start, min(start + most, total))


def is_whole(values: Floats) -> bool:
    """Say whether all values are whole numbers, but for rounding."""
    return bool((np.abs(values - np.rint(values)) < 1e-9 * STEPS).all())


def pair_tables(
    rows: WeightedPairs, numbers: Integers, n_units: int, cell: Integers
) -> list[sparse.csr_array]:
    """Return the pair totals of some judgments, one table per block of units."""
    if not len(rows.unit):
        return []
    n_pairs = max(1, int(numbers.max()) + 1)
    pair, unit = numbers.astype(np.int32)[cell], rows.unit.astype(np.int32)
    total = rows.to_first + rows.to_second
    place = unit - unit.min()
    size = _units_per_table(pair, place, total) if is_whole(total) else 0
    if size:
        total = np.rint(total).astype(np.uint16)  # it multiplies the bytes of two samples
    block = place // (size or n_units)
    n_blocks = int(block.max()) + 1
    cells = (block * n_pairs + pair, unit)
    table = sparse.coo_array((total, cells), shape=(n_blocks * n_pairs, n_units))
    table.has_canonical_format = True  # it is not, but the sum of repeats can wait
    return [*_cut(table.tocsr(), n_blocks, n_pairs)]


def _units_per_table(pair: NDArray[np.int32], place: NDArray[np.int32], total: Floats) -> int:
    """Return how many units go into a table, so that most sums over drawn units fit in a byte.

    It is 0 if there would be more tables than pay. Rows of at most m, t in all, add up to t when
    units are drawn, with a standard deviation of at most sqrt(m t).
    """
    largest = float(total.max())
    spread = DEVIATIONS * np.sqrt(largest)
    most = ((np.sqrt(spread**2 + 4.0 * MOST_IN_A_BYTE) - spread) / 2.0) ** 2
    size, n_pairs = min(UNITS_PER_BLOCK, int(place.max()) + 1), int(pair.max()) + 1
    while size and (int(place.max()) // size + 1) * n_pairs <= len(total):
        highest = np.bincount(place // size * n_pairs + pair, total).max()
        if highest <= most:
            return size
        size = min(size - 1, int(0.75 * size * most / highest))  # parts differ
    return 0


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
