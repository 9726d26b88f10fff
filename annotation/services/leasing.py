"""Hand comparisons out to raters and take them back (ADR-0005, ADR-0006)."""

import datetime as dt
import uuid
from collections.abc import Iterator

from django.db import transaction
from django.db.models import QuerySet

from annotation import design, selectors
from annotation.choices import RaterState, Side, StudyState
from annotation.models import Comparison, Lease, Rater
from annotation.services import slots
from completions.choices import LeaseOutcome


class StudyNotOpenError(Exception):
    """The study hands out no work at the moment."""


class RaterEndedError(Exception):
    """The rater has finished, stopped or withdrawn."""


@transaction.atomic
def lease_next_comparison(*, rater: Rater, now: dt.datetime) -> Lease | None:
    """Return the rater's open lease, or claim a slot of the next open comparison.

    An open lease that ran out but was not given back yet is simply prolonged: the slot is still
    the rater's. Returns None when the session is full (the rater is then finished) or when
    nothing is left for this rater.

    Raises
    ------
    StudyNotOpenError
        If the study is not open and the rater holds no lease.
    RaterEndedError
        If the rater has finished, stopped or withdrawn.
    """
    rater = slots.lock_rater(rater)
    if rater.state != RaterState.ACTIVE:
        raise RaterEndedError
    if (held := _held_lease(rater, now=now)) is not None:
        return held
    if rater.study.state != StudyState.OPEN:
        raise StudyNotOpenError
    tally = selectors.rater_tally(rater)
    if tally.answered >= rater.study.session_length:
        _end(rater, state=RaterState.FINISHED, now=now)
        return None
    comparison = next(_claimable(rater), None)
    return _claim(comparison, rater=rater, tally=tally, now=now) if comparison else None


@transaction.atomic
def skip_comparison(*, token: uuid.UUID, rater: Rater, reason: str, now: dt.datetime) -> None:
    """Give the slot back without an answer; the rater is never shown this comparison again.

    Repeating it, or skipping what was answered in another tab, changes nothing.

    Raises
    ------
    LeaseNotFoundError
        If ``rater`` holds no lease with this token.
    """
    lease = slots.lock_lease(token, slots.lock_rater(rater))
    if lease.closed_at is None:
        lease.skip_reason = reason
        slots.give_back(lease, outcome=LeaseOutcome.SKIPPED, now=now)


@transaction.atomic
def stop_judging(*, rater: Rater, now: dt.datetime) -> None:
    """End the rater's part early and give an open lease back; what was answered stays."""
    rater = slots.lock_rater(rater)
    if rater.state != RaterState.ACTIVE:
        return
    if (lease := slots.lock_open_lease(rater)) is not None:
        slots.give_back(lease, outcome=LeaseOutcome.RELEASED, now=now)
    _end(rater, state=RaterState.STOPPED, now=now)


@transaction.atomic
def release_expired_leases(*, now: dt.datetime) -> int:
    """Close every lease past its time, give the slots back, and return how many."""
    expired = Lease.objects.filter(closed_at=None, expires_at__lte=now)
    # Rows that a submission holds right now are left to it; one lock order, so no deadlock.
    leases = list(expired.order_by("comparison_id", "pk").select_for_update(skip_locked=True))
    for lease in leases:
        slots.give_back(lease, outcome=LeaseOutcome.EXPIRED, now=now)
    return len(leases)


def _held_lease(rater: Rater, *, now: dt.datetime) -> Lease | None:
    """Return the rater's open lease, prolonged if it ran out."""
    lease = slots.lock_open_lease(rater)
    if lease is not None and lease.expires_at <= now:
        lease.expires_at = now + _length(rater)
        lease.save(update_fields=["expires_at"])
    return lease


def _claimable(rater: Rater) -> Iterator[Comparison]:
    """Yield locked comparisons to take a slot of, best first.

    From the rater's place in the order onwards, then from the start; another context than last
    time if there is one. A row that nobody holds is preferred; a held one is waited for only
    when every free row is held, so "nothing left" is never said while rows are merely busy.
    """
    free = selectors.open_comparisons(rater)
    fresh = free.exclude(context=rater.last_context_id) if rater.last_context_id else free
    for rows in (fresh.filter(position__gte=rater.cursor), fresh, free):
        yield from _first(rows, skip_locked=True)
    yield from _first(free, skip_locked=False)


def _first(rows: QuerySet[Comparison], *, skip_locked: bool) -> Iterator[Comparison]:
    # no_key: rows that refer to this one, judgments above all, are stored without waiting for it.
    yield from rows.select_for_update(skip_locked=skip_locked, of=("self",), no_key=True)[:1]


def _claim(
    comparison: Comparison, *, rater: Rater, tally: selectors.Tally, now: dt.datetime
) -> Lease:
    """Take a slot of the locked comparison, and remember where the rater goes on from."""
    side = _draw_side(comparison, rater=rater, tally=tally)
    slots.take_slot(Comparison.objects.filter(pk=comparison.pk), side=side)
    rater.cursor = comparison.position + 1
    rater.last_context_id = comparison.context_id
    rater.save(update_fields=["cursor", "last_context"])
    return Lease.objects.create(
        comparison=comparison,
        rater=rater,
        first_side=side,
        issued_at=now,
        expires_at=now + _length(rater),
    )


def _draw_side(comparison: Comparison, *, rater: Rater, tally: selectors.Tally) -> Side:
    first_is_a = design.first_goes_to_a(
        seed=rater.study.seed,
        pair=comparison.key,
        shown=(comparison.shown_first_as_a, comparison.shown_first_as_b),
        rater_shown=(tally.first_as_a, tally.first_as_b),
    )
    return Side.A if first_is_a else Side.B


def _length(rater: Rater) -> dt.timedelta:
    return dt.timedelta(minutes=rater.study.lease_minutes)


def _end(rater: Rater, *, state: RaterState, now: dt.datetime) -> None:
    rater.state = state
    rater.ended_at = now
    rater.save(update_fields=["state", "ended_at"])
