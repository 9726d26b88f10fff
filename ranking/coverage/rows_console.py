"""The console's lists of a study's comparisons and judgments: the rows behind its counts."""

from typing import TypeVar

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from access.console.tables import csv_of
from access.roles import StaffRequest
from annotation.models import Study
from annotation.overview import rows as overview_rows
from annotation.overview.rows import (
    ComparisonsQuery,
    JudgmentsQuery,
    RowsQuery,
    UnknownRowsError,
)
from annotation.studies.http import kept_counts
from ranking.raters.http import staff_page

Query = TypeVar("Query", bound=RowsQuery)

COMPARISON_COLUMNS = (
    "comparison",
    "context",
    "first_system",
    "second_system",
    "purpose",
    "judgments_by_people",
    "judgments_by_judges",
    "slots_left",
    "is_held",
)
JUDGMENT_COLUMNS = (
    "submitted_at",
    "evaluator",
    "is_simulated",
    "comparison",
    "context",
    "better_system",
    "finding",
    "worse_system",
    "notes",
    "rationale",
)


@require_safe
@staff_page
def comparisons(request: StaffRequest, study: Study) -> HttpResponse:
    """List the comparisons, with what was said of each."""
    wanted = _wanted(ComparisonsQuery, request)
    page, rows = overview_rows.comparison_page(study, wanted, request.GET.get("page", ""))
    parts = {"study": study, "wanted": wanted, "page": page, "rows": rows}
    return render(request, "console/study/comparisons.html", parts)


@require_safe
@staff_page
def comparisons_csv(request: StaffRequest, study: Study) -> StreamingHttpResponse:
    """Download the same comparisons, in the same order."""
    rows = overview_rows.all_comparisons(study, _wanted(ComparisonsQuery, request))
    lines = (
        (
            row.key,
            row.context,
            row.first,
            row.second,
            row.purpose,
            row.by_people,
            row.by_judges,
            row.slots_left,
            row.is_held,
        )
        for row in rows
    )
    return csv_of(request, f"{study.slug}-comparisons", COMPARISON_COLUMNS, lines)


@require_safe
@staff_page
def judgments(request: StaffRequest, study: Study) -> HttpResponse:
    """List the judgments."""
    wanted = _wanted(JudgmentsQuery, request)
    counts = kept_counts(study, now=timezone.now())
    page, rows = overview_rows.judgment_page(study, wanted, request.GET.get("page", ""), counts)
    parts = {"study": study, "wanted": wanted, "page": page, "rows": rows}
    return render(request, "console/study/judgments.html", parts)


@require_safe
@staff_page
def judgments_csv(request: StaffRequest, study: Study) -> StreamingHttpResponse:
    """Download the same judgments, in the same order."""
    shown = overview_rows.all_judgments(study, _wanted(JudgmentsQuery, request))
    lines = (
        (
            one.row.at,
            one.row.who,
            one.row.is_simulated,
            one.key,
            one.context,
            one.row.better,
            one.row.words,
            one.row.worse,
            "; ".join(one.row.notes),
            one.row.rationale,
        )
        for one in shown
    )
    return csv_of(request, f"{study.slug}-judgments", JUDGMENT_COLUMNS, lines)


def _wanted(kind: type[Query], request: StaffRequest) -> Query:
    try:
        return kind.of(request.GET)
    except UnknownRowsError as error:
        raise Http404 from error
