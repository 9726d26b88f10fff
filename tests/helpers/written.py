"""Writers who lease, write and skip, messages of theirs, and decisions on these."""

import datetime as dt
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from completions.choices import LeaseOutcome, MessageState, MessageVerdict, Stratum
from completions.models import Completion, Context, Dataset, Message, Writer, WritingLease
from completions.writers.services import sending
from completions.writers.services.leasing import lease_next_context, skip_context
from completions.writers.services.review_decisions import decide_message
from completions.writers.services.sending import Typed, send_message
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_context,
    make_writer,
    make_writing_lease,
)
from tests.helpers.factories_of_people import make_message, make_revision
from tests.helpers.factories_written_once import make_member

SECOND = dt.timedelta(seconds=1)
TEXT = "That sounds lonely. What would a good evening look like?"


def lease_next(writer: Writer, now: dt.datetime = NOW) -> Any:
    return lease_next_context(writer=writer, now=now)


def send(
    lease: WritingLease,
    text: str = TEXT,
    *,
    is_own_words: bool = True,
    has_looked_again: bool = False,
    writer: Writer | None = None,
    now: dt.datetime = NOW,
    **signals: int,
) -> Message:
    return send_message(
        token=lease.token,
        writer=writer or lease.writer,
        typed=Typed(text, **signals),
        is_own_words=is_own_words,
        has_looked_again=has_looked_again,
        now=now,
    )


def skip(lease: WritingLease, reason: str = "upsetting", now: dt.datetime = NOW) -> None:
    skip_context(token=lease.token, writer=lease.writer, reason=reason, now=now)


def save_draft(
    lease: WritingLease,
    text: str = "I can hear how",
    *,
    writer: Writer | None = None,
    seen: int | None = None,
    **signals: int,
) -> None:
    typed = Typed(text, **signals, seen=seen)
    sending.save_draft(token=lease.token, writer=writer or lease.writer, typed=typed)


def draft_of(lease: WritingLease) -> str:
    return WritingLease.objects.get(pk=lease.pk).draft


def slots_of(context: Context) -> int:
    return Context.objects.get(pk=context.pk).slots_left


def writers_of(context: Context) -> list[int]:
    """The people who sent a message for the context, one entry a message."""
    return list(
        Message.objects.filter(lease__context=context).values_list("lease__writer", flat=True)
    )


def make_open_context(dataset: Dataset, slots_left: int = 3) -> Context:
    return make_context(dataset=dataset, slots_left=slots_left)


def set_state(writer: Writer, state: str) -> None:
    Writer.objects.filter(pk=writer.pk).update(state=state)


ACCEPT, RETURN, REJECT = MessageVerdict.ACCEPTED, MessageVerdict.RETURNED, MessageVerdict.REJECTED
NOTE = "Please leave the advice out."
SECOND_TEXT = "It must be hard to come home to an empty flat every night."


def decide(message, verdict, note=None, *, by=None, now=NOW + HOUR, **fields):
    note = ("" if verdict == ACCEPT else NOTE) if note is None else note
    return decide_message(message=message, verdict=verdict, note=note, by=by, now=now, **fields)


def stored(message):
    return Message.objects.select_related("completion", "lease").get(pk=message.pk)


def slots_of_message(message):
    return Context.objects.get(writing_leases__message=message).slots_left


def revised(message, text=SECOND_TEXT):
    """Send a second version of an accepted or returned message."""
    Message.objects.filter(pk=message.pk).update(state=MessageState.WAITING)
    return make_revision(message=message, text=text)


def fix(message):
    Completion.objects.filter(message=message).update(fixed_at=NOW)


def freeze(message):
    dataset = message.lease.context.dataset
    dataset.frozen_at = NOW
    dataset.save(update_fields=["frozen_at"])


WORDS = "It must be hard to come home to an empty flat every night."


def make_read(
    dataset: Dataset, text: str = WORDS, *, stratum: str = Stratum.REGULAR, **fields: Any
) -> Message:
    """A message that waits; ``fields`` are of its version, but for ``state``, ``writer``."""
    context = make_context(dataset=dataset, stratum=stratum)
    lease = make_writing_lease(
        context=context,
        writer=fields.pop("writer", None) or make_writer(dataset=dataset),
        closed_at=NOW,
        outcome=LeaseOutcome.SUBMITTED,
    )
    state = {"state": fields.pop("state")} if "state" in fields else {}
    message = make_message(lease=lease, **state)
    make_revision(message=message, text=text, **fields)
    return message


def completion_of(message: Message) -> Completion:
    """Return what came of an accepted message."""
    return Completion.objects.get(message=message)


def staff() -> tuple[Client, User]:
    """Sign an admin in."""
    user, client = make_member(), Client()
    client.force_login(user)
    return client, user
