"""Raters report what should not be shown; admins are told, and decide about it (ADR-0029)."""

import datetime as dt
import uuid

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from access.log import record
from access.nudges import Work, is_lost, nudge
from annotation.assignment import slots
from annotation.choices import RaterState, ReportKind, ReportOutcome
from annotation.models import Comparison, Rater, Report, ReportAlert, ReportDecision, Study
from annotation.quality import report_queries
from annotation.studies import queries as study_queries
from annotation.studies.services.states import announce_report
from completions.leases import timed
from completions.leases.timed import atomic_despite_deadlocks
from completions.models import Context
from completions.writers import emails

BATCH = 50
RETRY_AFTER = dt.timedelta(minutes=10)
ALERT_WITHIN_S = 60.0
"""A report should reach somebody soon, and not by one mail each."""
SKIP_REASON = {ReportKind.UPSET: "upsetting", ReportKind.CONTENT: "reported"}


class ReasonMissingError(ValueError):
    """A decision about a report needs a reason."""


@atomic_despite_deadlocks
def report_context(
    *, token: uuid.UUID, rater: Rater, kind: ReportKind, text: str = "", now: dt.datetime
) -> Report:
    """Store a rater's word on the dialogue of a lease, and give the lease's slot back.

    The rater is never shown the dialogue again. Admins are alerted; once as many raters as the
    study names have reported the dialogue since the last decision on it, it is held for everybody,
    unless a quarter of the study is held so and waits for a decision.
    A dialogue is reported once per rater: repeating it changes nothing.

    Raises
    ------
    LeaseNotFoundError
        If ``rater`` holds no lease with this token, or has withdrawn.
    """
    rater = slots.lock_rater(rater)
    if rater.state == RaterState.WITHDRAWN:
        raise slots.LeaseNotFoundError
    lease = slots.lock_lease(token, rater)
    context = _lock_context(lease.comparison.context_id)
    report, is_new = Report.objects.get_or_create(
        rater=rater,
        context=context,
        defaults={"lease": lease, "kind": kind, "text": text, "reported_at": now},
    )
    if is_new:
        ReportAlert.objects.create(report=report, created_at=now)
        nudge(Work.SEND_REPORT_ALERTS, within_s=ALERT_WITHIN_S)
        announce_report(report, rater.study, now=now)
        _hold_if_due(rater.study, context, now=now)
    timed.skip(lease, reason=SKIP_REASON[kind], give_back=slots.give_back, now=now)
    return report


@transaction.atomic
def decide_report(
    *,
    study: Study,
    context: Context,
    outcome: ReportOutcome,
    reason: str,
    by: User | None,
    now: dt.datetime,
) -> ReportDecision:
    """Show a reported dialogue again or to nobody any more, with the reason; the newest word holds.

    Released, it stays hidden from those who reported it, and reports count from zero again.
    What was judged of it stays in every analysis.

    Raises
    ------
    ReasonMissingError
        If there is no reason.
    """
    if not reason.strip():
        msg = "a decision about a report needs a reason"
        raise ReasonMissingError(msg)
    context = _lock_context(context.pk)
    decision = ReportDecision.objects.create(
        study=study,
        context=context,
        outcome=outcome,
        reason=reason.strip(),
        decided_at=now,
        decided_by=by,
    )
    if outcome == ReportOutcome.DROPPED:
        _hold(study, context, now=now)
    else:
        _release(study, context, now=now)
    record(
        action=f"reports.{outcome.lower()}",
        subject=f"context {context.key} in study {study.slug}",
        now=now,
        by=by,
        after={"reason": decision.reason},
    )
    return decision


def hold_latecomers(study: Study, *, now: dt.datetime) -> int:
    """Hold what was added to dialogues that are held already; return how many comparisons.

    Only planning adds any, and calls this in its own transaction.
    """
    held = report_queries.held_contexts(study)
    added = Comparison.objects.filter(study=study, context__in=held, held_at=None)
    return added.update(held_at=now)


def _lock_context(pk: int) -> Context:
    """Lock a dialogue, so that reports of it and decisions come one after the other.

    Nobody waits for this row with a comparison's in hand; no_key, so that others may refer to it.
    """
    return Context.objects.select_for_update(no_key=True).get(pk=pk)


def _hold_if_due(study: Study, context: Context, *, now: dt.datetime) -> None:
    """Hold the dialogue for everybody if enough raters have reported it since the last decision.

    Not if too many are held so already: then it waits for an admin, who is alerted in any case.
    """
    needed = study_queries.content_of(study)["reports_to_hold"]
    if report_queries.open_reports(study, context).count() < needed:
        return
    if report_queries.may_hold_more(study) and _hold(study, context, now=now):
        record(
            action="reports.held",
            subject=f"context {context.key} in study {study.slug}",
            now=now,
            after={"reports": needed},
        )


def _hold(study: Study, context: Context, *, now: dt.datetime) -> int:
    """Hold the study's comparisons of a context; return how many were not held before."""
    return _lock(study, context, is_held=False).update(held_at=now)


def _release(study: Study, context: Context, *, now: dt.datetime) -> None:
    """Let the study's comparisons of a context be shown again, but for deleted texts.

    What compares a deleted text stays held for good: from now on, for that reason alone.
    """
    held = _lock(study, context, is_held=True)
    held.exclude(study_queries.INTACT).update(held_at=now)
    held.filter(study_queries.INTACT).update(held_at=None)


def _lock(study: Study, context: Context, *, is_held: bool) -> QuerySet[Comparison]:
    """Lock the study's comparisons of a context that are held, or that are not.

    All rows are locked in one statement and in one order, by a caller that holds no other
    comparison: so two who hold dialogues, or one who holds and one who leases, never deadlock.
    """
    rows = Comparison.objects.filter(study=study, context=context, held_at__isnull=not is_held)
    locked = rows.order_by("pk").select_for_update(no_key=True)
    return Comparison.objects.filter(pk__in=[row.pk for row in locked])


def is_mail_set_up() -> bool:
    """Say whether there is somebody to write to, and a way to do so."""
    return bool(settings.HEART_ADMINS) and emails.is_server_set_up()


def message_to_admins(subject: str, body: str) -> EmailMessage:
    """Return a message from the site to its admins."""
    return EmailMessage(subject, body, settings.HEART_EMAIL_FROM, settings.HEART_ADMINS)


def send_report_alerts(*, now: dt.datetime) -> int:
    """Send the waiting alerts in one message; return how many were sent.

    The alert rows are the queue (ADR-0004).

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
    forgotten = Q(claimed_at=None) | is_lost(now=now, after=RETRY_AFTER)
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
    subject = ngettext("HEART: %(n)s report by a rater", "HEART: %(n)s reports by raters", n)
    lines = [
        _("Raters reported conversations. These, and what they wrote, are in the console alone."),
        "",
        *sorted({_line(alert) for alert in alerts}),
    ]
    return message_to_admins(subject % {"n": f"{n:,}"}, "\n".join(lines))


def _line(alert: ReportAlert) -> str:
    report = alert.report
    study = report.rater.study
    return _("%(study)s: conversation %(key)s. %(kind)s. Decide at %(address)s") % {
        "study": study.title,
        "key": report.context.key,
        "kind": ReportKind(report.kind).label,
        "address": emails.absolute(reverse("console:reports", args=[study.slug])),
    }
