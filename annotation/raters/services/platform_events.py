"""Take in what a crowd platform says about its people."""

import datetime as dt
import logging

from django.core.mail import EmailMessage
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from access.log import record
from annotation.assignment.slots import give_back, lock_rater
from annotation.choices import Platform, RaterState, StudyState
from annotation.judging.services.screening import end_rater
from annotation.models import FailedArrival, PlatformEvent, PlatformSubmission, Rater, Study
from annotation.quality.services.alerting import is_mail_set_up, message_to_admins
from annotation.raters import entry_links, entry_queries
from annotation.raters.services.understanding import end_submission
from annotation.raters.webhooks import SUBMISSION, Event
from annotation.studies import selectors
from completions.choices import LeaseOutcome
from completions.leases import timed
from completions.writers import emails


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


TOLD_EVERY = dt.timedelta(days=1)
RECENT = dt.timedelta(days=2)
"""What is older is no news, though nobody was told of it."""
KEPT = dt.timedelta(days=30)

logger = logging.getLogger(__name__)


def count_failed_arrival(*, study: Study, platform: str, now: dt.datetime) -> None:
    """Count a visit by a link of ``platform`` without an id, if the study is open to people.

    Whatever the database says, nobody fails for it: a count that is lost is told by the log.
    """
    if study.state != StudyState.OPEN or study.is_simulated:
        return
    try:
        with transaction.atomic():
            _count(study, platform, now)
    except DatabaseError as error:
        logger.warning("an arrival at %s was not counted: %s", study.slug, type(error).__name__)


def _count(study: Study, platform: str, now: dt.datetime) -> None:
    hour = now.replace(minute=0, second=0, microsecond=0)
    row = {"study": study, "platform": platform, "hour": hour}
    known = FailedArrival.objects.filter(**row)
    if known.update(n=F("n") + 1, last_at=now):
        return
    try:
        with transaction.atomic():
            FailedArrival.objects.create(**row, first_at=now, last_at=now)
    except IntegrityError:  # another process was first
        known.update(n=F("n") + 1, last_at=now)


def send_arrival_alerts(*, now: dt.datetime) -> int:
    """Tell admins of failed arrivals in one message; return of how many studies.

    A study is told of once a day at most, whatever comes. What could not be sent is tried again
    by the next run; a sender that dies in between loses one message, and no count. Rows that are
    a month old are deleted, mail or no mail.
    """
    FailedArrival.objects.filter(last_at__lt=now - KEPT).delete()
    if not is_mail_set_up():
        return 0
    arrivals = _claim(now)
    if not arrivals:
        return 0
    try:
        _message(arrivals).send()
    except OSError as error:  # the network's errors, and SMTPException among them
        logger.warning("no e-mail about failed arrivals: %s", type(error).__name__)
        _claimed(arrivals).update(alerted_at=None)
        return 0
    return len({one.study_id for one in arrivals})


@transaction.atomic
def _claim(now: dt.datetime) -> list[FailedArrival]:
    """Take the rows of which nobody was told, of studies of which nothing was told for a day."""
    told = FailedArrival.objects.filter(study=OuterRef("study"), alerted_at__gt=now - TOLD_EVERY)
    waiting = FailedArrival.objects.filter(~Exists(told), alerted_at=None)
    recent = waiting.filter(last_at__gt=now - RECENT).select_related("study")
    locked = recent.select_for_update(skip_locked=True, of=("self",))
    arrivals = list(locked.order_by("study__title", "study", "platform", "hour"))
    _claimed(arrivals).update(alerted_at=now)
    return arrivals


def _claimed(arrivals: list[FailedArrival]) -> QuerySet[FailedArrival]:
    return FailedArrival.objects.filter(pk__in=[one.pk for one in arrivals])


def _message(arrivals: list[FailedArrival]) -> EmailMessage:
    """Write how many could not come in, and what the link has to be; nothing of the visitors."""
    grouped: dict[tuple[Study, str], int] = {}
    for one in arrivals:
        key = (one.study, one.platform)
        grouped[key] = grouped.get(key, 0) + one.n
    lines = [
        _("People followed a link that does not have their ID, and could not take part."),
        _("Put the right link into your platform; ask there about those who were turned away."),
        *(_lines(study, platform, n) for (study, platform), n in grouped.items()),
    ]
    return message_to_admins(_("HEART: broken links into a study"), "\n\n".join(lines))


def _lines(study: Study, platform: str, n: int) -> str:
    entry = emails.absolute(reverse("annotation:entry", args=[study.slug]))
    return _(
        "%(study)s: %(n)d from %(platform)s. The link has to look like this:\n%(link)s\n%(page)s"
    ) % {
        "study": study.title,
        "n": n,
        "platform": Platform(platform).label,
        "link": f"{entry}?{entry_links.FILLED_IN[platform]}",
        "page": emails.absolute(reverse("console:study", args=[study.slug])),
    }
