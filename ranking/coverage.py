"""The console's coverage map of a study, and the comparisons and judgments behind its counts."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from access.console.tables import TableQuery, csv_of, read_text
from access.roles import StaffRequest
from annotation.models import Study
from annotation.overview import queries as overview
from annotation.studies.http import kept_counts, study_page
from annotation.studies.queries import study_file_name
from completions.generation.services import retry_completions
from completions.runs.services import budgeting, running
from completions.systems import coverage as system_coverage
from completions.systems.coverage import COVERAGE, STATES, UnknownCoverageError

COLUMNS = ("context", "system", "state", "completions")


@require_safe
@study_page
def coverage(request: StaffRequest, study: Study) -> HttpResponse:
    """Show which contexts have a completion of which system."""
    query = _asked(request)
    try:
        found = system_coverage.coverage(study.dataset, query, request.GET.get("page", ""))
    except UnknownCoverageError as error:
        raise Http404 from error
    parts = {"study": study, "filters": query, "map": found, "states": STATES.items()}
    return render(request, "console/study/coverage.html", parts)


@require_safe
@study_page
def coverage_csv(request: StaffRequest, study: Study) -> StreamingHttpResponse:
    """Download the cells meant, a row each."""
    try:
        systems, rows = system_coverage.all_rows(study.dataset, _asked(request))
    except UnknownCoverageError as error:
        raise Http404 from error
    is_simulated = any(one.is_simulated for one in systems)
    name = study_file_name(study, "coverage", is_simulated=is_simulated)
    return csv_of(request, name, COLUMNS, rows)


def _asked(request: StaffRequest) -> TableQuery:
    told = {name: read_text(request.GET, name) for name in ("state", "system")}
    return COVERAGE.asked(request, **told)


@require_safe
@study_page
def cell(request: StaffRequest, study: Study, context: str, system: str) -> HttpResponse:
    """Show what there is of one system in one context, and what went wrong."""
    found = system_coverage.cell_details(study.dataset, context=context, system=system)
    if found is None:
        raise Http404
    return render(request, "console/study/cell.html", {"study": study, "shown": found})


@require_POST
@study_page
def retry(request: StaffRequest, study: Study) -> HttpResponse:
    """Ask again for what failed: of one cell, of a system, or all."""
    told = {name: read_text(request.POST, name) for name in ("context", "system")}
    try:
        n = retry_completions(dataset=study.dataset, now=timezone.now(), by=request.user, **told)
    except (running.RunStateError, running.BudgetTooSmallError, budgeting.UnknownPriceError) as why:
        messages.error(request, _("Nothing changed: %(why)s.") % {"why": why})
    else:
        messages.success(request, _said(n))
    if told["context"] and told["system"]:
        return redirect("raters:cell", study.slug, told["context"], told["system"])
    query = urlencode({"system": told["system"]} if told["system"] else {})
    return redirect(f"{reverse('raters:coverage', args=[study.slug])}?{query}")


def _said(n: int) -> str:
    if not n:
        return _("Nothing had failed that a run could ask again.")
    return ngettext(
        "%(n)s call is made again. What was answered is kept.",
        "%(n)s calls are made again. What was answered is kept.",
        n,
    ) % {"n": f"{n:,}"}


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
@study_page
def comparisons(request: StaffRequest, study: Study) -> HttpResponse:
    """List the comparisons, with what was said of each."""
    query = overview.COMPARISONS.asked(request)
    page, rows = overview.comparison_page(study, query, request.GET.get("page", ""))
    parts = {"study": study, "filters": query, "page": page, "rows": rows}
    return render(request, "console/study/comparisons.html", parts)


@require_safe
@study_page
def comparisons_csv(request: StaffRequest, study: Study) -> StreamingHttpResponse:
    """Download the same comparisons, in the same order."""
    rows = overview.all_comparisons(study, overview.COMPARISONS.asked(request))
    lines = (
        (
            row.public_key,
            row.context.key,
            row.first.system.name,
            row.second.system.name if row.second else "",
            row.get_purpose_display(),
            by_people,
            by_judges,
            row.slots_left,
            row.held_at is not None,
        )
        for row, by_people, by_judges in rows
    )
    return csv_of(request, study_file_name(study, "comparisons"), COMPARISON_COLUMNS, lines)


@require_safe
@study_page
def judgments(request: StaffRequest, study: Study) -> HttpResponse:
    """List the judgments."""
    query = overview.JUDGMENTS.asked(request)
    counts = kept_counts(study, now=timezone.now())
    page, rows = overview.judgment_page(study, query, request.GET.get("page", ""), counts)
    parts = {"study": study, "filters": query, "page": page, "rows": rows}
    return render(request, "console/study/judgments.html", parts)


@require_safe
@study_page
def judgments_csv(request: StaffRequest, study: Study) -> StreamingHttpResponse:
    """Download the same judgments, in the same order."""
    shown = overview.all_judgments(study, overview.JUDGMENTS.asked(request))
    lines = (
        (
            one.at,
            one.who,
            one.is_simulated,
            one.key,
            one.context,
            one.better,
            one.words,
            one.worse,
            "; ".join(one.notes),
            one.rationale,
        )
        for one in shown
    )
    return csv_of(request, study_file_name(study, "judgments"), JUDGMENT_COLUMNS, lines)
