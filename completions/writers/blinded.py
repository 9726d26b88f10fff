"""All that a writer's page may know: frozen values without rows, keys, labels or sources."""

import datetime as dt
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.core.paginator import Paginator
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from completions.choices import MessageState, WriterState
from completions.dialogues import wording
from completions.dialogues.display import DialogueView
from completions.models import Message, Writer, WritingLease
from completions.writers import queries
from completions.writers.message_queries import LONG_WORDS
from completions.writers.services.sending import Typed

ON_DESK = 5  # how many sent messages the desk shows
ON_PAGE = 30  # and the page of all

STATUSES: Mapping[str, Promise] = {
    MessageState.TRIAL: _("a trial reply"),
    MessageState.WAITING: _("waits for review"),
    MessageState.RETURNED: _("came back with a note"),
    MessageState.ACCEPTED: _("accepted"),
    MessageState.REJECTED: _("not used"),
    MessageState.LAPSED: _("not used: you left before it was changed"),
}
"""What a writer reads about where a message stands."""


def counts_of(text: str) -> dict[str, int]:
    """Count words and sentences, beside the words above which the page calls a text long.

    It can be sent all the same.
    """
    return {
        "words": wording.count_words(text),
        "sentences": wording.count_sentences(text),
        "long_words": LONG_WORDS,
    }


@dataclass(frozen=True)
class SentMessage:
    """A message of the writer's own that was sent, where it stands, and what a reviewer wrote."""

    token: uuid.UUID
    text: str
    at: dt.datetime
    state: str
    note: str
    can_change: bool
    has_draft: bool
    language: str
    """Of the dialogue, as a BCP 47 tag."""

    @property
    def status(self) -> str:
        """Where it stands, in words."""
        if self.is_on_hold:
            return str(_("came back with a note; writing is paused"))
        return str(STATUSES.get(self.state, ""))

    @property
    def is_returned(self) -> bool:
        """Whether it waits for its writer."""
        return self.state == MessageState.RETURNED and self.can_change

    @property
    def is_on_hold(self) -> bool:
        """Whether it came back, and its writer can do nothing about it as things stand."""
        return self.state == MessageState.RETURNED and not self.can_change

    @property
    def is_accepted(self) -> bool:
        """Whether it is in use."""
        return self.state == MessageState.ACCEPTED

    @property
    def is_unused(self) -> bool:
        """Whether nothing comes of it."""
        return self.state in (MessageState.REJECTED, MessageState.LAPSED)

    @property
    def is_trial(self) -> bool:
        """Whether it was written on trial."""
        return self.state == MessageState.TRIAL

    @classmethod
    def of(cls, message: Message, *, writer: Writer, text: str, note: str) -> "SentMessage":
        """Show a message by its newest text, or by the one in use."""
        if message.state == MessageState.ACCEPTED and message.completion is not None:
            text = message.completion.text
        can_change = queries.may_change(message, writer=writer)
        is_waiting = message.state == MessageState.WAITING
        return cls(
            token=message.lease.token,
            text=text,
            at=message.changed_at,
            state=message.state,
            note="" if is_waiting else note,
            can_change=can_change and writer.dataset.frozen_at is None,
            has_draft=bool(message.lease.draft),
            language=message.lease.context.dialogue.language,
        )


@dataclass(frozen=True)
class Task:
    """A dialogue, with what was typed for it so far or sent; the page goes on counting from it."""

    token: uuid.UUID
    dialogue: DialogueView
    typed: Typed
    is_trial: bool
    sent: SentMessage | None = None

    @classmethod
    def from_lease(cls, lease: WritingLease, *, writer: Writer) -> "Task":
        """Leave out everything but the dialogue and the writer's own texts."""
        context = lease.context
        dialogue = DialogueView.of(
            context.turns, is_simulated=context.is_simulated, language=context.dialogue.language
        )
        signals = (lease.typing_ms, lease.pastes, lease.pasted_characters)
        message = queries.message_of(lease)
        if message is None:
            typed = Typed(lease.draft, *signals, seen=0)
            return cls(lease.token, dialogue, typed, lease.is_trial)
        latest = queries.latest_version(message)
        note = queries.latest_note(message)
        sent = SentMessage.of(message, writer=writer, text=latest.text, note=note)
        typed = Typed(lease.draft or latest.text, *signals, seen=latest.number)
        return cls(lease.token, dialogue, typed, lease.is_trial, sent)


@dataclass(frozen=True)
class Desk:
    """What waits, what came back, and what is done."""

    code: str
    n_waiting: int
    n_written: int
    n_trial: int
    """Trial replies of a writer who was let in by them."""
    has_draft: bool
    is_frozen: bool
    trial: Mapping[str, int] | None
    """How far a newcomer's is."""
    note: str
    """Of the admin who let them in, until they have sent a message."""
    returned: tuple[SentMessage, ...]
    begun: tuple[tuple[uuid.UUID, str, str], ...]
    """Drafts whose places were given free: token, text and the dialogue's language."""
    sent: tuple[SentMessage, ...]
    has_more: bool

    @classmethod
    def of(cls, writer: Writer) -> "Desk":
        """Read the desk of ``writer``."""
        counts = queries.desk_counts(writer)
        held = queries.open_writing_lease(writer)
        is_frozen = writer.dataset.frozen_at is not None
        is_newcomer = writer.state == WriterState.VETTING
        came_back = queries.messages_sent(writer).filter(state=MessageState.RETURNED)
        newest = _shown(queries.messages_sent(writer)[: ON_DESK + 1], writer)
        stranded = () if is_frozen else queries.stranded_leases(writer)
        return cls(
            code=writer.code,
            **counts,
            has_draft=held is not None and bool(held.draft),
            is_frozen=is_frozen,
            trial=_trial_of(writer) if is_newcomer else None,
            note="" if is_newcomer or counts["n_written"] else queries.newest_note(writer),
            returned=tuple(sent for sent in _shown(came_back, writer) if sent.is_returned),
            begun=tuple(
                (lease.token, lease.draft, lease.context.dialogue.language) for lease in stranded
            ),
            sent=newest[:ON_DESK],
            has_more=len(newest) > ON_DESK,
        )


def sent_page(writer: Writer, *, number: str) -> dict[str, object]:
    """Return a page of all that a writer sent, or the nearest, and the numbers beside it, if any.

    ``messages`` are SentMessage.
    """
    page = Paginator(queries.messages_sent(writer), ON_PAGE).get_page(number)
    return {
        "messages": _shown(page.object_list, writer),
        "number": page.number,
        "n_pages": page.paginator.num_pages,
        "previous": page.previous_page_number() if page.has_previous() else None,
        "next": page.next_page_number() if page.has_next() else None,
    }


def _trial_of(writer: Writer) -> dict[str, int]:
    """Count the dialogues of the trial, and those that were written for or passed over."""
    trial = queries.trial_of(writer)
    return {"n_dialogues": trial.n_dialogues, "n_done": trial.n_done, "n_left": trial.n_left}


def _shown(messages: Iterable[Message], writer: Writer) -> tuple[SentMessage, ...]:
    """Show messages of ``queries.messages_sent``, which have their texts with them."""
    rows = ((message, vars(message)) for message in messages)
    return tuple(
        SentMessage.of(message, writer=writer, text=row["text"], note=row["note"] or "")
        for message, row in rows
    )
