"""Tell a reviewer who wrote a message, and keep that they asked (ADR-0035)."""

import datetime as dt
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction

from access.log import record
from completions.choices import MessageState, MessageVerdict
from completions.models import Message, Writer, WritingLease


@dataclass(frozen=True)
class Author:
    """Who wrote a message, and what became of all that this person sent."""

    code: str
    background: str
    is_simulated: bool
    n_sent: int
    n_accepted: int
    n_returned: int
    n_rejected: int


@transaction.atomic
def reveal_author(*, message: Message, by: User | None, now: dt.datetime) -> Author:
    """Return who wrote the message, and log that ``by`` asked."""
    lease = WritingLease.objects.select_related("writer").get(message=message)
    record(action="message.author_shown", subject=f"message {message.pk}", now=now, by=by)
    return _author(lease.writer)


def _author(writer: Writer) -> Author:
    """Count what the writer sent, without what was written on trial."""
    sent = Message.objects.filter(lease__writer=writer).exclude(state=MessageState.TRIAL)
    returned = sent.filter(revisions__decisions__verdict=MessageVerdict.RETURNED).distinct()
    states = list(sent.values_list("state", flat=True))
    return Author(
        code=writer.code,
        background=writer.get_background_display(),
        is_simulated=writer.is_simulated,
        n_sent=len(states),
        n_accepted=states.count(MessageState.ACCEPTED),
        n_returned=returned.count(),
        n_rejected=states.count(MessageState.REJECTED),
    )
