"""Hand comparisons out to raters and take them back, with stages, breaks and ends (ADR-0005)."""

import datetime as dt
import uuid

from django.db import transaction

from annotation.assignment import slots
from annotation.choices import RaterStage, RaterState, StudyState
from annotation.judging.services.choosing import choose_check, choose_next
from annotation.models import Judgment, Lease, Rater, Study
from annotation.quality.rules.exclusions import is_passed
from annotation.studies import queries as study_queries
from annotation.studies.queries import RaterHistory, content_of
from completions.choices import LeaseOutcome
from completions.leases import timed
from completions.leases.compiled import insert
from completions.leases.timed import atomic_despite_deadlocks


class StudyNotOpenError(Exception):
    """The study hands out no work at the moment."""


class RaterEndedError(Exception):
    """The rater has finished, stopped or withdrawn, was screened out, or is excluded."""


class NotUnderstoodError(Exception):
    """The rater has yet to show that the task is clear."""


@atomic_despite_deadlocks
def lease_next_comparison(*, rater: Rater, now: dt.datetime) -> Lease | None:
    """Return the rater's open lease, or claim what comes next: a slot, a check, a repeat.

    An open lease that ran out but was not given back yet is simply prolonged: the slot is still
    the rater's. Returns None when the session is full (the rater is then finished), when the
    screening round was not passed (the rater is then ended), or when nothing is left.

    Raises
    ------
    StudyNotOpenError
        If the study is not open and the rater holds no lease.
    RaterEndedError
        If the rater has finished, stopped or withdrawn, or is excluded.
    NotUnderstoodError
        If the comprehension check comes first.
    """
    rater = slots.lock_rater(rater)
    if rater.state != RaterState.ACTIVE or slots.is_excluded(rater):
        raise RaterEndedError
    if rater.stage == RaterStage.COMPREHENSION:
        raise NotUnderstoodError
    newest = slots.lock_newest_lease(rater)
    return keep_open(newest, now=now) or assign_next(rater, newest, now=now)


def keep_open(newest: Lease | None, *, now: dt.datetime) -> Lease | None:
    """Return a rater's newest lease to be shown again, if it is open, else None.

    It is prolonged if it ran out, and a break is over. One of a deleted text is given back, and
    one that ran out in a closed study is left to the sweep.
    """
    if newest is None or newest.closed_at is not None:
        return None
    if newest.comparison.is_erased:
        slots.give_back(newest, outcome=LeaseOutcome.RELEASED, now=now)
        return None
    if is_too_late(newest, now=now):
        return None
    slots.resume(newest, now=now)
    timed.prolong(newest, length=_length(newest.rater), now=now)
    return newest


def is_too_late(lease: Lease, *, now: dt.datetime) -> bool:
    """Say whether a lease ran out in a closed study, whose results may be known by now."""
    return lease.rater.study.state == StudyState.CLOSED and lease.expires_at <= now


def assign_next(
    rater: Rater, newest: Lease | None, *, now: dt.datetime, hidden_ms: int = 0
) -> Lease | None:
    """Claim what comes after the newest lease of the locked rater, which is closed.

    ``hidden_ms`` is how long its page was out of sight.
    """
    if rater.study.state != StudyState.OPEN:
        raise StudyNotOpenError
    history = RaterHistory()
    if newest is not None:
        history = RaterHistory.after(newest, hidden_ms=hidden_ms)
    chosen = None
    if rater.stage == RaterStage.SCREENING:
        chosen = choose_screening(rater, history, now=now)
    if chosen is None and rater.state == RaterState.ACTIVE:
        if history.answered >= rater.study.session_length:
            end_rater(rater, state=RaterState.FINISHED, now=now)
        else:
            chosen = choose_next(rater, history)
    return _claim(chosen, history, now=now) if chosen else None


@atomic_despite_deadlocks
def skip_comparison(*, token: uuid.UUID, rater: Rater, reason: str, now: dt.datetime) -> None:
    """Give the slot back without an answer; the rater is never shown this comparison again.

    Repeating it, or skipping what was answered in another tab, changes nothing.

    Raises
    ------
    LeaseNotFoundError
        If ``rater`` holds no lease with this token.
    """
    lease = slots.lock_lease(token, slots.lock_rater(rater))
    timed.skip(lease, reason=reason, give_back=slots.give_back, now=now)


@atomic_despite_deadlocks
def stop_judging(*, rater: Rater, now: dt.datetime) -> None:
    """End the rater's part early and give an open lease back; what was answered stays."""
    rater = slots.lock_rater(rater)
    if rater.state != RaterState.ACTIVE:
        return
    if (lease := timed.lock_open(rater.leases)) is not None:
        slots.give_back(lease, outcome=LeaseOutcome.RELEASED, now=now)
    end_rater(rater, state=RaterState.STOPPED, now=now)


@atomic_despite_deadlocks
def release_expired_leases(*, now: dt.datetime, is_simulated: bool = False) -> int:
    """Close every lease past its time, give the slots back, and return how many.

    Simulated raters live in a time of their own, and their leases run out in it alone.
    """
    leases = Lease.objects.filter(rater__is_simulated=is_simulated)
    return timed.sweep(leases, row="comparison_id", give_back=slots.give_back, now=now)


def _claim(lease: Lease, history: RaterHistory, *, now: dt.datetime) -> Lease:
    """Take a slot if what was chosen counts, and store the lease."""
    complete(lease, history, now=now)
    taken = slots.slot_taken(lease.comparison_id, side=lease.first_side) if lease.is_main else None
    insert(lease, taken)
    return lease


def complete(lease: Lease, history: RaterHistory, *, now: dt.datetime) -> Lease:
    """Set on a chosen lease its number, what its side came from, and its times."""
    lease.number = history.number + 1
    lease.rater_first_as_a, lease.rater_first_as_b = history.shown
    lease.recent_ms = list(history.recent_ms)
    lease.issued_at = now
    lease.expires_at = now + _length(lease.rater)
    return lease


def _length(rater: Rater) -> dt.timedelta:
    return dt.timedelta(minutes=rater.study.lease_minutes)


@transaction.atomic
def finish_with_nothing_left(*, rater: Rater, now: dt.datetime) -> None:
    """End the part of a rater who waits for pairs that there are not.

    Whoever answered something has finished; whoever left out all that was shown has stopped, and
    whoever came too late for even one pair finds the study full. If there is a pair for them after
    all, nothing changes.
    """
    rater = slots.lock_rater(rater)
    if rater.state != RaterState.ACTIVE or timed.lock_open(rater.leases) is not None:
        return
    if study_queries.open_comparisons(rater).exists():
        return
    done, _total = study_queries.rater_progress(rater)
    left = RaterState.STOPPED if study_queries.n_left_out(rater) else RaterState.FULL
    end_rater(rater, state=RaterState.FINISHED if done else left, now=now)


@transaction.atomic
def pause_judging(*, rater: Rater, now: dt.datetime) -> None:
    """Note since when the rater is on a break; showing the pair again ends it.

    Without an open pair, or on a break already, nothing changes.
    """
    lease = timed.lock_open(slots.lock_rater(rater).leases)
    if lease is not None and lease.paused_at is None:
        lease.paused_at = now
        lease.save(update_fields=["paused_at"])


# The parts of a session.


def first_stage(study: Study) -> RaterStage:
    """Return the first part of a session that the study has."""
    if content_of(study)["comprehension"]:
        return RaterStage.COMPREHENSION
    return stage_after_comprehension(study)


def stage_after_comprehension(study: Study) -> RaterStage:
    """Return the part of a session that follows once the task is clear."""
    return RaterStage.SCREENING if content_of(study)["screening"]["pairs"] else RaterStage.JUDGING


def move_to(rater: Rater, stage: RaterStage) -> None:
    """Let the locked rater into the next part of the session."""
    rater.stage = stage
    rater.save(update_fields=["stage"])


def end_rater(rater: Rater, *, state: RaterState, now: dt.datetime) -> None:
    """End the part of the locked rater, for the reason that the state names."""
    rater.state = state
    rater.ended_at = now
    rater.save(update_fields=["state", "ended_at"])


def choose_screening(rater: Rater, history: RaterHistory, *, now: dt.datetime) -> Lease | None:
    """Return the next pair of the round, or None once the round is over.

    It is over when as many pairs were answered as the study asks for, or none is left to show.
    The rater is then in the main part, or ended if too many answers were wrong: screened out,
    never rejected.
    """
    rules = content_of(rater.study)["screening"]
    answers = study_queries.screening_answers(rater)
    if len(answers) < rules["pairs"] and (
        chosen := choose_check(rater, history, is_screening=True)
    ):
        return chosen
    # A study that has few planted pairs asks for fewer; whoever leaves them is asked for all.
    shown = rater.leases.filter(is_screening=True, comparison__held_at=None)
    required = min(rules["min_passed"], shown.count())
    if sum(map(_is_passed, answers)) >= required:
        move_to(rater, RaterStage.JUDGING)
    else:
        end_rater(rater, state=RaterState.SCREENED, now=now)
    return None


def _is_passed(judgment: Judgment) -> bool:
    lease = judgment.lease
    check = lease.quality_check if lease is not None else None
    if check is None:
        return False
    marks = {mark.dimension: mark.advantage for mark in judgment.marks.all()}
    return is_passed(judgment.verdict, marks.get(check.dimension), expected=check.expected)
