"""Keep what writers type, and take the messages that they send, every version of each."""

import datetime as dt
import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from completions.choices import LeaseOutcome, MessageState
from completions.dialogues import wording
from completions.models import Message, MessageRevision, Writer, WritingLease
from completions.writers import presubmit_checks, queries
from completions.writers.presubmit_checks import Concern
from completions.writers.services import flagging
from completions.writers.services.leasing import (
    WritingLeaseNotFoundError,
    close_lease,
    lock_active_writer,
    lock_lease,
    lock_writer,
    refuse_frozen,
    take_slot_again,
)


class OwnWordsMissingError(Exception):
    """The writer did not declare that the words are their own."""


class MessageClosedError(Exception):
    """The message is not open to change any more: it was rejected, given up or is compared."""


class TrialOverError(Exception):
    """The trial was decided before anything was sent for this dialogue of it; the draft is kept."""


class DraftOutdatedError(Exception):
    """A newer version was sent since the page with this draft was opened."""


class LookAgainError(Exception):
    """The writer has not yet looked again at what may be personal or unsafe."""

    def __init__(self, findings: Sequence[Concern]) -> None:
        super().__init__(f"{len(findings)} to look at again")
        self.findings = tuple(findings)


@dataclass(frozen=True)
class Typed:
    """A text with how it came about since the dialogue was opened: signals, never trusted."""

    text: str
    typing_ms: int = 0
    pastes: int = 0
    pasted_characters: int = 0
    seen: int | None = None
    """How many versions had been sent when the page was opened, if that is known."""


@transaction.atomic
def save_draft(*, token: uuid.UUID, writer: Writer, typed: Typed) -> None:
    """Keep what is typed so far, of a new message or of a new version of one that was sent.

    Raises
    ------
    WritingLeaseNotFoundError
        If ``writer`` holds no lease with this token, or has withdrawn.
    DraftOutdatedError
        If a newer version was sent meanwhile; nothing changes then.
    """
    # The writer first: whoever withdraws holds that row, and their lease is judged after it.
    lease = lock_lease(token, lock_writer(writer))
    latest = _latest(lease) if lease.outcome == LeaseOutcome.SUBMITTED else None
    if _is_outdated(typed, latest):
        raise DraftOutdatedError
    is_sent = latest is not None and latest.text == typed.text.strip()
    lease.draft = "" if is_sent else typed.text
    lease.typing_ms = max(lease.typing_ms, typed.typing_ms)
    lease.pastes = max(lease.pastes, typed.pastes)
    lease.pasted_characters = max(lease.pasted_characters, typed.pasted_characters)
    lease.save(update_fields=["draft", "typing_ms", "pastes", "pasted_characters"])


def send_message(
    *,
    token: uuid.UUID,
    writer: Writer,
    typed: Typed,
    is_own_words: bool,
    has_looked_again: bool,
    now: dt.datetime,
) -> Message:
    """Take a message, or a new version of one; what cannot be taken is kept as the draft.

    A repeated submission of the same text changes nothing. One that comes after the lease was
    given back takes a slot again if one is free.

    Raises
    ------
    WritingLeaseNotFoundError
        If ``writer`` holds no lease with this token, or has withdrawn.
    wording.UnusableTextError
        If the text is empty, far too short or far too long.
    OwnWordsMissingError
        If the declaration is missing.
    LookAgainError
        If something may be personal or unsafe, and the writer was not asked yet.
    WriterNotActiveError
        If the writer may not write any more.
    DatasetFrozenError
        If the texts of the dataset do not change any more.
    MessageClosedError
        If a message was sent that is not open to change.
    TrialOverError
        If the dialogue is one of a trial that is over.
    ContextTakenError
        If the lease was given back and the context needs no more messages.
    DraftOutdatedError
        If a newer version was sent meanwhile; nothing changes then.
    """
    save_draft(token=token, writer=writer, typed=typed)
    text = wording.check_text(typed.text)
    if not is_own_words:
        raise OwnWordsMissingError
    lease = _lease_with_dialogue(token, writer)
    findings = presubmit_checks.look(text, language=lease.context.dialogue.language)
    if findings and not has_looked_again:
        raise LookAgainError(findings)
    # Before the locks: to read what others wrote may take a while, and decides nothing.
    flags = flagging.flags_of(
        text=text, writer=writer, context=lease.context, without=queries.message_of(lease)
    )
    revision = MessageRevision(
        text=text,
        content_hash=hashlib.sha256(text.encode()).hexdigest(),
        is_declared=is_own_words,
        has_looked_again=bool(findings),
        flags=flags,
        rules=flagging.rules(),
        written_at=now,
    )
    return _send(token, writer, revision, now=now)


@transaction.atomic
def _send(
    token: uuid.UUID, writer: Writer, revision: MessageRevision, *, now: dt.datetime
) -> Message:
    writer = lock_active_writer(writer)
    refuse_frozen(writer)
    lease = lock_lease(token, writer)
    known = Message.objects.select_for_update(of=("self",)).select_related("completion")
    message = known.filter(lease=lease).first()
    if message is not None and not queries.may_change(message, writer=writer):
        raise MessageClosedError
    if message is None and queries.is_trial_over(lease, writer=writer):
        raise TrialOverError
    if message is None and lease.closed_at is not None and not lease.is_trial:
        take_slot_again(lease.context_id)
    message = _store_revision(lease, revision, now=now)
    _clear(lease, now=now)
    return message


def _store_revision(lease: WritingLease, revision: MessageRevision, *, now: dt.datetime) -> Message:
    """Add a version to the message of a locked lease, and the message if there is none yet.

    Nothing is added when the text is that of the latest version.
    """
    latest = _latest(lease)
    if latest is not None and latest.text == revision.text:
        return latest.message
    revision.message = _opened(lease, None if latest is None else latest.message, now=now)
    revision.number = 1 if latest is None else latest.number + 1
    revision.typing_ms = lease.typing_ms
    revision.pastes = lease.pastes
    revision.pasted_characters = lease.pasted_characters
    revision.save(force_insert=True)
    return revision.message


def _opened(lease: WritingLease, message: Message | None, *, now: dt.datetime) -> Message:
    """Return the message, new or put back to where it waits for a reviewer."""
    state = MessageState.TRIAL if lease.is_trial else MessageState.WAITING
    if message is None:
        return Message.objects.create(lease=lease, state=state, sent_at=now, changed_at=now)
    message.state, message.changed_at = state, now
    message.save(update_fields=["state", "changed_at"])
    return message


def _clear(lease: WritingLease, *, now: dt.datetime) -> None:
    """Empty the draft, and close the lease if it was open."""
    lease.draft = ""
    lease.save(update_fields=["draft"])
    if lease.outcome != LeaseOutcome.SUBMITTED:
        lease.skip_reason = ""
        close_lease(lease, outcome=LeaseOutcome.SUBMITTED, now=now)


def _is_outdated(typed: Typed, latest: MessageRevision | None) -> bool:
    """Say whether another text was sent since the page was opened that this one comes from."""
    if latest is None or typed.seen is None:
        return False
    return typed.seen < latest.number and typed.text.strip() != latest.text


def _latest(lease: WritingLease) -> MessageRevision | None:
    revisions = MessageRevision.objects.select_related("message").filter(message__lease=lease)
    return revisions.order_by("-number").first()


def _lease_with_dialogue(token: uuid.UUID, writer: Writer) -> WritingLease:
    leases = writer.leases.select_related("message__completion", "context__dialogue")
    if (lease := leases.filter(token=token).first()) is None:
        raise WritingLeaseNotFoundError
    return lease
