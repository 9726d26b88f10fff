"""Reads about reports of raters."""

from django.db.models import QuerySet

from annotation.models import Report, ReportDecision, Study
from completions.models import Context


def newest_decision(study: Study, context: Context) -> ReportDecision | None:
    """Return what was decided last about a reported context of the study, or None."""
    decisions = ReportDecision.objects.filter(study=study, context=context)
    return decisions.order_by("-decided_at", "-pk").first()


def open_reports(study: Study, context: Context) -> QuerySet[Report]:
    """Return the reports of the context by the study's raters that nobody has decided about."""
    reports = Report.objects.filter(rater__study=study, context=context)
    decision = newest_decision(study, context)
    return reports.filter(reported_at__gt=decision.decided_at) if decision else reports
