"""Weighted wins per unit: all that the estimators need to know of the judgments."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse, special

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.batches import Batch, WeightedPairs, joined

__all__ = ["WeightedPairs", "WinTables", "tabulate"]

UNITS_AT_ONCE = 2**9  # whose cells stay in the cache
MOST_BATCHES = 32  # added one by one; the small ones are then made into one


@dataclass(frozen=True)
class WinTables:
    """Weighted wins of every unit, in batches that were added one after the other."""

    n_systems: int
    n_units: int
    batches: tuple[Batch, ...]

    @cached_property
    def rows(self) -> sparse.csr_array:
        """One win matrix per unit, each flattened to a row: (n_units, n_systems**2)."""
        pairs = joined([batch.pairs for batch in self.batches])
        shape = (self.n_units, self.n_systems**2)
        width = sparse.get_index_dtype(maxval=max(shape))  # the narrowest, for there are many
        unit, first, second = (
            column.astype(width) for column in (pairs.unit, pairs.first, pairs.second)
        )
        cells = (
            np.concatenate([unit, unit]),
            np.concatenate([first * self.n_systems + second, second * self.n_systems + first]),
        )
        weights = np.concatenate([pairs.to_first, pairs.to_second])
        del unit, first, second
        rows = sparse.csr_array((weights, cells), shape=shape)
        del weights, cells
        rows.data = self._rounded(rows.data)
        rows.eliminate_zeros()
        return rows

    @cached_property
    def unit_wins(self) -> Floats:
        """The weight that each system took in each unit, shape (n_units, n_systems)."""
        wins = np.zeros((self.n_units, self.n_systems))
        for batch in self.batches:
            wins[: batch.n_units] += batch.unit_wins
        return self._rounded(wins)

    def total(self) -> Floats:
        """Return the win matrix of all units together, shape (n_systems, n_systems)."""
        return self._rounded(np.sum([batch.wins for batch in self.batches], axis=0))

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
        surprises = special.expit(theta[None, :] - theta[:, None]).ravel()
        scores: Floats = np.zeros((self.n_units, self.n_systems))
        for start in range(0, self.n_units, UNITS_AT_ONCE):
            part = scores[start : start + UNITS_AT_ONCE]
            cells = self.rows[start : start + UNITS_AT_ONCE].tocoo()
            unit, cell = (place.astype(np.int64) for place in cells.coords)
            for who, sign in zip(np.divmod(cell, self.n_systems), (1, -1), strict=True):
                place = unit * self.n_systems + who
                sums = np.bincount(place, cells.data * surprises[cell], minlength=part.size)
                part += sign * sums.reshape(part.shape)
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
        last. Equals tabulating the judgments of both anew, but for rounding; where weights
        are multiples of a twentieth, exactly.

        Raises
        ------
        ValueError
            If the two have different numbers of systems.

        Notes
        -----
        What was summed over the judgments of either is kept, so that a few new judgments cost
        what they weigh, and not what all of them do.
        """
        if other.n_systems != self.n_systems:
            msg = f"cannot add tables of {other.n_systems} systems to tables of {self.n_systems}"
            raise ValueError(msg)
        n_units = max(self.n_units, other.n_units)
        batches = self.batches + other.batches
        if len(batches) > MOST_BATCHES:
            largest = max(batches, key=lambda batch: len(batch.pairs.unit))
            batches = (largest, _merged([batch for batch in batches if batch is not largest]))
        return WinTables(self.n_systems, n_units, batches)

    def subset(self, units: Integers) -> "WinTables":
        """Return the tables of some units, in the order given; ``units`` are indices."""
        cells = self.rows[np.asarray(units, dtype=np.int64)].tocoo()
        unit, cell = (place.astype(np.int64) for place in cells.coords)
        winner, loser = np.divmod(cell, self.n_systems)
        pairs = WeightedPairs(unit, winner, loser, cells.data, np.zeros_like(cells.data))
        return tabulate(pairs, n_units=len(units), n_systems=self.n_systems)

    @property
    def in_steps(self) -> bool:
        """Say whether every weight is a multiple of a twentieth, so that sums are exact."""
        return all(batch.in_steps for batch in self.batches)

    def _rounded(self, sums: Floats) -> Floats:
        """Round sums of twentieths, if they are that, to twentieths."""
        return self.batches[0].rounded(sums) if self.in_steps else sums

    def _checked(self, log_strengths: Floats) -> Floats:
        """Return the strengths as an array, or raise ValueError."""
        theta = np.asarray(log_strengths, dtype=np.float64)
        if theta.shape != (self.n_systems,):
            msg = f"strengths must be of shape ({self.n_systems},), not {theta.shape}"
            raise ValueError(msg)
        return theta


def tabulate(pairs: WeightedPairs, *, n_units: int, n_systems: int) -> WinTables:
    """Make tables of weighted judgments, one win matrix per unit.

    Parameters
    ----------
    pairs : WeightedPairs
        Columns of equal length; rows may repeat, and their order does not matter.
    n_units, n_systems : int
        How many units and systems there are, judged or not.

    Returns
    -------
    WinTables
        They refer to the columns, which must not be changed afterwards; sums are made when
        they are first asked for, and kept.

    Raises
    ------
    ValueError
        If columns differ in length, an index is out of range, a system is paired with
        itself, or a weight is negative or not finite.

    Notes
    -----
    No rows give tables of zeros. Cost O(n_rows).
    """
    pairs = _as_arrays(pairs)
    _check(pairs, n_units, n_systems)
    return WinTables(n_systems, n_units, (Batch(pairs, n_units, n_systems),))


def _as_arrays(pairs: WeightedPairs) -> WeightedPairs:
    """Return the columns as arrays, weights as floats."""
    to_first, to_second = (
        np.asarray(weights, dtype=np.float64) for weights in (pairs.to_first, pairs.to_second)
    )
    unit, first, second = (np.asarray(column) for column in (pairs.unit, pairs.first, pairs.second))
    return WeightedPairs(unit, first, second, to_first, to_second)


def _merged(batches: list[Batch]) -> Batch:
    """Make one batch of several."""
    n_units = max(batch.n_units for batch in batches)
    return Batch(joined([batch.pairs for batch in batches]), n_units, batches[0].n_systems)


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
    for weights in (pairs.to_first, pairs.to_second):
        # The least of them is not a number if any is.
        if weights.size and not (weights.min() >= 0 and weights.max() < np.inf):
            msg = "weights must be finite and not negative"
            raise ValueError(msg)


def _check_indices(name: str, indices: Integers, bound: int) -> None:
    """Raise ValueError unless every index lies in [0, bound)."""
    if indices.size and not (indices.min() >= 0 and indices.max() < bound):
        msg = f"{name} must lie between 0 and {bound - 1}"
        raise ValueError(msg)
