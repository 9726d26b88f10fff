"""Tell admins by e-mail that raters reported something; the alert rows are the queue (ADR-0004)."""

import datetime as dt

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.choices import ReportKind
from annotation.models import ReportAlert
from completions.writers import emails

BATCH = 50
RETRY_AFTER = dt.timedelta(minutes=10)


def is_mail_set_up() -> bool:
    """Say whether there is somebody to write to, and a way to do so."""
    return bool(settings.HEART_ADMINS) and emails.is_server_set_up()


def message_to_admins(subject: str, body: str) -> EmailMessage:
    """Return a message from the site to its admins."""
    return EmailMessage(subject, body, settings.HEART_EMAIL_FROM, settings.HEART_ADMINS)


def send_report_alerts(*, now: dt.datetime) -> int:
    """Send the waiting alerts in one message; return how many were sent.

    Safe to run twice and at once: an alert that somebody claimed is left alone until the claim
    is ten minutes old, so an alert is sent at least once, and twice only if a sender died just
    after sending. What could not be sent is kept with the error and tried again. Without mail
    set up nothing is claimed; the console shows the reports in any case.
    """
    if not is_mail_set_up():
        return 0
    alerts = _claim(now)
    if not alerts:
        return 0
    try:
        _message(alerts).send()
    except OSError as error:  # the network's errors, and SMTPException among them
        _claimed(alerts).update(error=f"{type(error).__name__}: {error}"[:500])
        return 0
    return _claimed(alerts).update(sent_at=now, error="")


@transaction.atomic
def _claim(now: dt.datetime) -> list[ReportAlert]:
    """Take waiting alerts that no other sender has, with what the message says of them."""
    forgotten = Q(claimed_at=None) | Q(claimed_at__lte=now - RETRY_AFTER)
    waiting = ReportAlert.objects.filter(forgotten, sent_at=None)
    shown = waiting.select_related("report__context", "report__rater__study")
    alerts = list(shown.order_by("pk").select_for_update(skip_locked=True, of=("self",))[:BATCH])
    _claimed(alerts).update(claimed_at=now, attempts=F("attempts") + 1)
    return alerts


def _claimed(alerts: list[ReportAlert]) -> QuerySet[ReportAlert]:
    return ReportAlert.objects.filter(pk__in=[alert.pk for alert in alerts])


def _message(alerts: list[ReportAlert]) -> EmailMessage:
    """Write what admins need to find the reports; neither a dialogue nor a rater's words."""
    n = len(alerts)
    subject = ngettext("HEART: %(n)d report by a rater", "HEART: %(n)d reports by raters", n)
    lines = [
        _("Raters reported conversations. These, and what they wrote, are in the console alone."),
        "",
        *sorted({_line(alert) for alert in alerts}),
    ]
    return message_to_admins(subject % {"n": n}, "\n".join(lines))


def _line(alert: ReportAlert) -> str:
    report = alert.report
    study = report.rater.study
    return _("%(study)s: conversation %(key)s. %(kind)s. Decide at %(address)s") % {
        "study": study.title,
        "key": report.context.key,
        "kind": ReportKind(report.kind).label,
        "address": emails.absolute(reverse("console:reports", args=[study.slug])),
    }
