"""Record the judgments of raters."""

import datetime as dt
import uuid

from django.db import transaction

from annotation import selectors, verdicts
from annotation.choices import RaterState, Side
from annotation.models import Comparison, DimensionMark, Judgment, Lease, Rater, Study
from annotation.services import slots
from completions.choices import LeaseOutcome


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
    rater = slots.lock_rater(rater)
    if rater.state == RaterState.WITHDRAWN:
        raise slots.LeaseNotFoundError
    lease = slots.lock_lease(token, rater)
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
        canonical, lease=lease, study=rater.study, revises=stored, hidden_ms=hidden_ms, now=now
    )
    if stored is None:
        slots.close(lease, outcome=LeaseOutcome.SUBMITTED, now=now)
    return judgment


def _says(judgment: Judgment) -> verdicts.Answer:
    """Return what a stored judgment says, in the canonical frame."""
    marks = {mark.dimension: mark.advantage for mark in judgment.marks.all()}
    return verdicts.Answer(judgment.verdict, judgment.rationale, marks)


def _store(
    answer: verdicts.Answer,
    *,
    lease: Lease,
    study: Study,
    revises: Judgment | None,
    hidden_ms: int,
    now: dt.datetime,
) -> Judgment:
    """Add a judgment, or the revision of one, with its marks."""
    submitted_at = max(now, lease.issued_at)  # a clock set back must not lose an answer
    elapsed_ms = int((submitted_at - lease.issued_at).total_seconds() * 1000)
    judgment = Judgment.objects.create(
        comparison_id=lease.comparison_id,
        rater_id=lease.rater_id,
        lease=lease,
        protocol=study.protocol,
        verdict=answer.verdict,
        first_side=lease.first_side,
        rationale=answer.rationale,
        shown_at=lease.issued_at,
        submitted_at=submitted_at,
        hidden_ms=max(0, min(hidden_ms, elapsed_ms)),
        is_surplus=revises.is_surplus if revises is not None else not _secure_slot(lease),
        revises=revises,
        protocol_hash=study.protocol_hash,
    )
    DimensionMark.objects.bulk_create(
        DimensionMark(judgment=judgment, dimension=key, advantage=value)
        for key, value in sorted(answer.marks.items())
    )
    return judgment


def _secure_slot(lease: Lease) -> bool:
    """Say whether an answer counts: the lease still has its slot, or gets one again."""
    if lease.closed_at is None:
        return True
    still_free = Comparison.objects.filter(pk=lease.comparison_id, slots_left__gt=0)
    return slots.take_slot(still_free, side=lease.first_side)
