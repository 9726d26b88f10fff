"""Connect the systems of each stratum: exchange a pair where the plan falls into groups."""

from collections.abc import Iterator

import numpy as np

from annotation.planning.pairing.counts import Integers
from annotation.planning.pairing.draft import Draft, Exchange
from annotation.planning.pairing.field import Field
from annotation.planning.pairing.groups import groups_of


def connect(draft: Draft) -> None:
    """Exchange pairs, the cheapest first, until no exchange joins two groups of a stratum."""
    for stratum in range(len(draft.counts.strata)):
        while (exchange := _joining(draft, stratum)) is not None:
            draft.apply(exchange)


def _joining(draft: Draft, stratum: int) -> Exchange | None:
    """Return the cheapest exchange that leaves the stratum fewer groups, if there is one."""
    groups = groups_of(draft.counts.pairs_in[stratum] > 0)
    n_groups = len(np.unique(groups))
    if n_groups == 1:
        return None
    found = sorted(_bridges(draft, stratum, groups), key=lambda one: one[0])
    return next((one for _, one in found if _joins(draft, one, stratum, n_groups)), None)


def _bridges(draft: Draft, stratum: int, groups: Integers) -> Iterator[tuple[int, Exchange]]:
    """Yield each exchange that brings a pair across two groups, with its cost."""
    for field in draft.fields:
        if field.stratum == stratum:
            yield from _bridges_in(draft, field, groups)


def _bridges_in(draft: Draft, field: Field, groups: Integers) -> Iterator[tuple[int, Exchange]]:
    out = np.flatnonzero(field.is_chosen)
    crosses = groups[field.a] != groups[field.b]
    into = np.flatnonzero(~field.is_chosen & crosses)
    costs = draft.exchange_costs(field, out, into)
    for row, leaving in enumerate(out):
        for column, coming in enumerate(into):
            yield int(costs[row, column]), Exchange(field, (int(leaving),), (int(coming),))


def _joins(draft: Draft, exchange: Exchange, stratum: int, n_groups: int) -> bool:
    draft.apply(exchange)
    after = draft.n_groups(stratum)
    draft.undo(exchange)
    return after < n_groups
