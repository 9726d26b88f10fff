"""What became of the rows of a file."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

from completions.written_files import RefusedRow

REPORT_COLUMNS = ("line", "reason", "why", "what_to_do")


@dataclass
class BringReport:
    """How many rows were read, what was stored of them, and which were refused."""

    n_read: int = 0
    n_known: int = 0
    n_waiting: int = 0
    n_accepted: int = 0
    n_flagged: int = 0
    n_new_authors: int = 0
    refused: list[RefusedRow] = field(default_factory=list)

    @property
    def n_stored(self) -> int:
        """How many messages were added."""
        return self.n_waiting + self.n_accepted

    @property
    def n_refused(self) -> int:
        """How many rows were not used."""
        return len(self.refused)

    @property
    def by_reason(self) -> dict[str, int]:
        """How many rows were refused for each reason, the most frequent first."""
        return dict(Counter(row.reason.value for row in self.refused).most_common())

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

    def rows(self) -> Iterator[Sequence[str]]:
        """Yield the refused rows as a table, its header first."""
        yield REPORT_COLUMNS
        for row in self.refused:
            yield str(row.line), row.reason.value, row.why, row.remedy
