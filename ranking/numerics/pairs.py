"""One number for each pair of systems, whichever of the two comes first."""

import numpy as np

from ranking.numerics.arrays import Integers


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
