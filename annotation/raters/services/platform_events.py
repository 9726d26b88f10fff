"""Take in what a crowd platform says about its people."""

import datetime as dt
import logging

from django.db import transaction

from access.log import record
from annotation.assignment.slots import give_back, lock_rater
from annotation.choices import Platform, RaterState
from annotation.judging.services.stages import end_rater
from annotation.models import PlatformEvent, PlatformSubmission, Rater, Study
from annotation.raters import entry_queries
from annotation.raters.services.submissions import end_submission
from annotation.raters.webhooks import SUBMISSION, Event
from annotation.studies import selectors
from completions.choices import LeaseOutcome
from completions.leases import timed


@transaction.atomic
def take_event(*, study: Study, event: Event, now: dt.datetime) -> bool:
    """Store an event of Prolific and do what follows from it; say whether it was new.

    When somebody gave their submission back, ran out of time or was turned down, their open pair
    goes back to others and their part ends; what they answered stays. It does not end if they came
    with a newer submission since. An event that was taken before changes nothing, nor does one of
    an unknown kind or about somebody unknown.
    """
    submission = _submission_of(event, study)
    rater = None if submission is None else submission.rater
    _stored, is_new = PlatformEvent.objects.get_or_create(
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
    if is_new and submission is not None:
        _take_in(submission, event, now=now)
    return is_new


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
    newest = selectors.newest_submission(rater)
    if event.ends_part and newest == submission and rater.state == RaterState.ACTIVE:
        _end_part(rater, event, now=now)


def _end_part(rater: Rater, event: Event, *, now: dt.datetime) -> None:
    if (lease := timed.lock_open(rater.leases)) is not None:
        give_back(lease, outcome=LeaseOutcome.RELEASED, now=now)
    end_rater(rater, state=RaterState.STOPPED, now=now)
    after = {"platform": str(Platform.PROLIFIC), "status": event.status}
    record(action="rater.returned", subject=f"rater {rater.code}", now=now, after=after)


logger = logging.getLogger(__name__)
