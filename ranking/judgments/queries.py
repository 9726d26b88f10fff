"""What the API lists of judgments."""

import datetime as dt

from django.db.models import Case, QuerySet, When

from annotation.models import Judgment, Study
from ranking.judgments.analysis_set import SIMULATED, analysis_set


def judgments(study: Study) -> QuerySet[Judgment]:
    """Return the judgments of a study with what is said of them, in two queries."""
    pair = "comparison__"
    texts = ("context__turns", "context__provenance", "first__text", "second__text")
    return (
        Judgment.objects.filter(comparison__study=study)
        .select_related(
            *(f"{pair}{name}" for name in ("context", "first__system", "second__system")),
            *("rater", "judge", "judge_call", "lease"),
        )
        .defer(*(f"{pair}{name}" for name in texts), "judge_call__asked")
        .prefetch_related("marks")
        .annotate(
            is_simulated=Case(When(SIMULATED, then=True), default=False),
            is_check=Case(When(lease__quality_check__isnull=False, then=True), default=False),
            is_repeat=Case(When(lease__repeats__isnull=False, then=True), default=False),
            # Joined: for a subquery, the planner may read all judgments for a page of them.
            is_revised=Case(When(revision__isnull=False, then=True), default=False),
        )
    )


def with_counts(rows: list[Judgment], *, study: Study, now: dt.datetime) -> list[Judgment]:
    """Return the judgments of a page, each with ``counts``: whether a fit of now would use it."""
    keys = [row.pk for row in rows]
    among = analysis_set(study=study, as_of=now).filter(pk__in=keys)
    counted = frozenset(among.values_list("pk", flat=True))
    for row in rows:
        row.counts = row.pk in counted  # type: ignore[attr-defined] # like an annotation
    return rows
