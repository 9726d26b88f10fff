"""Submissions of raters: opened, their codes kept, and what a crowd platform says of them."""

import datetime as dt
from collections.abc import Mapping

from django.db.models import QuerySet

from access.log import record
from annotation.assignment.slots import give_back, lock_rater
from annotation.choices import Platform, RaterState, SubmissionState
from annotation.judging.services.leasing import end_rater
from annotation.models import PlatformEvent, PlatformSubmission, Rater, Study
from annotation.raters import entry_queries
from annotation.raters.webhooks import SUBMISSION, Event
from annotation.studies import queries as study_queries
from completions.choices import LeaseOutcome
from completions.leases import timed
from completions.leases.timed import atomic_despite_deadlocks

NAMES = ("SESSION_ID", "assignmentId")
"""What platforms call the id of a submission on their links."""
GOES_ON = (RaterState.STOPPED, RaterState.FULL)
"""How a part may have ended that a new submission takes up again, if anything is left of it."""
MOST = 100
"""Submissions of one rater: an address that makes more up is no link of a platform."""
OUTCOMES = {
    "RETURNED": SubmissionState.RETURNED,
    "TIMED-OUT": SubmissionState.EXPIRED,
    "REJECTED": SubmissionState.REJECTED,
    "APPROVED": SubmissionState.APPROVED,
}
"""What of a platform's words for where a submission stands ends it."""


def store_submission(
    rater: Rater, ids: Mapping[str, str], *, now: dt.datetime, number: int = 1, n_before: int = 0
) -> None:
    """Store with what submission of their platform a rater came: by default their first."""
    PlatformSubmission.objects.create(
        rater=rater,
        number=number,
        session_id=_session_id(ids),
        ids={name: value for name, value in ids.items() if name not in NAMES},
        n_before=n_before,
        opened_at=now,
        changed_at=now,
    )


def open_submission(rater: Rater, ids: Mapping[str, str], *, now: dt.datetime) -> None:
    """Store that a locked rater came back with a submission of their platform, if it is a new one.

    It goes on with what is left of the session, even if the rater stopped, or their platform
    ended the one before.
    """
    if rater.submissions.filter(session_id=_session_id(ids)).exists():
        return
    number = rater.submissions.count() + 1
    if number > MOST:
        return
    n_before, wanted = study_queries.rater_progress(rater)
    store_submission(rater, ids, number=number, n_before=n_before, now=now)
    if rater.state in GOES_ON and n_before < wanted:
        rater.state, rater.ended_at = RaterState.ACTIVE, None
        rater.save(update_fields=["state", "ended_at"])


def _session_id(ids: Mapping[str, str]) -> str:
    return next((ids[name] for name in NAMES if name in ids), "")


def give_code(*, rater: Rater, code: str, now: dt.datetime) -> None:
    """Keep with a rater's newest submission the code that the last page shows."""
    newest = study_queries.newest_submission(rater)
    if newest is not None and newest.code != code:
        PlatformSubmission.objects.filter(pk=newest.pk).update(code=code, changed_at=now)


def end_submission(submission: PlatformSubmission, status: str, *, now: dt.datetime) -> None:
    """Keep how a submission ended on its platform; other words for where it stands say nothing."""
    if (outcome := OUTCOMES.get(status)) is not None:
        found = PlatformSubmission.objects.filter(pk=submission.pk)
        found.exclude(state=outcome).update(state=outcome, changed_at=now)


@atomic_despite_deadlocks
def take_event(*, study: Study, event: Event, now: dt.datetime) -> bool:
    """Store an event of Prolific and do what follows from it; say whether it was new.

    When somebody gave their submission back, ran out of time or was turned down, their open pair
    goes back to others and their part ends; what they answered stays. It does not end if they came
    with a newer submission since. An event that was taken before changes nothing, nor does one of
    an unknown kind or about somebody unknown: that one is taken when it comes to an address at
    which the person is known.
    """
    submission = _submission_of(event, study)
    rater = None if submission is None else submission.rater
    stored, is_new = PlatformEvent.objects.get_or_create(
        platform=Platform.PROLIFIC,
        event_id=event.event_id,
        defaults={
            "study": study if rater is None else rater.study,
            "kind": event.kind,
            "status": event.status,
            "rater": rater,
            "received_at": now,
        },
    )
    if submission is not None and (is_new or _claim(stored, submission.rater)):
        _take_in(submission, event, now=now)
        return True
    return is_new


def _claim(stored: PlatformEvent, rater: Rater) -> bool:
    """Give an event that was about nobody known to the rater whom it turns out to be about."""
    # The exception to rows that are written once (ADR-0008): a plain queryset, on purpose.
    events: QuerySet[PlatformEvent] = QuerySet(PlatformEvent)
    return events.filter(pk=stored.pk, rater=None).update(rater=rater, study=rater.study) > 0


def _submission_of(event: Event, study: Study) -> PlatformSubmission | None:
    """Return the submission that the event is about.

    A workspace sends the events of all its studies to each address, and one person can take part
    in several: the submission decides, which the entry link names as the session.
    """
    if event.kind != SUBMISSION or not event.participant_id:
        return None
    return entry_queries.submission_of(
        participant_id=event.participant_id, session_id=event.submission_id, study=study
    )


def _take_in(submission: PlatformSubmission, event: Event, *, now: dt.datetime) -> None:
    """Keep how a submission ended; with the rater's newest, their part ends as well."""
    rater = lock_rater(submission.rater)
    end_submission(submission, event.status, now=now)
    newest = study_queries.newest_submission(rater)
    if event.ends_part and newest == submission and rater.state == RaterState.ACTIVE:
        _end_part(rater, event, now=now)


def _end_part(rater: Rater, event: Event, *, now: dt.datetime) -> None:
    if (lease := timed.lock_open(rater.leases)) is not None:
        give_back(lease, outcome=LeaseOutcome.RELEASED, now=now)
    end_rater(rater, state=RaterState.STOPPED, now=now)
    after = {"platform": str(Platform.PROLIFIC), "status": event.status}
    record(action="rater.returned", subject=f"rater {rater.code}", now=now, after=after)
