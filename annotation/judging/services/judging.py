"""Record the judgments of raters."""

import datetime as dt
import uuid
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from access.nudges import Work, nudge
from annotation.assignment import slots
from annotation.choices import RaterStage, RaterState, Side, StudyState
from annotation.judging.services.choosing import choose_next
from annotation.judging.services.leasing import assign_next, complete, is_too_late, keep_open
from annotation.models import DimensionMark, Judgment, Lease, Rater
from annotation.studies import queries as study_queries
from annotation.studies import verdicts
from completions.choices import LeaseOutcome
from completions.leases import timed
from completions.leases.compiled import insert
from completions.leases.timed import atomic_despite_deadlocks

CHANGES_PER_MINUTE = 30
"""Each change of an answer is kept as a row of its own; nobody thinks as often again."""
MINUTE = dt.timedelta(minutes=1)


class TooManyChangesError(Exception):
    """A rater changes answers faster than a person does."""


class StudyClosedError(Exception):
    """The study is closed and its results may be known, so that no answer changes any more."""


@dataclass(frozen=True)
class Submission:
    """An answer in screen terms to the lease of a token, and what the page noted meanwhile.

    ``hidden_ms`` is how long it was out of sight; ``opened_earlier`` says whether folded turns of
    the conversation were opened, None where none were folded.
    """

    token: uuid.UUID
    answer: verdicts.Answer
    hidden_ms: int = 0
    opened_earlier: bool | None = None


@dataclass(frozen=True)
class RaterCredential:
    """A rater as the cookie names them; the version rises when a link is to open no more."""

    study: str
    code: str
    link_version: int


@atomic_despite_deadlocks
def submit_and_assign_next(
    *, credential: RaterCredential, submission: Submission, now: dt.datetime
) -> Lease | None:
    """Record an answer as ``record_answer`` does, and claim what comes next, at once.

    None when nothing does.

    Raises
    ------
    LeaseNotFoundError
        As ``lock_to_answer`` does.
    verdicts.InvalidAnswerError, StudyClosedError, TooManyChangesError
        As ``record_answer`` does.
    """
    answered = lock_to_answer(credential, submission.token)
    rater = answered.rater
    # An open lease is always the rater's newest one.
    newest = answered if answered.closed_at is None else slots.lock_newest_lease(rater)
    judgment = record_answer(answered, submission, now=now)
    if newest is not None and newest.pk == answered.pk:
        newest = answered  # a late answer counts in what follows it, as it does on a reload
    if rater.state != RaterState.ACTIVE or slots.is_excluded(answered):
        return None
    waiting = keep_open(newest, now=now)
    if waiting is not None or rater.study.state != StudyState.OPEN:
        return waiting
    hidden_ms = judgment.hidden_ms if newest is answered else 0
    return assign_next(rater, newest, now=now, hidden_ms=hidden_ms)


@transaction.atomic
def foresee_next(
    *, credential: RaterCredential, token: uuid.UUID, now: dt.datetime
) -> Lease | None:
    """Return the lease that an answer to this one would be followed by now; nothing is stored.

    Others may take its slot meanwhile, so a page that shows it puts what was assigned in its place.
    None where the answer decides, as in the screening round, and where nothing would follow.

    Raises
    ------
    LeaseNotFoundError
        If the credential names nobody, or somebody who holds no lease with this token.
    """
    shown = lock_to_answer(credential, token)
    rater, study = shown.rater, shown.rater.study
    is_judging = (rater.state, rater.stage) == (RaterState.ACTIVE, RaterStage.JUDGING)
    if shown.closed_at is not None or not is_judging or slots.is_excluded(shown):
        return None
    shown.closed_at, shown.outcome = now, LeaseOutcome.SUBMITTED  # not saved
    history = study_queries.RaterHistory.after(shown)
    if study.state != StudyState.OPEN or history.answered >= study.session_length:
        return None
    chosen = choose_next(rater, history)
    return None if chosen is None else complete(chosen, history, now=now)


def lock_to_answer(credential: RaterCredential, token: uuid.UUID) -> Lease:
    """Lock a rater and the lease that they answer, open or closed.

    Raises
    ------
    LeaseNotFoundError
        If the credential names nobody, somebody who holds no lease with this token, or somebody
        who has withdrawn.
    """
    lease = slots.lock_lease_and_rater(
        token, study=credential.study, code=credential.code, link_version=credential.link_version
    )
    if lease.rater.state == RaterState.WITHDRAWN:
        raise slots.LeaseNotFoundError
    return lease


def record_answer(lease: Lease, submission: Submission, *, now: dt.datetime) -> Judgment:
    """Record an answer given in screen terms to a locked lease, and close it.

    A repeated submission returns the judgment already stored; a different answer to the same
    lease is stored as a revision of it. An answer that comes after its lease was given back
    takes a slot again if one is free, and the study is not closed, and is kept as surplus
    otherwise: no work is thrown away. In a closed study a lease that ran out is given back first.

    Raises
    ------
    verdicts.InvalidAnswerError
        If the answer is not on the study's scale.
    StudyClosedError
        If it is a change, and the study is closed.
    TooManyChangesError
        If it is one more change than a person makes in a minute.
    """
    rater, study = lease.rater, lease.rater.study
    verdicts.check_answer(
        submission.answer,
        protocol=study.protocol,
        dimensions=study_queries.dimension_keys(study),
        chips=study_queries.chip_keys(study),
    )
    canonical = verdicts.swap_frame(submission.answer, first_is_a=lease.first_side == Side.A)
    stored = None if lease.closed_at is None else study_queries.current_judgment(lease)
    if stored is not None and study_queries.answer_of(stored) == canonical:
        return stored
    if stored is not None:
        _check_changes(rater, now=now)
    slots.resume(lease, now=now)
    if lease.closed_at is None and is_too_late(lease, now=now):
        slots.give_back(lease, outcome=LeaseOutcome.EXPIRED, now=now)
    return _store(canonical, submission, lease=lease, revises=stored, now=now)


def _check_changes(rater: Rater, *, now: dt.datetime) -> None:
    """Refuse a change that comes too late, or is one too many of the last minute."""
    if rater.study.state == StudyState.CLOSED:
        raise StudyClosedError
    newer = Judgment.objects.filter(rater=rater, submitted_at__gt=now - MINUTE)
    if newer.exclude(revises=None).count() >= CHANGES_PER_MINUTE:
        raise TooManyChangesError


def _store(
    answer: verdicts.Answer,
    submission: Submission,
    *,
    lease: Lease,
    revises: Judgment | None,
    now: dt.datetime,
) -> Judgment:
    """Add a judgment in the canonical frame, or the revision of one, with its marks.

    The first one of a lease closes it.
    """
    study = lease.rater.study
    submitted_at = max(now, lease.issued_at)  # a clock set back must not lose an answer
    elapsed_ms = int((submitted_at - lease.issued_at).total_seconds() * 1000)
    judgment = Judgment(
        comparison_id=lease.comparison_id,
        rater_id=lease.rater_id,
        lease=lease,
        protocol=study.protocol,
        verdict=answer.verdict,
        first_side=lease.first_side,
        rationale=answer.rationale,
        chips=" ".join(sorted(answer.chips)),
        shown_at=lease.issued_at,
        submitted_at=submitted_at,
        hidden_ms=max(0, min(submission.hidden_ms, elapsed_ms - lease.paused_ms)),
        opened_earlier=submission.opened_earlier,
        paused_ms=lease.paused_ms,
        is_surplus=revises.is_surplus if revises is not None else not _secure_slot(lease),
        revises=revises,
        protocol_hash=study.protocol_hash,
    )
    closing = None
    if revises is None:
        closing = timed.closing(lease, outcome=LeaseOutcome.SUBMITTED, now=now)
    insert(judgment, closing)
    if answer.marks:
        DimensionMark.objects.bulk_create(
            DimensionMark(judgment=judgment, dimension=key, advantage=value)
            for key, value in sorted(answer.marks.items())
        )
    nudge(Work.REFIT, within_s=settings.HEART_REFIT_SECONDS)
    return judgment


def _secure_slot(lease: Lease) -> bool:
    """Say whether an answer counts: the lease still has its slot, or gets one again.

    Late answers give nobody a larger part in the study than a session is.
    """
    if lease.closed_at is None or not lease.is_main:
        return True
    study = lease.rater.study
    n_answered = study_queries.n_session_answers(lease.rater)
    if study.state == StudyState.CLOSED or n_answered >= study.session_length:
        return False
    taken = slots.slot_taken(lease.comparison_id, side=lease.first_side, fewest=1)
    return taken.make() > 0
