"""Writers who lease, write and skip, for tests of what comes of it."""

import datetime as dt
from typing import Any

from completions.models import Context, Dataset, Message, Writer, WritingLease
from completions.writers import services
from tests.factories import NOW, make_context, make_dialogue

SECOND = dt.timedelta(seconds=1)
TEXT = "That sounds lonely. What would a good evening look like?"


def lease_next(writer: Writer, now: dt.datetime = NOW) -> Any:
    return services.lease_next_context(writer=writer, now=now)


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
    return services.send_message(
        token=lease.token,
        writer=writer or lease.writer,
        typed=services.Typed(text, **signals),
        is_own_words=is_own_words,
        has_looked_again=has_looked_again,
        now=now,
    )


def skip(lease: WritingLease, reason: str = "upsetting", now: dt.datetime = NOW) -> None:
    services.skip_context(token=lease.token, writer=lease.writer, reason=reason, now=now)


def save_draft(
    lease: WritingLease,
    text: str = "I can hear how",
    *,
    writer: Writer | None = None,
    seen: int | None = None,
    **signals: int,
) -> None:
    typed = services.Typed(text, **signals, seen=seen)
    services.save_draft(token=lease.token, writer=writer or lease.writer, typed=typed)


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
    return make_context(dialogue=make_dialogue(dataset=dataset), slots_left=slots_left)


def set_state(writer: Writer, state: str) -> None:
    Writer.objects.filter(pk=writer.pk).update(state=state)
