"""Messages of one dataset as the console lists them, and an admin who reads them."""

from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from completions.choices import LeaseOutcome, Stratum
from completions.models import Completion, Dataset, Message
from tests.factories import NOW, make_context, make_dialogue, make_writer, make_writing_lease
from tests.factories_of_writing import make_message, make_revision
from tests.factories_written_once import make_member

WORDS = "It must be hard to come home to an empty flat every night."


def make_read(
    dataset: Dataset, text: str = WORDS, *, stratum: str = Stratum.REGULAR, **fields: Any
) -> Message:
    """A message that waits; ``fields`` are of its version, but for ``state``, ``writer``."""
    context = make_context(dialogue=make_dialogue(dataset=dataset), stratum=stratum)
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
