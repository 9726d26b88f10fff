"""Lease comparisons to raters and record their judgments (ADR-0005, ADR-0006)."""

import datetime as dt
import uuid
from collections.abc import Iterator

from django.db import transaction
from django.db.models import F, QuerySet

from annotation import design, selectors, verdicts
from annotation.choices import RaterState, Side, StudyState
from annotation.models import Comparison, DimensionMark, Judgment, Lease, Rater, Study
from completions.choices import LeaseOutcome


class StudyNotOpenError(Exception):
    """The study hands out no work at the moment."""


class RaterEndedError(Exception):
    """The rater has finished, stopped or withdrawn."""


class LeaseNotFoundError(Exception):
    """The token is unknown or belongs to another rater."""


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
    rater = _locked(rater)
    if rater.state != RaterState.ACTIVE:
        raise RaterEndedError
    length = dt.timedelta(minutes=rater.study.lease_minutes)
    if (held := rater.leases.filter(closed_at=None).first()) is not None:
        if held.expires_at <= now:
            held.expires_at = now + length
            held.save(update_fields=["expires_at"])
        return held
    if rater.study.state != StudyState.OPEN:
        raise StudyNotOpenError
    tally = selectors.rater_tally(rater)
    if tally.answered >= rater.study.session_length:
        _end(rater, state=RaterState.FINISHED, now=now)
        return None
    comparison = next(_claimable(rater), None)
    if comparison is None:
        return None
    side = _draw_side(comparison, rater=rater, tally=tally)
    _take_slot(comparison, side=side)
    Rater.objects.filter(pk=rater.pk).update(
        cursor=comparison.position + 1, last_context=comparison.context_id
    )
    return Lease.objects.create(
        comparison=comparison,
        rater=rater,
        first_side=side,
        issued_at=now,
        expires_at=now + length,
    )


@transaction.atomic
def submit_judgment(
    *,
    token: uuid.UUID,
    rater: Rater,
    answer: verdicts.Answer,
    hidden_ms: int,
    now: dt.datetime,
) -> Judgment:
    """Record an answer given in screen terms and close the lease.

    A repeated submission returns the judgment already stored; a different answer to the same
    lease is stored as a revision of it. An answer that comes after its lease was given back
    takes a slot again if one is free and is kept as surplus otherwise: no work is thrown away.

    Raises
    ------
    LeaseNotFoundError
        If ``rater`` holds no lease with this token, or has withdrawn.
    verdicts.InvalidAnswerError
        If the answer is not on the study's scale.
    """
    rater = _locked(rater)
    lease = (
        Lease.objects.select_for_update(of=("self",))
        .select_related("comparison", "rater")
        .filter(token=token, rater=rater)
        .first()
    )
    if lease is None or rater.state == RaterState.WITHDRAWN:
        raise LeaseNotFoundError
    verdicts.check_answer(
        answer,
        protocol=rater.study.protocol,
        dimensions=selectors.dimension_keys(rater.study),
    )
    canonical = verdicts.swap_frame(answer, first_is_a=lease.first_side == Side.A)
    stored = selectors.current_judgment(lease)
    if stored is not None and _says(stored) == canonical:
        return stored
    judgment = _store(
        canonical, lease=lease, study=rater.study, stored=stored, hidden_ms=hidden_ms, now=now
    )
    if stored is None:
        _close(lease, outcome=LeaseOutcome.SUBMITTED, now=now)
    return judgment


@transaction.atomic
def skip_comparison(*, token: uuid.UUID, rater: Rater, reason: str, now: dt.datetime) -> None:
    """Give the slot back without an answer; the rater is never shown this comparison again.

    Repeating it, or skipping what was answered in another tab, changes nothing.

    Raises
    ------
    LeaseNotFoundError
        If ``rater`` holds no lease with this token.
    """
    rater = _locked(rater)
    lease = Lease.objects.select_for_update().filter(token=token, rater=rater).first()
    if lease is None:
        raise LeaseNotFoundError
    if lease.closed_at is None:
        lease.skip_reason = reason
        _give_back(lease, outcome=LeaseOutcome.SKIPPED, now=now)


@transaction.atomic
def stop_judging(*, rater: Rater, now: dt.datetime) -> None:
    """End the rater's part early and give an open lease back; what was answered stays."""
    rater = _locked(rater)
    if rater.state != RaterState.ACTIVE:
        return
    for lease in rater.leases.select_for_update().filter(closed_at=None):
        _give_back(lease, outcome=LeaseOutcome.RELEASED, now=now)
    _end(rater, state=RaterState.STOPPED, now=now)


@transaction.atomic
def release_expired_leases(*, now: dt.datetime) -> int:
    """Close every lease past its time, give the slots back, and return how many."""
    expired = Lease.objects.filter(closed_at=None, expires_at__lte=now)
    # Rows that a submission holds right now are left to it; one lock order, so no deadlock.
    leases = list(expired.order_by("comparison_id", "pk").select_for_update(skip_locked=True))
    for lease in leases:
        _give_back(lease, outcome=LeaseOutcome.EXPIRED, now=now)
    return len(leases)


def _locked(rater: Rater) -> Rater:
    """Lock the rater's row: one claim or answer at a time per person."""
    return Rater.objects.select_for_update(of=("self",)).select_related("study").get(pk=rater.pk)


def _draw_side(comparison: Comparison, *, rater: Rater, tally: selectors.Tally) -> Side:
    first_is_a = design.first_goes_to_a(
        seed=rater.study.seed,
        pair=comparison.key,
        shown=(comparison.shown_first_as_a, comparison.shown_first_as_b),
        rater_shown=(tally.first_as_a, tally.first_as_b),
    )
    return Side.A if first_is_a else Side.B


def _store(
    answer: verdicts.Answer,
    *,
    lease: Lease,
    study: Study,
    stored: Judgment | None,
    hidden_ms: int,
    now: dt.datetime,
) -> Judgment:
    """Add the judgment, or the revision of the ``stored`` one, with its marks."""
    submitted_at = max(now, lease.issued_at)  # a clock set back must not lose an answer
    elapsed_ms = int((submitted_at - lease.issued_at).total_seconds() * 1000)
    judgment = Judgment.objects.create(
        comparison=lease.comparison,
        rater=lease.rater,
        lease=lease,
        protocol=study.protocol,
        verdict=answer.verdict,
        first_side=lease.first_side,
        rationale=answer.rationale,
        shown_at=lease.issued_at,
        submitted_at=submitted_at,
        hidden_ms=max(0, min(hidden_ms, elapsed_ms)),
        is_surplus=stored.is_surplus if stored is not None else not _holds_slot(lease),
        revises=stored,
        protocol_hash=study.protocol_hash,
    )
    DimensionMark.objects.bulk_create(
        DimensionMark(judgment=judgment, dimension=key, advantage=value)
        for key, value in sorted(answer.marks.items())
    )
    return judgment


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
    yield from rows.select_for_update(skip_locked=skip_locked, of=("self",))[:1]


def _take_slot(comparison: Comparison, *, side: str) -> None:
    """Count one slot down on the locked row, and the side that it is shown on up."""
    shown = "shown_first_as_a" if side == Side.A else "shown_first_as_b"
    Comparison.objects.filter(pk=comparison.pk).update(
        **{"slots_left": F("slots_left") - 1, shown: F(shown) + 1}
    )


def _give_back(lease: Lease, *, outcome: LeaseOutcome, now: dt.datetime) -> None:
    shown = "shown_first_as_a" if lease.first_side == Side.A else "shown_first_as_b"
    Comparison.objects.filter(pk=lease.comparison_id).update(
        **{"slots_left": F("slots_left") + 1, shown: F(shown) - 1}
    )
    _close(lease, outcome=outcome, now=now)


def _close(lease: Lease, *, outcome: LeaseOutcome, now: dt.datetime) -> None:
    lease.closed_at = now
    lease.outcome = outcome
    if outcome != LeaseOutcome.SKIPPED:
        lease.skip_reason = ""
    lease.save(update_fields=["closed_at", "outcome", "skip_reason"])


def _holds_slot(lease: Lease) -> bool:
    """Say whether an answer counts: the lease still has its slot, or gets one again."""
    if lease.closed_at is None:
        return True
    comparison = Comparison.objects.select_for_update().get(pk=lease.comparison_id)
    if comparison.slots_left == 0:
        return False
    _take_slot(comparison, side=lease.first_side)
    return True


def _says(judgment: Judgment) -> verdicts.Answer:
    """Return what a stored judgment says, in the canonical frame."""
    marks = {mark.dimension: mark.advantage for mark in judgment.marks.all()}
    return verdicts.Answer(judgment.verdict, judgment.rationale, marks)


def _end(rater: Rater, *, state: RaterState, now: dt.datetime) -> None:
    rater.state = state
    rater.ended_at = now
    rater.save(update_fields=["state", "ended_at"])
