"""Store the messages of a file, a few hundred rows at a time."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.contrib.auth.models import User
from django.db.models import F

from completions.choices import LeaseOutcome, MessageState, MessageVerdict
from completions.dialogues.cutting import digest
from completions.files import BATCH, batches
from completions.models import (
    Context,
    Message,
    MessageDecision,
    MessageRevision,
    Writer,
    WritingLease,
)
from completions.writers.services.completing import complete_message
from completions.writers.services.flagging import Flag, rules
from completions.writers.services.importing.ground import Ground
from completions.writers.services.importing.sifting import Good
from completions.writers.services.leasing import LEASE_LENGTH

ACCEPTED_NOTE = "Read and accepted elsewhere, before it was imported."


def store_writers(ground: Ground) -> None:
    """Add the authors who are new, and keep what is new about the others."""
    Writer.objects.bulk_create(ground.arrived, batch_size=BATCH)
    Writer.objects.bulk_update(ground.described, ["background"], batch_size=BATCH)


def take_slots(ground: Ground) -> None:
    """Take the slots of the locked contexts: one query for all that lose as many."""
    by_number = defaultdict[int, list[int]](list)
    for pk, n in ground.taken.items():
        if n:
            by_number[n].append(pk)
    for n, pks in by_number.items():
        for batch in batches(sorted(pks)):
            Context.objects.filter(pk__in=batch).update(slots_left=F("slots_left") - n)


def store_messages(goods: Sequence[Good], *, now: dt.datetime) -> list[MessageRevision]:
    """Add a closed claim, a message that waits and its one version for each."""
    leases = [_lease(good, now) for good in goods]
    WritingLease.objects.bulk_create(leases, batch_size=BATCH)
    messages = [
        Message(lease=lease, state=MessageState.WAITING, sent_at=now, changed_at=now)
        for lease in leases
    ]
    Message.objects.bulk_create(messages, batch_size=BATCH)
    stored = list(zip(goods, messages, strict=True))
    of_line = {good.draft.row.position: message.pk for good, message in stored}
    revisions = [_revision(good, message, of_line, now=now) for good, message in stored]
    return MessageRevision.objects.bulk_create(revisions, batch_size=BATCH)


def accept(revisions: Sequence[MessageRevision], *, now: dt.datetime, by: User | None) -> None:
    """Make completions of messages that a person read elsewhere, and say so."""
    for revision in revisions:
        complete_message(message=revision.message, revision=revision, now=now)
    decisions = [
        MessageDecision(
            revision=revision,
            verdict=MessageVerdict.ACCEPTED,
            note=ACCEPTED_NOTE,
            decided_at=now,
            decided_by=by,
        )
        for revision in revisions
    ]
    MessageDecision.objects.bulk_create(decisions, batch_size=BATCH)


def _lease(good: Good, now: dt.datetime) -> WritingLease:
    return WritingLease(
        context=good.draft.context,
        writer=good.writer,
        issued_at=now,
        expires_at=now + LEASE_LENGTH,
        closed_at=now,
        outcome=LeaseOutcome.SUBMITTED,
    )


def _revision(
    good: Good, message: Message, of_line: Mapping[int, int], *, now: dt.datetime
) -> MessageRevision:
    row = good.draft.row
    return MessageRevision(
        message=message,
        number=1,
        text=row.text,
        content_hash=digest(row.text),
        is_declared=False,  # nobody was asked here
        flags=list(_flags(good.draft.flags, of_line)),
        rules=rules(),
        written_at=row.written_at or now,
    )


def _flags(flags: Iterable[Flag], of_line: Mapping[int, int]) -> Iterator[Flag]:
    """Yield the flags; one about another row of the file names the message that it became."""
    for flag in flags:
        line = flag.get("row")
        if line is None:
            yield flag
        elif isinstance(line, int) and line in of_line:
            named = {key: value for key, value in flag.items() if key != "row"}
            yield {**named, "message": of_line[line]}
