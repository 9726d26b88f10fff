"""Let writers pause, go on, leave, and withdraw with what they wrote if they wish it (ADR-0008)."""

import datetime as dt
from collections.abc import Collection

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, QuerySet

from access.log import record
from completions.choices import LeaseOutcome, MessageState, WriterState
from completions.models import (
    AdmissionDecision,
    Completion,
    Context,
    Hold,
    Message,
    MessageDecision,
    MessageRevision,
    Writer,
)
from completions.runs.services.quoted_labels import DELETED
from completions.strategies.services.labelling import forget_labels
from completions.writers.queries import AGREED, MAY_COME_IN
from completions.writers.services.leasing import WriterNotActiveError, give_back, lock_writer
from completions.writers.services.vetting import move_on

_RESUMED = {WriterState.PAUSED: "writer.resumed", WriterState.LEFT: "writer.taken_back"}
"""States from which somebody goes on, and what the log calls it."""


@transaction.atomic
def pause_writer(*, writer: Writer, now: dt.datetime, by: User | None = None) -> Writer:
    """Hand a writer no more dialogues for a while; drafts and a dialogue they hold stay theirs.

    A pause of their own (``by`` is nobody) they end themselves, one that an admin put on them
    only an admin. An admin's pause takes the place of their own, and not the other way round.

    Raises
    ------
    WriterNotActiveError
        If the writer has not agreed yet, or is not here any more.
    """
    writer = lock_writer(writer)
    if writer.state not in MAY_COME_IN:
        raise WriterNotActiveError
    is_own = by is None
    if writer.state == WriterState.PAUSED and (is_own or not writer.may_resume):
        return writer
    before = writer.state
    writer.state, writer.may_resume = WriterState.PAUSED, is_own
    writer.save(update_fields=["state", "may_resume"])
    _log("writer.paused", writer, before, now=now, by=by)
    return writer


@transaction.atomic
def resume_writer(*, writer: Writer, now: dt.datetime, by: User | None = None) -> Writer:
    """Let a writer on pause go on where they were; who is not on pause stays where they are.

    An admin also takes somebody back who has left: with what they sent, under the same code.

    Raises
    ------
    WriterNotActiveError
        If they ask for it themselves (``by`` is nobody) and an admin put the pause on them or
        they have left, or if they are not here any more.
    """
    writer = lock_writer(writer)
    if writer.state in AGREED:
        return writer
    before = writer.state
    if before not in _RESUMED or (by is None and not writer.may_resume):
        raise WriterNotActiveError
    writer.may_resume = False
    writer.save(update_fields=["may_resume"])
    move_on(writer, now=now)
    _log(_RESUMED[WriterState(before)], writer, before, now=now, by=by)
    return writer


@transaction.atomic
def leave(*, writer: Writer, now: dt.datetime) -> Writer:
    """End a writer's part; repeating it is harmless.

    What they sent stays: accepted messages go on counting, and those that wait are still read.
    Mails that wait to be sent are deleted. A dialogue that they hold goes to somebody else, and so
    does one whose message was sent back.

    Raises
    ------
    WriterNotActiveError
        If the writer has not agreed yet, or is not here any more.
    """
    writer = lock_writer(writer)
    if writer.state == WriterState.LEFT:
        return writer
    if writer.state not in MAY_COME_IN:
        raise WriterNotActiveError
    before = writer.state
    give_work_back(writer, now=now)
    writer.mails.filter(sent_at=None).delete()
    writer.state, writer.may_resume = WriterState.LEFT, False
    writer.save(update_fields=["state", "may_resume"])
    _log("writer.left", writer, before, now=now)
    return writer


def give_work_back(writer: Writer, *, now: dt.datetime) -> None:
    """Give back what a locked writer holds, and what was sent back to them to be mended."""
    held = writer.leases.select_for_update(of=("self",)).filter(closed_at=None).first()
    sent_back = Message.objects.filter(lease__writer=writer, state=MessageState.RETURNED)
    lapsed = list(sent_back.select_for_update(of=("self",)).select_related("lease").order_by("pk"))
    contexts = [message.lease.context_id for message in lapsed if message.completion_id is None]
    lock_contexts([*contexts, *([held.context_id] if held is not None else [])])
    for message in lapsed:
        _lapse(message, now=now)
    if held is not None:
        give_back(held, outcome=LeaseOutcome.RELEASED, now=now)
    Context.objects.filter(pk__in=contexts).update(slots_left=F("slots_left") + 1)


def lock_contexts(pks: Collection[int]) -> None:
    """Lock the contexts whose slots will change, in one order, so that no two wait in a circle."""
    rows = Context.objects.filter(pk__in=pks).order_by("pk")
    list(rows.select_for_update(no_key=True).values_list("pk"))


def _lapse(message: Message, *, now: dt.datetime) -> None:
    """Close a message that nobody will mend; an older text of it that was accepted stays."""
    is_accepted = message.completion_id is not None
    message.state = MessageState.ACCEPTED if is_accepted else MessageState.LAPSED
    message.changed_at = now
    message.save(update_fields=["state", "changed_at"])


def _log(
    action: str, writer: Writer, before: str, *, now: dt.datetime, by: User | None = None
) -> None:
    record(
        action=action,
        subject=f"writer {writer.code}",
        now=now,
        by=by,
        before={"state": before},
        after={"state": writer.state},
    )


TAKING_A_SLOT = (MessageState.WAITING, MessageState.ACCEPTED)
"""States of messages that count as one of those which a context wants."""
UNTYPED = {"typing_ms": 0, "pastes": 0, "pasted_characters": 0}
"""How a text came about, of none."""


def lock_work(writer: Writer) -> None:
    """Lock all rows of a locked writer's work: leases, messages, completions, contexts.

    Each table in one statement and in the order of its keys, so that nobody waits in a circle.
    """
    leases = writer.leases.order_by("pk").select_for_update()
    contexts = set(leases.values_list("context_id", flat=True))
    messages = Message.objects.filter(lease__writer=writer).order_by("pk")
    list(messages.select_for_update().values_list("pk"))
    completions = writer.completions.order_by("pk").select_for_update()
    contexts |= set(completions.values_list("context_id", flat=True))
    lock_contexts(contexts)


def erase_texts(writer: Writer, *, now: dt.datetime) -> list[int]:
    """Delete what the writer wrote, and notes about it; return its completions, by key.

    Its rows are locked, and stay as tombstones: that there was a message, when, and what became
    of it. Its place is free for somebody else.
    """
    messages = Message.objects.filter(lease__writer=writer)
    places = messages.filter(state__in=TAKING_A_SLOT, lease__is_trial=False)
    freed = list(places.values_list("lease__context_id", flat=True))
    Context.objects.filter(pk__in=freed).update(slots_left=F("slots_left") + 1)
    messages.update(state=MessageState.ERASED, changed_at=now)
    # The exception to rows that are written once (ADR-0008): a plain queryset, on purpose.
    revisions: QuerySet[MessageRevision] = QuerySet(MessageRevision)
    written = revisions.filter(message__lease__writer=writer, erased_at=None)
    written.update(text="", flags=[], erased_at=now, **UNTYPED)
    writer.leases.update(skip_reason="")
    _erase_notes(writer)
    return _erase_completions(writer, now=now)


def _erase_notes(writer: Writer) -> None:
    """Delete what was written to the writer about the texts: such notes quote them."""
    # The exceptions to rows that are written once (ADR-0008): plain querysets, on purpose.
    reviewed: QuerySet[MessageDecision] = QuerySet(MessageDecision)
    reviewed = reviewed.filter(revision__message__lease__writer=writer)
    reviewed.exclude(note="").update(note=DELETED)
    admitted: QuerySet[AdmissionDecision] = QuerySet(AdmissionDecision)
    admitted.filter(writer=writer).exclude(note="").update(note=DELETED)
    writer.mails.exclude(note="").update(note="")


def forget_person(writer: Writer, *, texts_kept: bool) -> None:
    """Remove from a locked writer what links them to a person, and all that was never sent."""
    writer.leases.update(draft="", **UNTYPED)
    writer.mails.filter(sent_at=None).delete()
    writer.state, writer.texts_kept = WriterState.WITHDRAWN, texts_kept
    writer.email = writer.background = writer.imported_as = ""
    writer.may_resume = False
    writer.save()


def _erase_completions(writer: Writer, *, now: dt.datetime) -> list[int]:
    completions = writer.completions.filter(erased_at=None)
    pks = list(completions.values_list("pk", flat=True))
    Hold.objects.filter(completion__in=pks).delete()  # its reasons quote the text
    Completion.objects.filter(pk__in=pks).update(text="", erased_at=now)
    forget_labels(pks, now=now)
    return pks
