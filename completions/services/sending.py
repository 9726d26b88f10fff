"""Keep what writers type, and record what they send."""

import datetime as dt
import hashlib
import uuid

from django.db import transaction

from completions import wording
from completions.choices import LeaseOutcome, SystemKind
from completions.models import Completion, System, Writer
from completions.services.leasing import (
    close_lease,
    lock_active_writer,
    lock_lease,
    take_slot_again,
)

HUMAN_SYSTEM = {"name": "Human supporters", "kind": SystemKind.HUMAN}


class OwnWordsMissingError(Exception):
    """The writer did not declare that the words are their own."""


@transaction.atomic
def save_draft(*, token: uuid.UUID, writer: Writer, text: str) -> None:
    """Keep what is typed so far.

    Raises
    ------
    WritingLeaseNotFoundError
        If ``writer`` holds no lease with this token, or has withdrawn.
    """
    lease = lock_lease(token, writer)
    if lease.outcome != LeaseOutcome.SUBMITTED:
        lease.draft = text[: wording.MAX_CHARACTERS]
        lease.save(update_fields=["draft"])


def submit_completion(
    *, token: uuid.UUID, writer: Writer, text: str, is_own_words: bool, now: dt.datetime
) -> Completion:
    """Store a completion and close its lease; what cannot be accepted is kept as the draft.

    A repeated submission returns the completion already stored. One that comes after the lease
    was given back takes a slot again if one is free.

    Raises
    ------
    WritingLeaseNotFoundError
        If ``writer`` holds no lease with this token, or has withdrawn.
    wording.UnusableTextError
        If the text is empty, far too short or far too long.
    OwnWordsMissingError
        If the declaration is missing.
    WriterNotActiveError
        If the writer may not write any more.
    ContextTakenError
        If the lease was given back and the context needs no more completions.
    """
    save_draft(token=token, writer=writer, text=text)
    text = wording.check_text(text)
    if not is_own_words:
        raise OwnWordsMissingError
    return _submit(token=token, writer=writer, text=text, now=now)


@transaction.atomic
def _submit(*, token: uuid.UUID, writer: Writer, text: str, now: dt.datetime) -> Completion:
    writer = lock_active_writer(writer)
    lease = lock_lease(token, writer)
    stored = Completion.objects.filter(context=lease.context_id, writer=writer).first()
    if stored is not None:
        return stored
    if lease.closed_at is not None:
        take_slot_again(lease.context_id)
    human, _ = System.objects.get_or_create(slug="human", defaults=HUMAN_SYSTEM)
    completion = Completion.objects.create(
        context_id=lease.context_id,
        system=human,
        writer=writer,
        text=text,
        content_hash=hashlib.sha256(text.encode()).hexdigest(),
        created_at=now,
    )
    lease.skip_reason = ""
    close_lease(lease, outcome=LeaseOutcome.SUBMITTED, now=now)
    return completion
