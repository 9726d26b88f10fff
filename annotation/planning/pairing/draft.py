"""A plan in the making: its counts, its contexts, and the exchanges that keep it connected."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.planning.pairing.counts import (
    PAIR,
    PAIR_IN_STRATUM,
    SYSTEM,
    SYSTEM_IN_STRATUM,
    Counts,
    Integers,
)
from annotation.planning.pairing.field import Field
from annotation.planning.pairing.groups import groups_of
from annotation.planning.pairing.parts import Ground


@dataclass(frozen=True)
class Exchange:
    """Pairs of one context that leave the plan, and as many that come for them."""

    field: Field
    out: tuple[int, ...]
    into: tuple[int, ...]


class Draft:
    """Counts and contexts of a plan, changed together."""

    def __init__(self, grounds: Sequence[Ground], *, seed: str) -> None:
        every = frozenset[str]().union(*(ground.systems for ground in grounds))
        self.counts = Counts(every, (ground.stratum for ground in grounds))
        ordered = sorted(grounds, key=lambda ground: (ground.stratum, ground.key))
        self.fields = [Field(ground, self.counts, seed=seed) for ground in ordered]
        for field in self.fields:
            self._count_planned(field)

    def choose(self, field: Field, pair: int, *, by: int = 1) -> None:
        """Take a pair into the plan, or with ``by=-1`` out of it."""
        field.is_chosen[pair] = by > 0
        self.counts.add(field.stratum, *field.systems_of(pair), by=by)

    def apply(self, exchange: Exchange) -> None:
        """Make an exchange."""
        for pair in exchange.out:
            self.choose(exchange.field, pair, by=-1)
        for pair in exchange.into:
            self.choose(exchange.field, pair)

    def undo(self, exchange: Exchange) -> None:
        """Take an exchange back."""
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

    def keeps_links(self, exchange: Exchange) -> bool:
        """Say whether the exchange leaves no more groups in its stratum than there are."""
        field = exchange.field
        linked = self.counts.pairs_in[field.stratum]
        if all(linked[field.systems_of(pair)] > 1 for pair in exchange.out):
            return True
        before = self.n_groups(field.stratum)
        self.apply(exchange)
        after = self.n_groups(field.stratum)
        self.undo(exchange)
        return after <= before

    def n_groups(self, stratum: int) -> int:
        """Return into how many groups that share no pair the systems of a stratum fall."""
        return len(np.unique(groups_of(self.counts.pairs_in[stratum] > 0)))

    def _count_planned(self, field: Field) -> None:
        for first, second in field.ground.planned:
            systems = (self.counts.systems.index(one.system) for one in (first, second))
            self.counts.add(field.stratum, *systems)


_OWN_COST = 2 * (SYSTEM + SYSTEM_IN_STRATUM) + PAIR + PAIR_IN_STRATUM
_SHARED_COST = 2 * (SYSTEM + SYSTEM_IN_STRATUM)
_SHARED_PAIR_COST = 2 * (PAIR + PAIR_IN_STRATUM)
