"""Choose the pairs of a study: balanced over systems, connected by stratum, from a seed."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from annotation.planning.pairing.draft import Draft, connect, even_out
from annotation.planning.pairing.parts import Field, Ground, PlannedPair


def plan_pairs(
    grounds: Sequence[Ground], *, per_context: int | None, seed: str
) -> list[PlannedPair]:
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
    single exchange helps, chains of them are searched for, as augmenting paths are.
    """
    draft = Draft(grounds, seed=seed)
    for field in draft.fields:
        _fill(draft, field, per_context)
    if per_context is not None:
        connect(draft)
        even_out(draft)
    return [pair for field in draft.fields for pair in field.planned_pairs()]


def _fill(draft: Draft, field: Field, per_context: int | None) -> None:
    """Choose the pairs that a context lacks, the cheapest one after the other."""
    if per_context is None:
        for pair in range(len(field.a)):  # all of them, whatever they cost
            draft.choose(field, pair)
        return
    for _ in range(min(per_context - len(field.ground.planned), len(field.a))):
        costs = draft.entry_costs(field)
        costs[field.is_chosen] = np.iinfo(np.int64).max
        draft.choose(field, int(costs.argmin()))


SystemPair = tuple[str, str]
Groups = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class StratumSummary:
    """One stratum: its contexts and pairs, and the groups of systems that its pairs connect.

    ``possible`` are the groups that all pairs there could be would connect.
    """

    name: str
    n_contexts: int
    n_pairs: int
    groups: Groups
    possible: Groups

    @property
    def is_connected(self) -> bool:
        """Whether every system can be compared with every other, over others if need be."""
        return len(self.groups) <= 1


class TriangleRow(NamedTuple):
    """A system, how often it appears, and how often it meets each system before it."""

    number: int
    system: str
    n: int
    met: tuple[int, ...]


@dataclass(frozen=True)
class PlanSummary:
    """A plan counted: ``appearances`` by system, and ``pairs`` for every two systems."""

    n_planned: int
    n_added: int
    n_short: int
    n_alike: int
    appearances: dict[str, int]
    pairs: dict[SystemPair, int]
    strata: tuple[StratumSummary, ...]

    @property
    def n_pairs(self) -> int:
        """Pairs planned before and added now."""
        return self.n_planned + self.n_added

    @property
    def triangle(self) -> tuple[TriangleRow, ...]:
        """Systems by name with their meetings; without meetings where each stands alone."""
        names = list(self.appearances)
        return tuple(
            TriangleRow(
                number=place + 1,
                system=name,
                n=self.appearances[name],
                met=tuple(self.pairs[other, name] for other in names[:place]) if self.pairs else (),
            )
            for place, name in enumerate(names)
        )


def summarise(
    grounds: Sequence[Ground], added: Sequence[PlannedPair], *, per_context: int | None
) -> PlanSummary:
    """Count what is planned already together with what would be added.

    ``n_short`` counts the contexts that have fewer pairs than ``per_context`` asks for, because
    their completions do not make more; ``n_alike`` counts the pairs that are not planned because
    both texts are the same.
    """
    pairs = _pairs_by_context(grounds, added)
    systems = sorted(frozenset[str]().union(*(ground.systems for ground in grounds)))
    every = [pair for ground in grounds for pair in pairs[ground.key]]
    appearances = Counter(system for pair in every for system in pair)
    by_pair = Counter(every)
    n_planned = sum(len(ground.planned) for ground in grounds)
    return PlanSummary(
        n_planned=n_planned,
        n_added=len(added),
        n_short=sum(len(pairs[ground.key]) < (per_context or 0) for ground in grounds),
        n_alike=sum(len(ground.alike - ground.used) for ground in grounds),
        appearances={system: appearances[system] for system in systems},
        pairs={pair: by_pair[pair] for pair in combinations(systems, 2)},
        strata=tuple(
            _stratum([ground for ground in grounds if ground.stratum == name], pairs)
            for name in sorted({ground.stratum for ground in grounds})
        ),
    )


def _pairs_by_context(
    grounds: Sequence[Ground], added: Sequence[PlannedPair]
) -> dict[str, list[SystemPair]]:
    pairs = {
        ground.key: [_systems(first.system, second.system) for first, second in ground.planned]
        for ground in grounds
    }
    for pair in added:
        pairs[pair.context].append(_systems(pair.first.system, pair.second.system))
    return pairs


def _stratum(grounds: Sequence[Ground], pairs: dict[str, list[SystemPair]]) -> StratumSummary:
    systems = frozenset[str]().union(*(ground.systems for ground in grounds))
    chosen = [pair for ground in grounds for pair in pairs[ground.key]]
    possible = {
        _systems(one.system, other.system) for ground in grounds for one, other in ground.comparable
    }
    return StratumSummary(
        name=grounds[0].stratum,
        n_contexts=len(grounds),
        n_pairs=len(chosen),
        groups=_groups(systems, chosen),
        possible=_groups(systems, possible.union(chosen)),
    )


def _systems(one: str, other: str) -> SystemPair:
    return (one, other) if one < other else (other, one)


def _groups(systems: Iterable[str], links: Iterable[SystemPair]) -> Groups:
    """Return the systems that links connect, each group sorted, by first name."""
    group = {system: {system} for system in systems}
    for one, other in links:
        if group[one] is not group[other]:
            group[one] |= group[other]
            for system in group[other]:
                group[system] = group[one]
    return tuple(sorted({tuple(sorted(members)) for members in group.values()}))
