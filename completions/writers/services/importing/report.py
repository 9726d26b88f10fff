"""What became of the rows of a file."""

import hashlib
import json
from dataclasses import asdict, dataclass

from completions.files import Refusals


@dataclass
class MessageImportReport(Refusals):
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
