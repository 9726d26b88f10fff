"""How often each unit appears in samples drawn with replacement."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranking.numerics.arrays import Floats, Integers

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
