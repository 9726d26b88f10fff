"""What became of the rows of a file."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

from completions.input_files import Refused

REPORT_COLUMNS = ("line", "field", "reason", "why", "what_to_do")


@dataclass
class Refusals:
    """What is wrong with the rows of a file that are not used."""

    refused: list[Refused] = field(default_factory=list, kw_only=True)

    @property
    def n_refused(self) -> int:
        """How many rows are not used; one may have several faults."""
        return len({one.position for one in self.refused})

    @property
    def by_reason(self) -> dict[str, int]:
        """How many faults there are of each kind, the most frequent first."""
        return dict(Counter(one.reason.value for one in self.refused).most_common())

    def rows(self) -> Iterator[Sequence[str]]:
        """Yield the refusals as a table, its header first."""
        yield REPORT_COLUMNS
        for one in self.refused:
            yield str(one.position), one.field, one.reason.value, one.why, one.remedy


@dataclass
class BringReport(Refusals):
    """How many rows were read, what was stored of them, and which were refused."""

    n_read: int = 0
    n_known: int = 0
    n_waiting: int = 0
    n_accepted: int = 0
    n_flagged: int = 0
    n_new_authors: int = 0

    @property
    def n_stored(self) -> int:
        """How many messages were added."""
        return self.n_waiting + self.n_accepted

    @property
    def counts(self) -> dict[str, int]:
        """The figures alone."""
        return {
            "read": self.n_read,
            "stored": self.n_stored,
            "waiting": self.n_waiting,
            "accepted": self.n_accepted,
            "flagged": self.n_flagged,
            "known": self.n_known,
            "refused": self.n_refused,
            "new_authors": self.n_new_authors,
        }

    @property
    def digest(self) -> str:
        """A hash by which two outcomes are told apart."""
        content = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()
