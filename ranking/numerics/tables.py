"""Weighted wins per unit: all that the estimators need to know of the judgments."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ranking.numerics.arrays import Floats, Integers


@dataclass(frozen=True)
class WinTables:
    """One win matrix per unit, each flattened to a row of a sparse (n_units, n_systems**2)."""

    n_systems: int
    rows: sparse.csr_array

    @property
    def n_units(self) -> int:
        """Return how many units (source dialogues) there are."""
        n_units: int = self.rows.shape[0]
        return n_units

    def total(self) -> Floats:
        """Return the win matrix of all units together, shape (n_systems, n_systems)."""
        total: Floats = self.weighted(np.ones((1, self.n_units)))[0]
        return total

    def weighted(self, weights: Floats) -> Floats:
        """Add up the units' win matrices under many sets of weights.

        Parameters
        ----------
        weights : array of shape (n_sets, n_units)
            How often each unit counts (dimensionless, at least 0).

        Returns
        -------
        array of shape (n_sets, n_systems, n_systems)
            ``[r, i, j]`` is the weight with which ``i`` was preferred to ``j`` in set r.
        """
        flat = np.asarray((self.rows.T @ weights.T).T)
        return flat.reshape(len(weights), self.n_systems, self.n_systems)


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


def tabulate(pairs: WeightedPairs, *, n_units: int, n_systems: int) -> WinTables:
    """Add up weighted judgments into one win matrix per unit.

    Parameters
    ----------
    pairs : WeightedPairs
        Columns of equal length; rows may repeat, and their order does not matter.
    n_units, n_systems : int
        How many units and systems there are, judged or not.

    Returns
    -------
    WinTables
        Sparse: its size is the number of distinct (unit, winner, loser), at most twice the
        number of rows.

    Raises
    ------
    ValueError
        If columns differ in length, an index is out of range, a system is paired with
        itself, or a weight is negative or not finite.

    Notes
    -----
    No rows give tables of zeros. Cost O(n_rows log n_rows).
    """
    _check(pairs, n_units, n_systems)
    unit = np.concatenate([pairs.unit, pairs.unit])
    winner = np.concatenate([pairs.first, pairs.second])
    loser = np.concatenate([pairs.second, pairs.first])
    weight = np.concatenate([pairs.to_first, pairs.to_second])
    cells = sparse.coo_array(
        (weight, (unit, winner * n_systems + loser)), shape=(n_units, n_systems**2)
    )
    rows = sparse.csr_array(cells)
    rows.eliminate_zeros()
    return WinTables(n_systems, rows)


def _check(pairs: WeightedPairs, n_units: int, n_systems: int) -> None:
    """Raise ValueError unless the columns fit each other and the two sizes."""
    columns = (pairs.unit, pairs.first, pairs.second, pairs.to_first, pairs.to_second)
    lengths = {column.shape for column in columns}
    if len(lengths) > 1:
        msg = f"columns differ in length: {sorted(lengths)}"
        raise ValueError(msg)
    _check_indices("unit", pairs.unit, n_units)
    _check_indices("first", pairs.first, n_systems)
    _check_indices("second", pairs.second, n_systems)
    if (pairs.first == pairs.second).any():
        msg = "a system cannot be compared with itself"
        raise ValueError(msg)
    weights = np.concatenate([pairs.to_first, pairs.to_second])
    if not np.isfinite(weights).all() or (weights < 0).any():
        msg = "weights must be finite and not negative"
        raise ValueError(msg)


def _check_indices(name: str, indices: Integers, bound: int) -> None:
    """Raise ValueError unless every index lies in [0, bound)."""
    if indices.size and not (indices.min() >= 0 and indices.max() < bound):
        msg = f"{name} must lie between 0 and {bound - 1}"
        raise ValueError(msg)
