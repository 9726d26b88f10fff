"""Hand contexts out to writers and take them back (ADR-0005)."""

import datetime as dt
import uuid

from django.db import transaction
from django.db.models import F, QuerySet

from completions.choices import LeaseOutcome, WriterState
from completions.leases import timed
from completions.models import Context, Writer, WritingLease
from completions.writers import queries

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
    """Return the writer's open lease, prolonged if need be, or claim what comes next.

    A newcomer gets the dialogues of the vetting set one by one, everybody else the dialogue that
    lacks most messages, by the rules of ``assigning``. Nobody gets a dialogue twice, whatever
    became of it. Returns None when nothing is left that this writer may have.

    Raises
    ------
    WriterNotActiveError
        If the writer may not write.
    DatasetFrozenError
        If the texts of the dataset do not change any more.
    """
    writer = lock_active_writer(writer)
    refuse_frozen(writer)
    held = timed.lock_open(writer.leases)
    if held is not None:
        timed.prolong(held, length=LEASE_LENGTH, now=now)
        return held
    is_trial = writer.state == WriterState.VETTING
    context = queries.trial_contexts(writer).first() if is_trial else _claim_slot(writer)
    if context is None:
        return None
    return WritingLease.objects.create(
        context=context,
        writer=writer,
        is_trial=is_trial,
        issued_at=now,
        expires_at=now + LEASE_LENGTH,
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
    timed.skip(lease, reason=reason, give_back=give_back, now=now)


@transaction.atomic
def release_expired_writing_leases(*, now: dt.datetime) -> int:
    """Close every writing lease past its time, give the slots back, and return how many.

    Trial leases do not run out: they hold no slot that anybody could be waiting for.
    """
    leases = WritingLease.objects.filter(is_trial=False)
    return timed.sweep(leases, row="context_id", give_back=give_back, now=now)


def lock_writer(writer: Writer) -> Writer:
    """Lock the writer's row: one claim or submission at a time per person."""
    return Writer.objects.select_for_update().get(pk=writer.pk)


def lock_active_writer(writer: Writer) -> Writer:
    """Lock the writer's row, and refuse who may not write."""
    writer = lock_writer(writer)
    if not queries.is_writing(writer):
        raise WriterNotActiveError
    return writer


def refuse_frozen(writer: Writer) -> None:
    """Refuse when the dataset of a locked writer is frozen.

    Whoever freezes it locks all its writers, so what is read here, after the lock, holds.
    """
    if writer.dataset.frozen_at is not None:
        raise DatasetFrozenError


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
    timed.closing(lease, outcome=outcome, now=now).make()


def give_back(lease: WritingLease, *, outcome: LeaseOutcome, now: dt.datetime) -> None:
    """End a locked lease, and give its slot back, if it holds one."""
    if not lease.is_trial:
        Context.objects.filter(pk=lease.context_id).update(slots_left=F("slots_left") + 1)
    close_lease(lease, outcome=outcome, now=now)


def _claim_slot(writer: Writer) -> Context | None:
    """Take a slot of the best dialogue: one that nobody holds, or, when all are held, the first."""
    offered = queries.contexts_to_give(writer)
    context = _lock_first(offered, skip_locked=True) or _wait_for_one(offered)
    if context is not None:
        Context.objects.filter(pk=context.pk).update(slots_left=F("slots_left") - 1)
    return context


def _wait_for_one(offered: QuerySet[Context]) -> Context | None:
    """Lock the first dialogue that is still free when whoever holds it is done."""
    waited = (
        _lock_first(offered.filter(pk=pk), skip_locked=False)
        for pk in list(offered.values_list("pk", flat=True))
    )
    return next(filter(None, waited), None)


def _lock_first(offered: QuerySet[Context], *, skip_locked: bool) -> Context | None:
    """Lock the first dialogue that is still free.

    Those that turn out to be filled are let go before another is waited for: who holds many
    (the sweep, an import, somebody who leaves) takes them in another order.
    """
    with transaction.atomic():
        context = offered.select_for_update(skip_locked=skip_locked, no_key=True).first()
        transaction.set_rollback(context is None)  # to the savepoint, which lets the locks go
    return context
