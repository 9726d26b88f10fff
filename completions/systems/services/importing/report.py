"""What became, or would become, of a batch of completions."""

import hashlib
import json
from collections import Counter
from dataclasses import asdict, dataclass, field

from completions.files import Refusals
from completions.systems.importing import BroughtRow


@dataclass(frozen=True)
class Kept:
    """A row and its completion: stored now, or there before with the same text.

    ``held`` has the reasons for which it is kept out of pairs until somebody decides.
    """

    row: BroughtRow
    pk: int
    is_new: bool
    held: tuple[str, ...] = ()


@dataclass
class IntakeReport(Refusals):
    """Every row: kept, or refused; a batch with a refused row stores nothing."""

    n_read: int = 0
    kept: list[Kept] = field(default_factory=list)

    @property
    def n_new(self) -> int:
        """How many completions are added."""
        return sum(one.is_new for one in self.kept)

    @property
    def n_known(self) -> int:
        """How many were there before, with the same text."""
        return len(self.kept) - self.n_new

    @property
    def n_held(self) -> int:
        """How many of the new ones seem to give their source away."""
        return sum(bool(one.held) for one in self.kept)

    @property
    def by_system(self) -> dict[str, int]:
        """How many completions are added, by the slug of their system."""
        return dict(sorted(Counter(one.row.system for one in self.kept if one.is_new).items()))

    @property
    def digest(self) -> str:
        """A hash by which two outcomes are told apart; it knows no key of what is added."""
        kept = [(one.row.position, one.is_new, one.held) for one in self.kept]
        content = json.dumps([kept, [asdict(one) for one in self.refused]], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()
