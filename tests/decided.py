"""Decisions on messages, and what tests look at afterwards."""

from completions.choices import MessageState, MessageVerdict
from completions.models import Completion, Context, Message
from completions.writers import services
from tests.factories import HOUR, NOW
from tests.factories_of_writing import make_revision

ACCEPT, RETURN, REJECT = MessageVerdict.ACCEPTED, MessageVerdict.RETURNED, MessageVerdict.REJECTED
NOTE = "Please leave the advice out."
SECOND = "It must be hard to come home to an empty flat every night."


def decide(message, verdict, note=None, *, by=None, now=NOW + HOUR, **fields):
    note = ("" if verdict == ACCEPT else NOTE) if note is None else note
    return services.decide_message(
        message=message, verdict=verdict, note=note, by=by, now=now, **fields
    )


def stored(message):
    return Message.objects.select_related("completion", "lease").get(pk=message.pk)


def slots_of(message):
    return Context.objects.get(writing_leases__message=message).slots_left


def revised(message, text=SECOND):
    """Send a second version of an accepted or returned message."""
    Message.objects.filter(pk=message.pk).update(state=MessageState.WAITING)
    return make_revision(message=message, text=text)


def fix(message):
    Completion.objects.filter(message=message).update(fixed_at=NOW)


def freeze(message):
    dataset = message.lease.context.dataset
    dataset.frozen_at = NOW
    dataset.save(update_fields=["frozen_at"])
