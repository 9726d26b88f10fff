"""Take in what a crowd platform says about its people."""

import datetime as dt

from django.db import transaction

from access.services import record
from annotation import entry_selectors
from annotation.choices import Platform, RaterState
from annotation.models import PlatformEvent, Rater, Study
from annotation.services.slots import give_back, lock_rater
from annotation.services.standing import end_rater
from annotation.webhooks import Event
from completions.choices import LeaseOutcome
from completions.services import timed


@transaction.atomic
def take_event(*, study: Study, event: Event, now: dt.datetime) -> bool:
    """Store an event of Prolific and do what follows from it; say whether it was new.

    When somebody gave their submission back, ran out of time or was turned down, their open pair
    goes back to others and their part ends; what they answered stays. An event that was taken
    before changes nothing, nor does one of an unknown kind or about somebody unknown.
    """
    rater = _rater_of(event, study)
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
    if is_new and rater is not None and event.ends_part:
        _end_part(rater, event, now=now)
    return is_new


def _rater_of(event: Event, study: Study) -> Rater | None:
    """Return whose submission the event is about.

    A workspace sends the events of all its studies to each address, and one person can take part
    in several: the submission decides, which the entry link names as the session. Without a
    session it can only be the study of the address.
    """
    if not event.participant_id:
        return None
    for rater in entry_selectors.raters_of_participant(event.participant_id):
        session = rater.session.get("SESSION_ID")
        if session == event.submission_id or (session is None and rater.study_id == study.pk):
            return rater
    return None


def _end_part(rater: Rater, event: Event, *, now: dt.datetime) -> None:
    rater = lock_rater(rater)
    if rater.state != RaterState.ACTIVE:
        return
    if (lease := timed.lock_open(rater.leases)) is not None:
        give_back(lease, outcome=LeaseOutcome.RELEASED, now=now)
    end_rater(rater, state=RaterState.STOPPED, now=now)
    after = {"platform": str(Platform.PROLIFIC), "status": event.status}
    record(action="rater.returned", subject=f"rater {rater.code}", now=now, after=after)
