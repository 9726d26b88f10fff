"""Forget a writer who withdraws, and delete what they wrote if they wish it (ADR-0008).

``annotation.raters.services.withdraw_writer`` is the whole act: it also knows what compares
their texts.
"""

import datetime as dt

from django.db.models import F, QuerySet

from completions.choices import MessageState, WriterState
from completions.models import Completion, Context, Hold, Message, MessageRevision, Writer
from completions.strategies.services.labelling import forget_labels
from completions.writers.services.leaving import lock_contexts

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
    """Delete what the writer wrote from rows that are locked; return its completions, by key.

    The rows stay as tombstones: that there was a message, when, and what became of it. Its place
    is free for somebody else.
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
    return _erase_completions(writer, now=now)


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
