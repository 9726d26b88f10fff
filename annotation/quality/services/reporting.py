"""Raters report what should not be shown, and admins decide about it (ADR-0029)."""

import datetime as dt
import uuid
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from access.log import record
from access.nudges import Work, nudge
from annotation.assignment import slots
from annotation.choices import RaterState, ReportKind, ReportOutcome
from annotation.models import Comparison, Rater, Report, ReportAlert, ReportDecision, Study
from annotation.quality import report_queries
from annotation.studies import selectors
from annotation.studies.services.announcing import announce_report
from completions.leases import timed
from completions.models import Context

ALERT_WITHIN_S = 60.0
"""A report should reach somebody soon, and not by one mail each."""
SKIP_REASON = {ReportKind.UPSET: "upsetting", ReportKind.CONTENT: "reported"}


class ReasonMissingError(ValueError):
    """A decision about a report needs a reason."""


@dataclass(frozen=True)
class ReportWords:
    """What a rater says in a report."""

    kind: ReportKind
    text: str = ""


@transaction.atomic
def report_context(
    *, token: uuid.UUID, rater: Rater, words: ReportWords, now: dt.datetime
) -> Report:
    """Store a rater's word on the dialogue of a lease, and give the lease's slot back.

    The rater is never shown the dialogue again. Admins are alerted; once as many raters as the
    study names have reported the dialogue since the last decision on it, it is held for everybody.
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
        defaults={
            "lease": lease,
            "kind": words.kind,
            "text": words.text,
            "reported_at": now,
        },
    )
    if is_new:
        ReportAlert.objects.create(report=report, created_at=now)
        nudge(Work.SEND_REPORT_ALERTS, within_s=ALERT_WITHIN_S)
        announce_report(report, rater.study, now=now)
        _hold_if_due(rater.study, context, now=now)
    timed.skip(lease, reason=SKIP_REASON[words.kind], give_back=slots.give_back, now=now)
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
    """Hold the dialogue for everybody if enough raters have reported it since the last decision."""
    needed = selectors.content_of(study)["reports_to_hold"]
    if report_queries.open_reports(study, context).count() < needed:
        return
    if _hold(study, context, now=now):
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
    held.exclude(selectors.INTACT).update(held_at=now)
    held.filter(selectors.INTACT).update(held_at=None)


def _lock(study: Study, context: Context, *, is_held: bool) -> QuerySet[Comparison]:
    """Lock the study's comparisons of a context that are held, or that are not.

    All rows are locked in one statement and in one order, by a caller that holds no other
    comparison: so two who hold dialogues, or one who holds and one who leases, never deadlock.
    """
    rows = Comparison.objects.filter(study=study, context=context, held_at__isnull=not is_held)
    locked = rows.order_by("pk").select_for_update(no_key=True)
    return Comparison.objects.filter(pk__in=[row.pk for row in locked])
