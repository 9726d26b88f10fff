"""All that a writer's page may know: frozen values without rows, keys, labels or sources."""

import datetime as dt
import uuid
from dataclasses import dataclass

from completions import selectors, wording, writing_selectors
from completions.models import Writer, WritingLease
from completions.talk import Talk

LONG_WORDS = 60  # above this the count says so; nothing else happens
ON_DESK = 5  # how many sent messages the desk shows


@dataclass(frozen=True)
class Task:
    """A talk that waits for the writer's message."""

    token: uuid.UUID
    talk: Talk
    draft: str

    @classmethod
    def from_lease(cls, lease: WritingLease) -> "Task":
        """Leave out everything but the dialogue and the draft."""
        context = lease.context
        talk = Talk.of(context.turns, is_simulated=context.is_simulated)
        return cls(lease.token, talk, lease.draft)


@dataclass(frozen=True)
class Counts:
    """How long a text is, and above how many words one is called long."""

    words: int
    sentences: int
    long_words: int = LONG_WORDS

    @property
    def is_long(self) -> bool:
        """Whether the page says so; it can be sent all the same."""
        return self.words > self.long_words

    @classmethod
    def of(cls, text: str) -> "Counts":
        """Count the words and sentences of ``text``."""
        return cls(wording.count_words(text), wording.count_sentences(text))


@dataclass(frozen=True)
class Note:
    """A message of the writer's own, sent or begun; without a token if not written here."""

    token: uuid.UUID | None
    text: str
    at: dt.datetime


@dataclass(frozen=True)
class Desk:
    """What waits and what is done."""

    code: str
    n_waiting: int
    n_written: int
    has_draft: bool
    stranded: tuple[Note, ...]
    sent: tuple[Note, ...]

    @classmethod
    def of(cls, writer: Writer) -> "Desk":
        """Read the desk of ``writer``."""
        counts = selectors.desk(writer)
        held = selectors.open_writing_lease(writer)
        sent = writing_selectors.texts_sent(writer, limit=ON_DESK)
        return cls(
            code=writer.code,
            n_waiting=counts.n_waiting,
            n_written=counts.n_written,
            has_draft=held is not None and bool(held.draft),
            stranded=tuple(
                Note(lease.token, lease.draft, lease.issued_at)
                for lease in writing_selectors.stranded_leases(writer)
            ),
            sent=tuple(Note(*row) for row in sent),
        )
