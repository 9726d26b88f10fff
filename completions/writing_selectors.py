"""Reads of the writer's pages."""

import datetime as dt
import uuid
from collections.abc import Iterator
from typing import TypeAlias

from django.db.models import OuterRef, QuerySet, Subquery

from completions.choices import LeaseOutcome, SystemKind
from completions.models import Context, Message, MessageRevision, Writer, WritingLease

COMPARED = 500  # how many of a writer's own versions a new text is compared with
Source: TypeAlias = tuple[str, int]
Sent: TypeAlias = tuple[uuid.UUID | None, str, dt.datetime]


def lease_of(writer: Writer, *, token: uuid.UUID) -> WritingLease | None:
    """Return the writer's lease with this token, with its context, or None."""
    return writer.leases.select_related("context").filter(token=token).first()


def lease_to_send(writer: Writer, *, token: uuid.UUID) -> WritingLease | None:
    """Return the writer's lease with this token, with its message and the whole dialogue."""
    leases = writer.leases.select_related("message__completion", "context__dialogue")
    return leases.filter(token=token).first()


def text_sent(lease: WritingLease) -> str:
    """Return the newest version that was sent, or an empty text."""
    sent = MessageRevision.objects.filter(message__lease=lease).order_by("-number")
    return sent.values_list("text", flat=True).first() or ""


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
    for pk, text in (
        context.completions.filter(writer=None)
        .exclude(system__kind=SystemKind.ORIGINAL)
        .values_list("pk", "text")
    ):
        yield ("completion", pk), text


def stranded_leases(writer: Writer) -> QuerySet[WritingLease]:
    """Return leases that ran out over a draft which can still be sent, newest first."""
    sendable = Context.objects.in_use().filter(dataset=writer.dataset_id, slots_left__gt=0)
    return (
        writer.leases.select_related("context")
        .filter(outcome=LeaseOutcome.EXPIRED, context__in=sendable)
        .exclude(draft="")
        .order_by("-closed_at", "-pk")
    )


def texts_sent(writer: Writer, *, limit: int) -> list[Sent]:
    """Return the token, the text and the time of what the writer sent last, newest first."""
    leases = WritingLease.objects.filter(context=OuterRef("context"), writer=OuterRef("writer"))
    sent = writer.completions.annotate(token=Subquery(leases.values("token")[:1]))
    rows = sent.order_by("-created_at", "-pk").values_list("token", "text", "created_at")
    return list(rows[:limit])
