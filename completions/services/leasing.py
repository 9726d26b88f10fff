"""Hand contexts out to writers and take them back (ADR-0005)."""

import datetime as dt
import uuid

from django.db import transaction
from django.db.models import F

from completions import selectors
from completions.choices import LeaseOutcome, WriterState
from completions.models import Context, Writer, WritingLease

LEASE_LENGTH = dt.timedelta(hours=2)


class WriterNotActiveError(Exception):
    """The writer has not agreed yet, is paused, or has left."""


class WritingLeaseNotFoundError(Exception):
    """The token is unknown or belongs to another writer."""


class DatasetFrozenError(Exception):
    """The texts that people write for the dataset do not change any more."""


class ContextTakenError(Exception):
    """The claim was given back, and the context wants no more completions; the draft is kept."""


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
    writer = lock_active_writer(writer)
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
def skip_context(*, token: uuid.UUID, writer: Writer, reason: str, now: dt.datetime) -> None:
    """Give the context back without a text; this writer never gets it again.

    Raises
    ------
    WritingLeaseNotFoundError
        If ``writer`` holds no lease with this token.
    """
    lease = lock_lease(token, lock_writer(writer))
    if lease.closed_at is None:
        lease.skip_reason = reason
        give_back(lease, outcome=LeaseOutcome.SKIPPED, now=now)


@transaction.atomic
def release_expired_writing_leases(*, now: dt.datetime) -> int:
    """Close every writing lease past its time, give the slots back, and return how many."""
    expired = WritingLease.objects.filter(closed_at=None, expires_at__lte=now)
    # Rows that a submission holds right now are left to it; one lock order, so no deadlock.
    leases = list(expired.order_by("context_id", "pk").select_for_update(skip_locked=True))
    for lease in leases:
        give_back(lease, outcome=LeaseOutcome.EXPIRED, now=now)
    return len(leases)


def lock_writer(writer: Writer) -> Writer:
    """Lock the writer's row: one claim or submission at a time per person."""
    return Writer.objects.select_for_update().get(pk=writer.pk)


def lock_active_writer(writer: Writer) -> Writer:
    """Lock the writer's row, and refuse who may not write."""
    writer = lock_writer(writer)
    if not selectors.is_writing(writer):
        raise WriterNotActiveError
    return writer


def lock_lease(token: uuid.UUID, writer: Writer) -> WritingLease:
    """Lock the lease that the writer has with this token, open or closed."""
    leases = WritingLease.objects.exclude(writer__state=WriterState.WITHDRAWN)
    mine = leases.filter(token=token, writer=writer)
    lease = mine.select_for_update(of=("self",)).first()
    if lease is None:
        raise WritingLeaseNotFoundError
    return lease


def take_slot_again(context_id: int) -> None:
    """Take a slot of a context that was given back, if one is free."""
    free = Context.objects.in_use().filter(pk=context_id, slots_left__gt=0)
    if not free.update(slots_left=F("slots_left") - 1):
        raise ContextTakenError


def close_lease(lease: WritingLease, *, outcome: LeaseOutcome, now: dt.datetime) -> None:
    """End a locked lease."""
    lease.closed_at = now
    lease.outcome = outcome
    lease.save(update_fields=["closed_at", "outcome", "skip_reason"])


def give_back(lease: WritingLease, *, outcome: LeaseOutcome, now: dt.datetime) -> None:
    """End a locked lease, and give its slot back."""
    Context.objects.filter(pk=lease.context_id).update(slots_left=F("slots_left") + 1)
    close_lease(lease, outcome=outcome, now=now)


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
