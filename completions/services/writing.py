"""Invite writers, lease contexts to them and record what they write (ADR-0005)."""

import datetime as dt
import hashlib
import uuid

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F

from completions import selectors, wording
from completions.choices import LeaseOutcome, SystemKind, WriterState
from completions.models import (
    Completion,
    Context,
    Dataset,
    System,
    Writer,
    WriterConsent,
    WritingLease,
)
from completions.services.codes import new_code
from completions.services.log import record

LEASE_LENGTH = dt.timedelta(hours=2)
HUMAN_SYSTEM = {"name": "Human supporters", "kind": SystemKind.HUMAN}


class WriterNotActiveError(Exception):
    """The writer has not agreed yet, is paused, or has left."""


class WritingLeaseNotFoundError(Exception):
    """The token is unknown or belongs to another writer."""


class ContextTakenError(Exception):
    """The claim was given back, and the context wants no more completions; the draft is kept."""


class OwnWordsMissingError(Exception):
    """The writer did not declare that the words are their own."""


@transaction.atomic
def invite_writer(
    *, dataset: Dataset, now: dt.datetime, email: str = "", by: User | None = None
) -> Writer:
    """Create a writer of the dataset's pool, to be sent a personal link.

    Inviting the same address again, however it is capitalised, returns the writer it already has.
    """
    # One invitation at a time; no_key, so that other rows of the dataset are stored meanwhile.
    dataset = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
    email = email.strip().lower()
    if email and (known := dataset.writers.filter(email=email).first()) is not None:
        return known
    code = new_code("W")
    writer = Writer.objects.create(dataset=dataset, code=code, email=email, invited_at=now)
    record(action="writer.invited", subject=f"writer {code}", now=now, by=by)
    return writer


@transaction.atomic
def accept_invitation(
    *, writer: Writer, consent_version: str, consent_text: str, now: dt.datetime
) -> Writer:
    """Store the writer's consent and make an invited writer active; repeating it is harmless.

    Raises
    ------
    WriterNotActiveError
        If the writer was paused or has left.
    """
    writer = _locked(writer)
    if writer.state == WriterState.INVITED:
        writer.state = WriterState.ACTIVE
        writer.save(update_fields=["state"])
        WriterConsent.objects.create(
            writer=writer,
            version=consent_version,
            text_hash=hashlib.sha256(consent_text.encode()).hexdigest(),
            given_at=now,
        )
    if writer.state != WriterState.ACTIVE:
        raise WriterNotActiveError
    return writer


@transaction.atomic
def lease_next_context(*, writer: Writer, now: dt.datetime) -> WritingLease | None:
    """Return the writer's open lease, prolonged if need be, or claim the next context.

    Contexts with the most completions missing come first. Returns None when nothing is left
    that this writer never had.

    Raises
    ------
    WriterNotActiveError
        If the writer may not write.
    """
    writer = _active(writer)
    if (held := _held_lease(writer, now=now)) is not None:
        return held
    context = _claimable(writer)
    if context is None:
        return None
    Context.objects.filter(pk=context.pk).update(slots_left=F("slots_left") - 1)
    return WritingLease.objects.create(
        context=context, writer=writer, issued_at=now, expires_at=now + LEASE_LENGTH
    )


@transaction.atomic
def save_draft(*, token: uuid.UUID, writer: Writer, text: str) -> None:
    """Keep what is typed so far.

    Raises
    ------
    WritingLeaseNotFoundError
        If ``writer`` holds no lease with this token, or has withdrawn.
    """
    lease = _lease(token, writer)
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
    writer = _active(writer)
    lease = _lease(token, writer)
    stored = Completion.objects.filter(context=lease.context_id, writer=writer).first()
    if stored is not None:
        return stored
    if lease.closed_at is not None:
        _take_slot_again(lease.context_id)
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
    _close(lease, outcome=LeaseOutcome.SUBMITTED, now=now)
    return completion


@transaction.atomic
def skip_context(*, token: uuid.UUID, writer: Writer, reason: str, now: dt.datetime) -> None:
    """Give the context back without a text; this writer never gets it again.

    Raises
    ------
    WritingLeaseNotFoundError
        If ``writer`` holds no lease with this token.
    """
    lease = _lease(token, _locked(writer))
    if lease.closed_at is None:
        lease.skip_reason = reason
        _give_back(lease, outcome=LeaseOutcome.SKIPPED, now=now)


@transaction.atomic
def release_expired_writing_leases(*, now: dt.datetime) -> int:
    """Close every writing lease past its time, give the slots back, and return how many."""
    expired = WritingLease.objects.filter(closed_at=None, expires_at__lte=now)
    # Rows that a submission holds right now are left to it; one lock order, so no deadlock.
    leases = list(expired.order_by("context_id", "pk").select_for_update(skip_locked=True))
    for lease in leases:
        _give_back(lease, outcome=LeaseOutcome.EXPIRED, now=now)
    return len(leases)


def _locked(writer: Writer) -> Writer:
    """Lock the writer's row: one claim or submission at a time per person."""
    return Writer.objects.select_for_update().get(pk=writer.pk)


def _active(writer: Writer) -> Writer:
    writer = _locked(writer)
    if not selectors.is_writing(writer):
        raise WriterNotActiveError
    return writer


def _lease(token: uuid.UUID, writer: Writer) -> WritingLease:
    """Lock the lease that the writer has with this token, open or closed."""
    leases = WritingLease.objects.exclude(writer__state=WriterState.WITHDRAWN)
    mine = leases.filter(token=token, writer=writer)
    lease = mine.select_for_update(of=("self",)).first()
    if lease is None:
        raise WritingLeaseNotFoundError
    return lease


def _held_lease(writer: Writer, *, now: dt.datetime) -> WritingLease | None:
    """Return the writer's open lease, prolonged if it ran out."""
    # Locked: a sweep that is closing it is waited for, and then it is gone.
    leases = writer.leases.select_related("context").select_for_update(of=("self",))
    lease = leases.filter(closed_at=None).first()
    if lease is not None and lease.expires_at <= now:
        lease.expires_at = now + LEASE_LENGTH
        lease.save(update_fields=["expires_at"])
    return lease


def _claimable(writer: Writer) -> Context | None:
    """Lock the best context: one that nobody holds, or, when all are held, the first to be free."""
    free = selectors.open_contexts(writer)
    nobodys = free.select_for_update(skip_locked=True, no_key=True).first()
    return nobodys or free.select_for_update(no_key=True).first()


def _take_slot_again(context_id: int) -> None:
    free = Context.objects.in_use().filter(pk=context_id, slots_left__gt=0)
    if not free.update(slots_left=F("slots_left") - 1):
        raise ContextTakenError


def _give_back(lease: WritingLease, *, outcome: LeaseOutcome, now: dt.datetime) -> None:
    Context.objects.filter(pk=lease.context_id).update(slots_left=F("slots_left") + 1)
    _close(lease, outcome=outcome, now=now)


def _close(lease: WritingLease, *, outcome: LeaseOutcome, now: dt.datetime) -> None:
    lease.closed_at = now
    lease.outcome = outcome
    lease.save(update_fields=["closed_at", "outcome", "skip_reason"])
