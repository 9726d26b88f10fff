"""A plan in the making: the pairs of each context as columns, counts, groups and exchanges."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotation.assignment import design
from annotation.planning.parts import Block, PlannedPair, planned

Integers = npt.NDArray[np.int64]

# Sums of squares, one far above the next: first every system equally often in the study, then
# in its stratum; then every pair of systems equally often in the study, then in its stratum.
SYSTEM, SYSTEM_IN_STRATUM, PAIR, PAIR_IN_STRATUM = 10**9, 10**6, 10**2, 1


class Counts:
    """Appearances of the systems and of their pairs, over the study and by stratum."""

    def __init__(self, systems: Iterable[str], strata: Iterable[str]) -> None:
        self.systems = tuple(sorted(set(systems)))
        self.strata = tuple(sorted(set(strata)))
        n, s = len(self.systems), len(self.strata)
        self.in_stratum: Integers = np.zeros((s, n), dtype=np.int64)
        self.pairs_in: Integers = np.zeros((s, n, n), dtype=np.int64)
        self.total: Integers = np.zeros(n, dtype=np.int64)
        self.pairs: Integers = np.zeros((n, n), dtype=np.int64)

    @property
    def spread(self) -> int:
        """By how much the most and the least frequent system differ."""
        return int(np.ptp(self.total)) if self.systems else 0

    def add(self, stratum: int, a: int, b: int, *, by: int = 1) -> None:
        """Count a pair of the systems ``a`` and ``b`` in, or with ``by=-1`` out."""
        for system, other in ((a, b), (b, a)):
            self.total[system] += by
            self.in_stratum[stratum, system] += by
            self.pairs[system, other] += by
            self.pairs_in[stratum, system, other] += by

    def level(self, stratum: int) -> Integers:
        """Return what the appearances of each system cost at the margin, shape (n,)."""
        level: Integers = SYSTEM * self.total + SYSTEM_IN_STRATUM * self.in_stratum[stratum]
        return level + level

    def pair_level(self, stratum: int, a: Integers, b: Integers) -> Integers:
        """Return what pairs of systems cost at the margin, in the shape of ``a`` and ``b``."""
        level: Integers = PAIR * self.pairs[a, b] + PAIR_IN_STRATUM * self.pairs_in[stratum, a, b]
        return level + level


# Into how many groups that share no pair the systems fall.
#
# SciPy has this too, but every worker that calls models loads this package and would carry SciPy.


def groups_of(links: npt.NDArray[np.bool_]) -> Integers:
    """Return for each system the smallest index in its group.

    ``links`` says which systems share a pair, shape (n_systems, n_systems). Cost O(n_systems**2)
    for each step from end to end of the longest chain.
    """
    n_systems = len(links)
    either = links | links.T | np.eye(n_systems, dtype=np.bool_)
    groups = np.arange(n_systems)
    while True:
        smallest = np.where(either, groups, n_systems).min(axis=1, initial=n_systems)
        if (smallest == groups).all():
            return groups
        groups = smallest


Booleans = npt.NDArray[np.bool_]
NO_PAIR = -1


class Field:
    """One context of a plan in the making.

    Columns over its free pairs (of different systems and texts, neither planned nor taken):
    ``first`` and ``second`` are candidates, ``a`` and ``b`` their systems, and ``is_chosen`` says
    which pairs the plan adds. ``at[i, j]`` is the place of the pair of candidates i and j, or
    NO_PAIR.
    """

    def __init__(self, block: Block, counts: Counts, *, seed: str) -> None:
        self.block = block
        self.stratum = counts.strata.index(block.stratum)
        self.candidates = sorted(block.candidates, key=lambda one: (one.content_hash, one.system))
        pairs = self._free_pairs(seed)
        systems = np.array(
            [counts.systems.index(one.system) for one in self.candidates], dtype=np.int64
        )
        columns: Integers = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        self.first, self.second = columns[:, 0], columns[:, 1]
        self.a, self.b = systems[self.first], systems[self.second]
        self.is_chosen: Booleans = np.zeros(len(pairs), dtype=np.bool_)
        self.at: Integers = np.full((len(systems), len(systems)), NO_PAIR, dtype=np.int64)
        self.at[self.first, self.second] = self.at[self.second, self.first] = range(len(pairs))

    def systems_of(self, pair: int) -> tuple[int, int]:
        """Return the two systems of a pair."""
        return int(self.a[pair]), int(self.b[pair])

    def planned_pairs(self) -> list[PlannedPair]:
        """Return the chosen pairs, the lower key first."""
        return [
            planned(
                self.block, self.candidates[self.first[pair]], self.candidates[self.second[pair]]
            )
            for pair in np.flatnonzero(self.is_chosen)
        ]

    def _free_pairs(self, seed: str) -> list[tuple[int, int]]:
        """Return the free pairs in an order that content and seed decide, and no database."""
        at = {one.key: place for place, one in enumerate(self.candidates)}
        places = ((at[one.key], at[other.key]) for one, other in self.block.free)
        pairs = [(i, j) if i < j else (j, i) for i, j in places]
        return sorted(pairs, key=lambda pair: (self._place(pair, seed), pair))

    def _place(self, pair: tuple[int, int], seed: str) -> int:
        hashes = (self.candidates[one].content_hash for one in pair)
        return design.draw(seed, "pair", self.block.key, *hashes)


@dataclass(frozen=True)
class Exchange:
    """Pairs of one context that leave the plan, and as many that come for them."""

    field: Field
    out: tuple[int, ...]
    into: tuple[int, ...]


class Draft:
    """Counts and contexts of a plan, changed together."""

    def __init__(self, blocks: Sequence[Block], *, seed: str) -> None:
        every = frozenset[str]().union(*(block.systems for block in blocks))
        self.counts = Counts(every, (block.stratum for block in blocks))
        ordered = sorted(blocks, key=lambda block: (block.stratum, block.key))
        self.fields = [Field(block, self.counts, seed=seed) for block in ordered]
        for field in self.fields:
            self._count_planned(field)

    def choose(self, field: Field, pair: int, *, by: int = 1) -> None:
        """Take a pair into the plan, or with ``by=-1`` out of it."""
        field.is_chosen[pair] = by > 0
        self.counts.add(field.stratum, *field.systems_of(pair), by=by)

    def apply(self, *exchanges: Exchange) -> None:
        """Make exchanges, one after the other."""
        for exchange in exchanges:
            for pair in exchange.out:
                self.choose(exchange.field, pair, by=-1)
            for pair in exchange.into:
                self.choose(exchange.field, pair)

    def undo(self, *exchanges: Exchange) -> None:
        """Take exchanges back that were made one after the other."""
        for exchange in reversed(exchanges):
            self.apply(Exchange(exchange.field, out=exchange.into, into=exchange.out))

    def entry_costs(self, field: Field) -> Integers:
        """Return what each free pair of a context would cost the plan, shape (n_pairs,)."""
        level = self.counts.level(field.stratum)
        own = self.counts.pair_level(field.stratum, field.a, field.b)
        costs: Integers = level[field.a] + level[field.b] + own + _OWN_COST
        return costs

    def exchange_costs(self, field: Field, out: Integers, into: Integers) -> Integers:
        """Return what taking each ``into`` for each ``out`` would cost, shape (n_out, n_into)."""
        costs = self.entry_costs(field)
        relief = 2 * _OWN_COST - costs[out]
        a, b = field.a[out][:, None], field.b[out][:, None]
        c, d = field.a[into][None, :], field.b[into][None, :]
        has_a, has_b = (a == c) | (a == d), (b == c) | (b == d)
        shared = _SHARED_COST * (has_a.astype(np.int64) + has_b)
        same_pair = _SHARED_PAIR_COST * (has_a & has_b).astype(np.int64)
        total: Integers = relief[:, None] + costs[into][None, :] - shared - same_pair
        return total

    def keeps_links(self, *exchanges: Exchange) -> bool:
        """Say whether exchanges, all made, leave no more groups in their strata than there are."""
        if len(exchanges) == 1 and self._has_spare_links(exchanges[0]):
            return True
        strata = {one.field.stratum for one in exchanges}
        return all(self.n_groups(one, *exchanges) <= self.n_groups(one) for one in strata)

    def n_groups(self, stratum: int, *exchanges: Exchange) -> int:
        """Return into how many groups that share no pair the systems of a stratum fall.

        With ``exchanges`` it is so many as there would be if they were made.
        """
        self.apply(*exchanges)
        found = len(np.unique(groups_of(self.counts.pairs_in[stratum] > 0)))
        self.undo(*exchanges)
        return found

    def _has_spare_links(self, exchange: Exchange) -> bool:
        """Say whether the systems of each pair that leaves share another, so that no link goes."""
        field = exchange.field
        linked = self.counts.pairs_in[field.stratum]
        return all(linked[field.systems_of(pair)] > 1 for pair in exchange.out)

    def _count_planned(self, field: Field) -> None:
        for first, second in field.block.planned:
            systems = (self.counts.systems.index(one.system) for one in (first, second))
            self.counts.add(field.stratum, *systems)


_OWN_COST = 2 * (SYSTEM + SYSTEM_IN_STRATUM) + PAIR + PAIR_IN_STRATUM
_SHARED_COST = 2 * (SYSTEM + SYSTEM_IN_STRATUM)
_SHARED_PAIR_COST = 2 * (PAIR + PAIR_IN_STRATUM)
