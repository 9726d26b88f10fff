"""What the pairing plan is made from and what it gives: completions, contexts, pairs."""

from dataclasses import dataclass

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
    otherwise (as quality checks) and are not to be planned.
    """

    key: str
    stratum: str
    candidates: tuple[Candidate, ...]
    planned: tuple[tuple[Candidate, Candidate], ...] = ()
    taken: frozenset[Keys] = frozenset()

    @property
    def systems(self) -> frozenset[str]:
        """Return the systems that have, or had, a completion to pair here."""
        planned = (one.system for pair in self.planned for one in pair)
        return frozenset({one.system for one in self.candidates}.union(planned))


@dataclass(frozen=True)
class PlannedPair:
    """A pair that the plan adds to a context, the lower key first."""

    context: str
    first: Candidate
    second: Candidate
