"""Make completions of accepted messages, and take them back (ADR-0035)."""

import datetime as dt

from django.db import transaction
from django.db.models import ProtectedError

from completions.choices import MessageState
from completions.dialogues.locking import CompletionFixedError, lock_unfixed
from completions.models import Completion, Hold, Message, MessageRevision
from completions.systems.services.registering import system_of_writer


@transaction.atomic
def complete_message(
    *, message: Message, revision: MessageRevision, now: dt.datetime
) -> Completion:
    """Accept a version: it becomes the message's completion, or that completion's new text.

    A hold on another text goes with that text; the next plan looks at the new one.

    Raises
    ------
    CompletionFixedError
        If the text that the message has is compared or labelled.
    """
    if message.completion_id is None:
        completion = _created(message, revision, now=now)
    else:
        completion = _replaced(message.completion_id, revision)
    message.completion = completion
    message.state, message.changed_at = MessageState.ACCEPTED, now
    message.save(update_fields=["completion", "state", "changed_at"])
    return completion


def take_completion_back(message: Message, *, state: MessageState, now: dt.datetime) -> None:
    """Delete the completion of a locked message, with its hold, and give the message a ``state``.

    Raises
    ------
    CompletionFixedError
        If it is compared or labelled.
    """
    if message.completion_id is None:
        msg = f"message {message.pk} has no completion"
        raise ValueError(msg)
    completion = lock_unfixed(message.completion_id)
    message.completion = None
    message.state, message.changed_at = state, now
    message.save(update_fields=["completion", "state", "changed_at"])
    Hold.objects.filter(completion=completion).delete()
    try:
        completion.delete()
    except ProtectedError as error:  # planned with before texts were fixed
        raise CompletionFixedError from error


def _created(message: Message, revision: MessageRevision, *, now: dt.datetime) -> Completion:
    lease = message.lease
    return Completion.objects.create(
        context_id=lease.context_id,
        system=system_of_writer(lease.writer),
        writer=lease.writer,
        text=revision.text,
        content_hash=revision.content_hash,
        created_at=now,
    )


def _replaced(completion_id: int, revision: MessageRevision) -> Completion:
    completion = lock_unfixed(completion_id)
    if completion.content_hash != revision.content_hash:
        Hold.objects.filter(completion=completion).delete()
        completion.text, completion.content_hash = revision.text, revision.content_hash
        completion.save(update_fields=["text", "content_hash"])
    return completion
