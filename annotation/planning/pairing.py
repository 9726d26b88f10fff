"""Choose the pairs of a study from a seed: connect strata by exchanges, then even out."""

from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np

from annotation.planning.draft import (
    PAIR,
    PAIR_IN_STRATUM,
    Booleans,
    Draft,
    Exchange,
    Field,
    Integers,
    groups_of,
)
from annotation.planning.parts import Block, PlannedPair, planned


def plan_pairs(blocks: Sequence[Block], *, per_context: int | None, seed: str) -> list[PlannedPair]:
    """Return the pairs that a plan lacks, by stratum and context.

    With ``per_context`` None these are all pairs of completions of different systems and texts;
    otherwise as many as a context lacks of that number, or as many as it has. They are chosen so
    that

    * systems appear equally often over the study: with a completion of every system in every
      context, and nothing planned before, their counts differ by at most one;
    * so do, as well as that leaves room, the systems in each stratum, and the pairs of systems;
    * the systems of each stratum are connected by pairs, where the contexts allow it.

    What is planned stays and is counted. The choice rests on contents and the seed, not on the
    order of the arguments or on keys.

    Notes
    -----
    A greedy draft, pair by pair; then exchanges inside contexts that join groups of a stratum;
    then exchanges that lower the sum of squared counts and keep the groups joined. Where no
    single exchange helps, chains of them are searched for, as augmenting paths are. The search
    is not exhaustive (the most even connected plan is as hard to find as a Hamiltonian path):
    where texts are missing or equal, a plan may rarely be an appearance less even than it could.
    """
    if per_context is None:
        ordered = sorted(blocks, key=lambda block: (block.stratum, block.key))
        return [planned(block, *pair) for block in ordered for pair in block.free]
    draft = Draft(blocks, seed=seed)
    for field in draft.fields:
        _fill(draft, field, per_context)
    connect(draft)
    even_out(draft)
    return [pair for field in draft.fields for pair in field.planned_pairs()]


def _fill(draft: Draft, field: Field, per_context: int) -> None:
    """Choose the pairs that a context lacks, the cheapest one after the other."""
    for _ in range(min(per_context - len(field.block.planned), len(field.a))):
        costs = draft.entry_costs(field)
        costs[field.is_chosen] = np.iinfo(np.int64).max
        draft.choose(field, int(costs.argmin()))


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
    return next((one for _, one in found if draft.n_groups(stratum, one) < n_groups), None)


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


# Make a draft more even by exchanging pairs inside contexts, never losing a link.
#
# Every exchange, and every chain, that is made lowers the sum of squares that the draft weighs, so
# the search ends; which of several is made, content and seed decide.

Arcs = dict[int, dict[int, Exchange]]
Chain = tuple[Exchange, ...]


def even_out(draft: Draft) -> None:
    """Exchange pairs until no exchange, and no chain of them, brings the systems closer."""
    while True:
        while sum(_improve(draft, field) for field in draft.fields):
            pass  # what one context gained another may have lost
        if draft.counts.spread <= 1 or not _follow_a_chain(draft):
            return


def _improve(draft: Draft, field: Field) -> bool:
    """Make the exchanges of one context that help; say whether there was one."""
    helped = False
    while (exchange := _helpful(draft, field)) is not None:
        draft.apply(exchange)
        helped = True
    return helped


def _helpful(draft: Draft, field: Field) -> Exchange | None:
    found = next(_one_for_one(draft, field), None)
    return found or next(_two_for_two(draft, field), None)


def _one_for_one(draft: Draft, field: Field) -> Iterator[Exchange]:
    """Find a pair that is better replaced by another, best first."""
    out, into = np.flatnonzero(field.is_chosen), np.flatnonzero(~field.is_chosen)
    costs = draft.exchange_costs(field, out, into)
    if not costs.size or costs.min() >= 0:
        return
    for place in np.argsort(costs, axis=None, kind="stable"):
        row, column = divmod(int(place), len(into))
        if costs[row, column] >= 0:
            return
        exchange = Exchange(field, (int(out[row]),), (int(into[column]),))
        if draft.keeps_links(exchange):
            yield exchange


def _two_for_two(draft: Draft, field: Field) -> Iterator[Exchange]:
    """Find two pairs whose four completions are better paired crosswise, best first.

    That leaves the appearances of systems as they are and evens out those of their pairs.
    """
    out = np.flatnonzero(field.is_chosen)
    first, second = field.first[out], field.second[out]
    cost = draft.counts.pair_level(field.stratum, field.a, field.b) + PAIR + PAIR_IN_STRATUM
    relief = 2 * (PAIR + PAIR_IN_STRATUM) - cost[out]
    is_free = np.append(~field.is_chosen, False)  # NO_PAIR, the last place, is never free
    for others, swapped in ((first, second), (second, first)):
        one, two = field.at[first[:, None], others], field.at[second[:, None], swapped]
        gain = relief[:, None] + relief + cost[one] + cost[two]
        is_possible = is_free[one] & is_free[two] & _are_four_systems(field, out)
        gain = np.where(is_possible, gain, 0)
        for place in np.flatnonzero(gain.ravel() < 0):
            row, column = divmod(int(place), len(out))
            exchange = Exchange(
                field,
                (int(out[row]), int(out[column])),
                (int(one[row, column]), int(two[row, column])),
            )
            if draft.keeps_links(exchange):
                yield exchange


def _are_four_systems(field: Field, out: Integers) -> Booleans:
    a, b = field.a[out], field.b[out]
    four: Booleans = (a[:, None] != a) & (b[:, None] != b)
    four &= (a[:, None] != b) & (b[:, None] != a)
    return four


def _follow_a_chain(draft: Draft) -> bool:
    """Bring two systems closer through third ones that only change partners.

    Say whether that was possible. One exchange may not do, because the context that could give
    to the rare system does not have the frequent one. A chain may lose a link on its way, but
    not as a whole.
    """
    arcs = _arcs(draft)
    for start in np.argsort(-draft.counts.total, kind="stable"):
        for chain in _chains(draft, arcs, int(start)):
            if draft.keeps_links(*chain):
                draft.apply(*chain)
                return True
    return False


def _arcs(draft: Draft) -> Arcs:
    """Return for each system which others could have an appearance of it, and by what exchange."""
    arcs: Arcs = {}
    losing: Arcs = {}
    for field in draft.fields:
        for giver, taker, exchange in _handovers(field):
            if taker not in arcs.setdefault(giver, {}):
                keeps = draft.keeps_links(exchange)
                (arcs if keeps else losing).setdefault(giver, {})[taker] = exchange
    return {giver: losing.get(giver, {}) | known for giver, known in arcs.items()}


def _handovers(field: Field) -> Iterator[tuple[int, int, Exchange]]:
    """Yield one exchange for each two systems of which one can take over from the other."""
    out, into = np.flatnonzero(field.is_chosen), np.flatnonzero(~field.is_chosen)
    old = np.stack([field.a[out], field.b[out]], axis=1)
    new = np.stack([field.a[into], field.b[into]], axis=1)
    seen = set[tuple[int, int]]()
    for giving, taking in ((0, 0), (0, 1), (1, 0), (1, 1)):
        partners = old[:, None, 1 - giving] == new[None, :, 1 - taking]
        changed = old[:, None, giving] != new[None, :, taking]
        for row, column in np.argwhere(partners & changed):
            systems = int(old[row, giving]), int(new[column, taking])
            if systems not in seen:
                seen.add(systems)
                yield *systems, Exchange(field, (int(out[row]),), (int(into[column]),))


def _chains(draft: Draft, arcs: Arcs, start: int) -> Iterator[Chain]:
    """Yield the shortest chain to each system that is rarer by two or more, nearest first."""
    total = draft.counts.total.copy()
    chains: dict[int, Chain] = {start: ()}
    waiting = deque([start])
    while waiting:
        giver = waiting.popleft()
        for taker, exchange in _next_arcs(draft, arcs, giver, chains[giver]):
            if taker not in chains:
                chains[taker] = (*chains[giver], exchange)
                waiting.append(taker)
                if total[start] >= total[taker] + 2:
                    yield chains[taker]


def _next_arcs(draft: Draft, arcs: Arcs, giver: int, chain: Chain) -> list[tuple[int, Exchange]]:
    """Return who can take over from the end of a chain, and by what exchange.

    In a context that the chain changes, its pairs are those that the chain leaves.
    """
    own = dict.fromkeys(exchange.field for exchange in chain)
    known = arcs.get(giver, {})
    further = {taker: one for taker, one in known.items() if one.field not in own}
    draft.apply(*chain)
    for field in own:
        for gives, taker, exchange in _handovers(field):
            if gives == giver:
                further.setdefault(taker, exchange)
    draft.undo(*chain)
    return sorted(further.items(), key=lambda arc: arc[0])
