"""What a pairing plan is made from and what it comes to: completions, pairs, summary."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

Keys = tuple[int, int]


class Candidate(NamedTuple):
    """A completion that may be paired: its key (canonical order), its system, its content."""

    key: int
    system: str
    content_hash: str


@dataclass(frozen=True)
class Block:
    """A context as the plan sees it.

    ``planned`` are the pairs that the plan has in it already, also of completions that may no
    longer be paired; ``taken`` names the pairs by key, the lower one first, that are used
    otherwise (as quality checks) and are not to be planned, and ``alike`` those of which people
    would read the same text twice, which nobody can compare.
    """

    key: str
    stratum: str
    candidates: tuple[Candidate, ...]
    planned: tuple[tuple[Candidate, Candidate], ...] = ()
    taken: frozenset[Keys] = frozenset()
    alike: frozenset[Keys] = frozenset()

    @property
    def used(self) -> frozenset[Keys]:
        """The pairs that are planned or taken."""
        return self.taken.union(keys_of(*pair) for pair in self.planned)

    @property
    def comparable(self) -> Iterator[tuple[Candidate, Candidate]]:
        """Yield the pairs of different systems and texts that there are, used or not."""
        alike = self.alike
        for one, other in combinations(self.candidates, 2):
            if one.system != other.system and not (alike and keys_of(one, other) in alike):
                yield one, other

    @property
    def free(self) -> Iterator[tuple[Candidate, Candidate]]:
        """Yield those that are neither planned nor taken."""
        used = self.used
        return (pair for pair in self.comparable if not (used and keys_of(*pair) in used))

    @property
    def systems(self) -> frozenset[str]:
        """Return the systems that have, or had, a completion to pair here."""
        planned = (one.system for pair in self.planned for one in pair)
        return frozenset({one.system for one in self.candidates}.union(planned))


def keys_of(one: Candidate, other: Candidate) -> Keys:
    """Return the keys of a pair, the lower one first."""
    return (one.key, other.key) if one.key < other.key else (other.key, one.key)


class PlannedPair(NamedTuple):
    """A pair that the plan adds to a context, the lower key first; or one text, rated alone."""

    context: str
    first: Candidate
    second: Candidate | None


def planned(block: Block, one: Candidate, other: Candidate) -> PlannedPair:
    """Return the pair as the plan adds it."""
    first, second = (one, other) if one.key < other.key else (other, one)
    return PlannedPair(block.key, first, second)


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
    blocks: Sequence[Block], added: Sequence[PlannedPair], *, per_context: int | None
) -> PlanSummary:
    """Count what is planned already together with what would be added.

    ``n_short`` counts the contexts that have fewer pairs than ``per_context`` asks for, because
    their completions do not make more; ``n_alike`` counts the pairs that are not planned because
    both texts are the same.
    """
    pairs = _pairs_by_context(blocks, added)
    systems = sorted(frozenset[str]().union(*(block.systems for block in blocks)))
    every = [pair for block in blocks for pair in pairs[block.key]]
    appearances = Counter(system for pair in every for system in pair)
    by_pair = Counter(every)
    n_planned = sum(len(block.planned) for block in blocks)
    return PlanSummary(
        n_planned=n_planned,
        n_added=len(added),
        n_short=sum(len(pairs[block.key]) < (per_context or 0) for block in blocks),
        n_alike=sum(len(block.alike - block.used) for block in blocks),
        appearances={system: appearances[system] for system in systems},
        pairs={pair: by_pair[pair] for pair in combinations(systems, 2)},
        strata=tuple(
            _stratum([block for block in blocks if block.stratum == name], pairs)
            for name in sorted({block.stratum for block in blocks})
        ),
    )


def _pairs_by_context(
    blocks: Sequence[Block], added: Sequence[PlannedPair]
) -> dict[str, list[SystemPair]]:
    pairs = {
        block.key: [_systems(first.system, second.system) for first, second in block.planned]
        for block in blocks
    }
    for context, first, second in added:
        if second:
            pairs[context].append(_systems(first.system, second.system))
    return pairs


def _stratum(blocks: Sequence[Block], pairs: dict[str, list[SystemPair]]) -> StratumSummary:
    systems = frozenset[str]().union(*(block.systems for block in blocks))
    chosen = [pair for block in blocks for pair in pairs[block.key]]
    possible = {*chosen, *_comparable(blocks)}
    return StratumSummary(
        name=blocks[0].stratum,
        n_contexts=len(blocks),
        n_pairs=len(chosen),
        groups=_groups(systems, chosen),
        possible=_groups(systems, possible),
    )


def _comparable(blocks: Sequence[Block]) -> Iterator[SystemPair]:
    """Yield the systems of all pairs there could be; those of like contexts once."""
    for block in blocks:
        if block.alike:
            yield from (_systems(one.system, other.system) for one, other in block.comparable)
    others = [block.candidates for block in blocks if not block.alike]
    for names in {frozenset(one.system for one in candidates) for candidates in others}:
        yield from combinations(sorted(names), 2)


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
