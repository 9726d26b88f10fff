"""Weighted wins per unit: all that the estimators need to know of the judgments."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse, special

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

    def unit_scores(self, log_strengths: Floats) -> Floats:
        """Return each unit's gradient of the Bradley-Terry log likelihood.

        Parameters
        ----------
        log_strengths : array of shape (n_systems,)
            Natural log, in any gauge.

        Returns
        -------
        array of shape (n_units, n_systems)
            Row c is the sum over the unit's judgments of (won - expected share); every row
            adds up to 0, and at the maximum so does every column.

        Raises
        ------
        ValueError
            If there is not one strength per system.

        Notes
        -----
        Cost O(number of cells + n_units * n_systems).
        """
        theta = self._checked(log_strengths)
        cells = self.rows.tocoo()
        unit, cell = cells.coords
        winner, loser = np.divmod(cell, self.n_systems)
        surprise = cells.data * special.expit(theta[loser] - theta[winner])
        shape = (self.n_units, self.n_systems)
        gained, lost = (
            np.bincount(unit * self.n_systems + who, surprise, minlength=shape[0] * shape[1])
            for who in (winner, loser)
        )
        scores: Floats = np.subtract(gained, lost, dtype=np.float64).reshape(shape)
        return scores

    def information(self, log_strengths: Floats) -> Floats:
        """Return the observed information of all judgments, shape (n_systems, n_systems).

        Minus the second derivative of the Bradley-Terry log likelihood at ``log_strengths``
        (natural log, any gauge); judgments count as independent. Rows add up to 0.

        Raises
        ------
        ValueError
            If there is not one strength per system.
        """
        theta = self._checked(log_strengths)
        wins = self.total()
        p = special.expit(theta[:, None] - theta[None, :])
        weight = (wins + wins.T) * p * (1.0 - p)
        information: Floats = np.diag(weight.sum(axis=1)) - weight
        return information

    def plus(self, other: "WinTables") -> "WinTables":
        """Return these tables with more judgments added.

        Unit and system indices mean the same in both; units that one of them lacks come
        last. Equals tabulating the judgments of both anew, but for rounding.

        Raises
        ------
        ValueError
            If the two have different numbers of systems.
        """
        if other.n_systems != self.n_systems:
            msg = f"cannot add tables of {other.n_systems} systems to tables of {self.n_systems}"
            raise ValueError(msg)
        n_units = max(self.n_units, other.n_units)
        both = _with_units(self.rows, n_units) + _with_units(other.rows, n_units)
        return WinTables(self.n_systems, sparse.csr_array(both))

    def subset(self, units: Integers) -> "WinTables":
        """Return the tables of some units, in the order given; ``units`` are indices."""
        return WinTables(self.n_systems, self.rows[np.asarray(units, dtype=np.int64)])

    def _checked(self, log_strengths: Floats) -> Floats:
        """Return the strengths as an array, or raise ValueError."""
        theta = np.asarray(log_strengths, dtype=np.float64)
        if theta.shape != (self.n_systems,):
            msg = f"strengths must be of shape ({self.n_systems},), not {theta.shape}"
            raise ValueError(msg)
        return theta


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


def _with_units(rows: sparse.csr_array, n_units: int) -> sparse.csr_array:
    """Return the rows with empty ones behind them, ``n_units`` in all."""
    starts = np.pad(rows.indptr, (0, n_units - rows.shape[0]), mode="edge")
    return sparse.csr_array((rows.data, rows.indices, starts), shape=(n_units, rows.shape[1]))


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
