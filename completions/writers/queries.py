"""Reads of the writer's pages, and of what a message that is sent is compared with."""

import uuid
from collections.abc import Iterator
from typing import TypeAlias

from django.db.models import OuterRef, QuerySet, Subquery

from completions.choices import LeaseOutcome, MessageState, SystemKind, WriterState
from completions.dialogues.queries import with_language
from completions.models import (
    Context,
    Message,
    MessageDecision,
    MessageRevision,
    Writer,
    WriterMail,
    WritingLease,
)
from completions.writers.emails import MOST_ATTEMPTS

COMPARED = 500  # how many of a writer's own versions a new text is compared with
REVISABLE = (MessageState.WAITING, MessageState.RETURNED, MessageState.ACCEPTED)
STRANDED = (LeaseOutcome.EXPIRED, LeaseOutcome.RELEASED)
Source: TypeAlias = tuple[str, int]


def lease_of(writer: Writer, *, token: uuid.UUID) -> WritingLease | None:
    """Return the writer's lease with this token, with its context and its message, or None.

    As for all that a writer is shown, the dialogue's language comes with it.
    """
    leases = writer.leases.select_related("message__completion").filter(token=token)
    return with_language(leases, "context").first()


def lease_to_send(writer: Writer, *, token: uuid.UUID) -> WritingLease | None:
    """Return the writer's lease with this token, with its message and the whole dialogue."""
    leases = writer.leases.select_related("message__completion", "context__dialogue")
    return leases.filter(token=token).first()


def waiting_mails() -> QuerySet[WriterMail]:
    """Return the mails that are still to be sent: not given up, and with somewhere to go."""
    waiting = WriterMail.objects.filter(sent_at=None, attempts__lt=MOST_ATTEMPTS)
    return waiting.exclude(writer__email="")


def message_of(lease: WritingLease) -> Message | None:
    """Return the message that was sent under the lease, or None."""
    return getattr(lease, "message", None)


def latest_version(message: Message) -> MessageRevision:
    """Return the version that was sent last."""
    return message.revisions.latest("number")


def latest_note(message: Message) -> str:
    """Return what the reviewer who decided last wrote to the writer."""
    return (
        _decisions().filter(revision__message=message).values_list("note", flat=True).first() or ""
    )


def is_taken(lease: WritingLease) -> bool:
    """Say whether a lease was given back, and others have filled the place."""
    return lease.closed_at is not None and not lease.is_trial and lease.context.slots_left == 0


def is_trial_over(lease: WritingLease, *, writer: Writer) -> bool:
    """Say whether the dialogue is one of a trial that its writer is not on any more."""
    return lease.is_trial and writer.state != WriterState.VETTING


def may_change(message: Message, *, writer: Writer) -> bool:
    """Say whether the writer may still send a new version, if the dataset is not frozen."""
    if message.state == MessageState.TRIAL:
        return writer.state == WriterState.VETTING
    completion = message.completion
    is_settled = completion is not None and (completion.fixed_at or completion.erased_at)
    return message.state in REVISABLE and not is_settled


def stranded_leases(writer: Writer) -> QuerySet[WritingLease]:
    """Return leases that ended over a draft which can still be sent, newest first.

    They ran out, or freezing gave them back and the dataset was thawed since.
    """
    sendable = Context.objects.in_use().filter(
        dataset=writer.dataset_id, dataset__frozen_at=None, slots_left__gt=0
    )
    ended = writer.leases.filter(outcome__in=STRANDED, context__in=sendable).exclude(draft="")
    return with_language(ended, "context").order_by("-closed_at", "-pk")


def messages_sent(writer: Writer) -> QuerySet[Message]:
    """Return the writer's messages that still have a text, those changed last first.

    Each has its lease, its completion, and as ``text`` and ``note`` the latest version and the
    note of the latest decision.
    """
    versions = MessageRevision.objects.filter(message=OuterRef("pk")).order_by("-number")
    decisions = _decisions().filter(revision__message=OuterRef("pk"))
    sent = Message.objects.filter(lease__writer=writer).exclude(state=MessageState.ERASED)
    return (
        with_language(sent.select_related("completion"), "lease__context")
        .annotate(
            text=Subquery(versions.values("text")[:1]), note=Subquery(decisions.values("note")[:1])
        )
        .order_by("-changed_at", "-pk")
    )


def texts_of_writer(writer: Writer, *, without: Message | None) -> Iterator[tuple[Source, str]]:
    """Yield what the writer sent last, every version, save those of one message."""
    sent = MessageRevision.objects.filter(message__lease__writer=writer.pk, erased_at=None)
    if without is not None:
        sent = sent.exclude(message=without)
    for pk, text in sent.order_by("-pk").values_list("message", "text")[:COMPARED]:
        yield ("message", pk), text


def texts_of_others(context: Context, writer: Writer) -> Iterator[tuple[Source, str]]:
    """Yield what others wrote for the context: people, every version, and models."""
    sent = MessageRevision.objects.filter(message__lease__context=context, erased_at=None)
    others = sent.exclude(message__lease__writer=writer.pk)
    for pk, text in others.order_by("pk").values_list("message", "text"):
        yield ("message", pk), text
    made = context.completions.filter(writer=None).exclude(system__kind=SystemKind.ORIGINAL)
    for pk, text in made.order_by("pk").values_list("pk", "text"):
        yield ("completion", pk), text


def _decisions() -> QuerySet[MessageDecision]:
    return MessageDecision.objects.order_by("-pk")
