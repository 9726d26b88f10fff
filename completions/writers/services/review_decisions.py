"""Decide what becomes of a message, make its completion, and tell who wrote it (ADR-0035)."""

import datetime as dt
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F, ProtectedError, Q

from access.log import record
from completions.choices import MailKind, MessageState, MessageVerdict
from completions.dialogues.locking import CompletionFixedError, lock_texts, lock_unfixed
from completions.models import (
    Completion,
    Context,
    Hold,
    Message,
    MessageDecision,
    MessageRevision,
    Writer,
    WritingLease,
)
from completions.systems.services.registering import system_of_writer
from completions.writers.message_queries import Obstacle, Situation, obstacle
from completions.writers.services.emailing import queue_mail
from completions.writers.services.leasing import DatasetFrozenError, lock_writer


class NoteMissingError(ValueError):
    """A message is sent back or rejected with a note to its writer."""


class MessageChangedError(Exception):
    """Another version or another decision came since the page was shown."""


class MessageNotOpenError(Exception):
    """The message is not in a state in which this can be decided."""


class WriterGoneError(Exception):
    """Nobody is there any more to whom the message could be sent back."""


@dataclass(frozen=True)
class Seen:
    """What of a message a reviewer saw: its newest version, and how many decisions it had."""

    revision: int
    decisions: int


ERRORS: dict[Obstacle, type[Exception]] = {
    Obstacle.CLOSED: MessageNotOpenError,
    Obstacle.GONE: WriterGoneError,
    Obstacle.FIXED: CompletionFixedError,
    Obstacle.FROZEN: DatasetFrozenError,
}


@transaction.atomic
def decide_message(
    *,
    message: Message,
    verdict: MessageVerdict,
    note: str,
    by: User | None,
    now: dt.datetime,
    seen: Seen | None = None,
) -> Message:
    """Decide on the newest version of a message, and log it without its text.

    What is accepted becomes a completion. What is rejected gives its slot back to somebody else;
    a rejected revision leaves the text that was accepted before. What was accepted can be taken
    back by sending it back or rejecting it. Repeating one's own decision changes nothing.

    Raises
    ------
    NoteMissingError
        If a message is sent back or rejected without a note.
    MessageChangedError
        If the message is not as it was ``seen`` any more.
    MessageNotOpenError
        If its state allows no such decision.
    WriterGoneError
        If it is sent back to somebody who left, or who wrote elsewhere.
    CompletionFixedError
        If the decision would change a text that is compared or labelled.
    DatasetFrozenError
        If it would change a text of a dataset that is frozen.
    """
    note = note.strip()
    if verdict != MessageVerdict.ACCEPTED and not note:
        raise NoteMissingError
    message, revision, situation = _lock(message)
    if seen is not None and seen != (stored := _seen(revision)):
        if _is_repeated(revision, seen, stored, verdict=verdict, note=note, by=by):
            return message
        raise MessageChangedError
    if (against := obstacle(verdict, situation)) is not None:
        raise ERRORS[against]
    if verdict == MessageVerdict.ACCEPTED:
        complete_message(message=message, revision=revision, now=now)
    elif verdict == MessageVerdict.RETURNED:
        _send_back(message, situation, now=now)
    else:
        _reject(message, situation, now=now)
    MessageDecision.objects.create(
        revision=revision, verdict=verdict, note=note, decided_at=now, decided_by=by
    )
    if verdict == MessageVerdict.RETURNED:
        queue_mail(writer=message.lease.writer, kind=MailKind.RETURNED, note=note, now=now)
    record(
        action=f"message.{verdict.lower()}",
        subject=f"message {message.pk}",
        now=now,
        by=by,
        before={"state": situation.state},
        after={"state": message.state, "version": revision.number},
    )
    return message


def _lock(message: Message) -> tuple[Message, MessageRevision, Situation]:
    """Lock a message, its writer and its dataset; return it with its newest version."""
    lease = WritingLease.objects.select_related("context", "writer").get(message=message)
    lease.writer = lock_writer(lease.writer)
    dataset = lock_texts(lease.context.dataset_id)
    message = Message.objects.select_for_update(of=("self",)).get(pk=message.pk)
    message.lease = lease
    revision = message.revisions.order_by("-number").first()
    if revision is None:
        raise MessageNotOpenError
    return message, revision, Situation.of(message, writer=lease.writer, dataset=dataset)


def _seen(revision: MessageRevision) -> Seen:
    decisions = MessageDecision.objects.filter(revision__message=revision.message_id)
    return Seen(revision.number, decisions.count())


def _is_repeated(
    revision: MessageRevision,
    seen: Seen,
    stored: Seen,
    *,
    verdict: MessageVerdict,
    note: str,
    by: User | None,
) -> bool:
    """Say whether nothing happened since but this very decision: a button pressed twice."""
    if stored != Seen(seen.revision, seen.decisions + 1):
        return False
    last = revision.decisions.order_by("-pk").first()
    return last is not None and (last.verdict, last.note, last.decided_by) == (verdict, note, by)


def _send_back(message: Message, situation: Situation, *, now: dt.datetime) -> None:
    settle = _store if situation.has_old_text else _take_back
    settle(message, MessageState.RETURNED, now=now)


def _reject(message: Message, situation: Situation, *, now: dt.datetime) -> None:
    if situation.has_old_text:
        _store(message, MessageState.ACCEPTED, now=now)
        return
    _take_back(message, MessageState.REJECTED, now=now)
    context = Context.objects.filter(writing_leases__message=message)
    context.update(slots_left=F("slots_left") + 1)


def _store(message: Message, state: MessageState, *, now: dt.datetime) -> None:
    message.state, message.changed_at = state, now
    message.save(update_fields=["state", "changed_at"])


@transaction.atomic
def complete_message(
    *, message: Message, revision: MessageRevision, now: dt.datetime
) -> Completion:
    """Accept a version: it becomes the message's completion, or that completion's new text.

    A hold on another text goes with that text; the next plan looks at the new one.

    Raises
    ------
    CompletionFixedError
        If the text that the message has is compared or labelled.
    """
    if message.completion_id is None:
        completion = _created(message, revision, now=now)
    else:
        completion = _replaced(message.completion_id, revision)
    message.completion = completion
    message.state, message.changed_at = MessageState.ACCEPTED, now
    message.save(update_fields=["completion", "state", "changed_at"])
    return completion


def _take_back(message: Message, state: MessageState, *, now: dt.datetime) -> None:
    """Give a locked message a state, and delete the completion that it may have, with its hold.

    Raises
    ------
    CompletionFixedError
        If it is compared or labelled.
    """
    completion_id, message.completion = message.completion_id, None
    message.state, message.changed_at = state, now
    message.save(update_fields=["completion", "state", "changed_at"])
    if completion_id is None:
        return
    completion = lock_unfixed(completion_id)
    Hold.objects.filter(completion=completion).delete()
    try:
        completion.delete()
    except ProtectedError as error:  # planned with before texts were fixed
        raise CompletionFixedError from error


def _created(message: Message, revision: MessageRevision, *, now: dt.datetime) -> Completion:
    lease = message.lease
    return Completion.objects.create(
        context_id=lease.context_id,
        system=system_of_writer(lease.writer),
        writer=lease.writer,
        text=revision.text,
        content_hash=revision.content_hash,
        created_at=now,
    )


def _replaced(completion_id: int, revision: MessageRevision) -> Completion:
    completion = lock_unfixed(completion_id)
    if completion.content_hash != revision.content_hash:
        Hold.objects.filter(completion=completion).delete()
        completion.text, completion.content_hash = revision.text, revision.content_hash
        completion.save(update_fields=["text", "content_hash"])
    return completion


@transaction.atomic
def reveal_author(*, message: Message, by: User | None, now: dt.datetime) -> Writer:
    """Return who wrote the message, and log that ``by`` asked.

    They come with the numbers of their messages, without those written on trial, by what became of
    them: ``n_sent``, ``n_accepted``, ``n_returned`` (ever) and ``n_rejected``.
    """
    record(action="message.author_shown", subject=f"message {message.pk}", now=now, by=by)
    state, verdict = "leases__message__state", "leases__message__revisions__decisions__verdict"
    sent = ~Q(**{state: MessageState.TRIAL})
    kinds = {
        "n_sent": sent,
        "n_accepted": Q(**{state: MessageState.ACCEPTED}),
        "n_returned": sent & Q(**{verdict: MessageVerdict.RETURNED}),
        "n_rejected": Q(**{state: MessageState.REJECTED}),
    }
    counts = {
        name: Count("leases__message", filter=kind, distinct=True) for name, kind in kinds.items()
    }
    author = WritingLease.objects.filter(message=message).values("writer")
    return Writer.objects.annotate(**counts).get(pk__in=author)
