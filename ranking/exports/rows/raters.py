"""Raters by pseudonym."""

import datetime as dt
from collections.abc import Iterator

from django.db.models import Count, F, Model, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from access.console.csv_cells import Cell
from annotation.models import Exclusion, Judgment, Lease, Rater, Study
from completions.choices import LeaseOutcome
from ranking.exports.data_dictionary import ExportColumn
from ranking.exports.rows.facts import streamed, study_columns


def rows(
    study: Study, columns: tuple[ExportColumn, ...], *, now: dt.datetime
) -> Iterator[tuple[Cell, ...]]:
    """Yield one row per rater of the study; one query, read in batches."""
    decisions = Exclusion.objects.filter(rater=OuterRef("pk"), decided_at__lte=now)
    newest = decisions.order_by("-decided_at", "-pk")
    checks = Judgment.objects.filter(lease__quality_check__isnull=False, revises__isnull=True)
    known: dict[str, Combinable] = {
        "rater": F("code"),
        "is_simulated": F("is_simulated"),
        "is_team": F("is_team"),
        "state": F("state"),
        "stage": F("stage"),
        "platform": F("platform"),
        "entered_at": F("entered_at"),
        "ended_at": F("ended_at"),
        "data_kept": F("data_kept"),
        "n_judgments": _own(Judgment.objects.all()),
        "n_checks": _own(checks),
        "n_skipped": _own(Lease.objects.filter(outcome=LeaseOutcome.SKIPPED)),
        "is_excluded": Subquery(newest.values("is_excluded")[:1]),
        "exclusion": Subquery(newest.values("rule")[:1]),
        "exclusion_reason": Subquery(newest.values("reason")[:1]),
        "decided_at": Subquery(newest.values("decided_at")[:1]),
        **study_columns(study),
    }
    found = Rater.objects.filter(Q(study=study)).order_by("pk")
    yield from streamed(found.values_list(*(known[column.name] for column in columns)))


def _own(found: QuerySet[Model]) -> Combinable:
    """Return how many of the rows are the rater's."""
    own = found.filter(rater=OuterRef("pk")).order_by().values("rater")
    return Coalesce(Subquery(own.annotate(n=Count("pk")).values("n")), Value(0))
