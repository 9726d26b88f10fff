"""Weighted wins per unit: all that the estimators need to know of the judgments."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse, special

from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.batches import (
    CHUNK,
    SLAB,
    STEPS,
    WeightedPairs,
    available_threads,
    in_threads,
    is_whole,
    pair_numbers,
    pair_tables,
    slices,
)

__all__ = ["WeightedPairs", "WinTables", "tabulate", "tabulate_by"]


@dataclass(frozen=True)
class WinTables:
    """Judgments that were checked, and what is summed over them, once each when asked for."""

    pairs: WeightedPairs
    n_units: int
    n_systems: int

    @cached_property
    def rows(self) -> sparse.csr_array:
        """One win matrix per unit, each flattened to a row: (n_units, n_systems**2)."""
        pairs = self.pairs
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

    def total(self) -> Floats:
        """Return the win matrix of all units together, shape (n_systems, n_systems)."""
        return self._wins.copy()

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
        Cost O(number of rows + n_units * n_systems).
        """
        theta = self._checked(log_strengths)
        scores = np.zeros(self.n_units * self.n_systems)
        for slab in slices(len(self.pairs.unit), SLAB):
            rows = self.pairs.part(slab)
            shares = special.expit(theta[rows.first] - theta[rows.second])
            gained = rows.to_first - (rows.to_first + rows.to_second) * shares
            unit = rows.unit.astype(np.int64) * self.n_systems
            scores += np.bincount(unit + rows.first, gained, minlength=len(scores))
            scores -= np.bincount(unit + rows.second, gained, minlength=len(scores))
        return scores.reshape(self.n_units, self.n_systems)

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

    def subset(self, units: Integers) -> "WinTables":
        """Return the tables of some units, in the order given; ``units`` are indices."""
        cells = self.rows[np.asarray(units, dtype=np.int64)].tocoo()
        unit, cell = (place.astype(np.int64) for place in cells.coords)
        winner, loser = np.divmod(cell, self.n_systems)
        pairs = WeightedPairs(unit, winner, loser, cells.data, np.zeros_like(cells.data))
        return tabulate(pairs, n_units=len(units), n_systems=self.n_systems)

    @cached_property
    def is_judged(self) -> Booleans:
        """Say of each unit whether it has judgments, shape (n_units,)."""
        weight = self.pairs.to_first + self.pairs.to_second
        return np.bincount(self.pairs.unit, weight, minlength=self.n_units) > 0.0

    def unit_weights(self) -> sparse.csr_array:
        """Return what each system's judgments weigh in each unit, shape (n_units, n_systems)."""
        found = sparse.csr_array((self.n_units, self.n_systems))
        for slab in slices(len(self.pairs.unit), SLAB):
            rows = self.pairs.part(slab)
            weight = rows.to_first + rows.to_second
            for system in (rows.first, rows.second):
                share = sparse.coo_array((weight, (rows.unit, system)), shape=found.shape)
                found = found + share.tocsr()
        found.data = self._rounded(found.data)
        return found

    @cached_property
    def in_steps(self) -> bool:
        """Say whether every weight is a multiple of a twentieth."""
        return all(
            is_whole(column[rows] * STEPS)
            for rows in slices(len(self.pairs.unit), CHUNK)
            for column in (self.pairs.to_first, self.pairs.to_second)
        )

    @cached_property
    def gives_both(self) -> bool:
        """Say whether both systems took a share in every judgment, as soft scores have it."""
        shares = (self.pairs.to_first, self.pairs.to_second)
        return all(bool(share.min(initial=1.0) > 0.0) for share in shares)

    @cached_property
    def _wins(self) -> Floats:
        """The win matrix of all units together, shape (n_systems, n_systems)."""
        shape = (self.n_systems, self.n_systems)
        to_first, to_second = np.zeros(shape), np.zeros(shape)
        for chunk in self._chunks():
            key = self._cell(chunk)
            to_first += np.bincount(key, chunk.to_first, minlength=shape[0] ** 2).reshape(shape)
            to_second += np.bincount(key, chunk.to_second, minlength=shape[0] ** 2).reshape(shape)
        return self._rounded(to_first + to_second.T)

    @cached_property
    def unit_wins(self) -> Floats:
        """The weight that each system took in each unit, shape (n_units, n_systems)."""
        wins = np.zeros(self.n_units * self.n_systems)
        for slab in slices(len(self.pairs.unit), SLAB):
            rows = self.pairs.part(slab)
            unit = rows.unit.astype(np.int64) * self.n_systems
            wins += np.bincount(unit + rows.first, rows.to_first, minlength=len(wins))
            wins += np.bincount(unit + rows.second, rows.to_second, minlength=len(wins))
        return self._rounded(wins.reshape(self.n_units, self.n_systems))

    @cached_property
    def pair_totals(self) -> tuple[sparse.csr_array, ...]:
        """Weights of each pair in each unit: tables (n_pairs, n_units) that add up to all.

        Whole weights are kept in two bytes, others as floats. A unit may appear in several tables,
        and several times in a row.
        """
        numbers = pair_numbers(self.n_systems).ravel()
        slabs = [self.pairs.part(rows) for rows in slices(len(self.pairs.unit), SLAB)]
        found = in_threads(
            lambda slab: pair_tables(slab, numbers, self.n_units, self._cell(slab)),
            slabs,
            n_threads=available_threads(),
        )
        return tuple(table for tables in found for table in tables)

    def units_with(self, chosen: Booleans) -> tuple[Integers, Integers]:
        """Return cells and units in which a winner took a share from a loser, (n_found,) each.

        Parameters
        ----------
        chosen : boolean array of shape (n_systems, n_systems)
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

    def _rounded(self, sums: Floats) -> Floats:
        """Free sums of twentieths of the rounding that depends on the order of adding."""
        return np.rint(sums * STEPS) / STEPS if self.in_steps else sums

    def _chunks(self) -> Iterator[WeightedPairs]:
        for rows in slices(len(self.pairs.unit), CHUNK):
            yield self.pairs.part(rows)

    def _cell(self, pairs: WeightedPairs) -> Integers:
        cell: Integers = pairs.first.astype(np.int64)
        cell *= self.n_systems
        cell += pairs.second
        return cell

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
    return WinTables(pairs, n_units, n_systems)


def tabulate_by(cluster: Integers, pairs: WeightedPairs, *, n_systems: int) -> WinTables:
    """Make tables of the same judgments by other units, whose indices run from 0."""
    n_units = int(cluster.max(initial=-1)) + 1
    return tabulate(replace(pairs, unit=cluster), n_units=n_units, n_systems=n_systems)


def _as_arrays(pairs: WeightedPairs) -> WeightedPairs:
    """Return the columns as arrays, weights as floats."""
    to_first, to_second = (
        np.asarray(weights, dtype=np.float64) for weights in (pairs.to_first, pairs.to_second)
    )
    unit, first, second = (np.asarray(column) for column in (pairs.unit, pairs.first, pairs.second))
    return WeightedPairs(unit, first, second, to_first, to_second)


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
