"""What the pairing plan is made from and what it gives: completions, contexts, pairs."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

Keys = tuple[int, int]


@dataclass(frozen=True)
class Candidate:
    """A completion that may be paired: its key (canonical order), its system, its content."""

    key: int
    system: str
    content_hash: str


@dataclass(frozen=True)
class Ground:
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
        for one, other in combinations(self.candidates, 2):
            if one.system != other.system and keys_of(one, other) not in self.alike:
                yield one, other

    @property
    def systems(self) -> frozenset[str]:
        """Return the systems that have, or had, a completion to pair here."""
        planned = (one.system for pair in self.planned for one in pair)
        return frozenset({one.system for one in self.candidates}.union(planned))


def keys_of(one: Candidate, other: Candidate) -> Keys:
    """Return the keys of a pair, the lower one first."""
    return min(one.key, other.key), max(one.key, other.key)


@dataclass(frozen=True)
class PlannedPair:
    """A pair that the plan adds to a context, the lower key first."""

    context: str
    first: Candidate
    second: Candidate
