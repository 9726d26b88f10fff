"""Count visits by broken links of platforms, and tell admins of them, once a day at most."""

import datetime as dt
import logging

from django.core.mail import EmailMessage
from django.db import DatabaseError, transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.choices import Platform, StudyState
from annotation.models import FailedArrival, Study
from annotation.quality.services.reporting import is_mail_set_up, message_to_admins
from annotation.raters import entry_links
from completions.writers import emails

logger = logging.getLogger(__name__)
TOLD_EVERY = dt.timedelta(days=1)
RECENT = dt.timedelta(days=2)
"""What is older is no news, though nobody was told of it."""
KEPT = dt.timedelta(days=30)


def count_failed_arrival(*, study: Study, platform: str, now: dt.datetime) -> None:
    """Count a visit by a link of ``platform`` without an id, if the study is open to people.

    Whatever the database says, nobody fails for it: a count that is lost is told by the log.
    """
    if study.state != StudyState.OPEN or study.is_simulated:
        return
    try:
        FailedArrival.objects.update_or_create(
            study=study,
            platform=platform,
            hour=now.replace(minute=0, second=0, microsecond=0),
            defaults={"n": F("n") + 1, "last_at": now},
            create_defaults={"first_at": now, "last_at": now},
        )
    except DatabaseError as error:
        logger.warning("an arrival at %s was not counted: %s", study.slug, type(error).__name__)


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
        "%(study)s: %(n)s from %(platform)s. The link has to look like this:\n%(link)s\n%(page)s"
    ) % {
        "study": study.title,
        "n": f"{n:,}",
        "platform": Platform(platform).label,
        "link": f"{entry}?{entry_links.FILLED_IN[platform]}",
        "page": emails.absolute(reverse("console:study", args=[study.slug])),
    }
