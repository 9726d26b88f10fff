"""The console's pages on runs of every kind: listed, watched, and moved on by buttons."""

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from access.console.tables import csv_of
from access.roles import StaffRequest, members_only
from completions.runs import http
from completions.runs.view_data import (
    ON_PAGE,
    RUN_COLUMNS,
    RUNS,
    RunRow,
    all_runs,
    run_of,
    shown_runs,
)


@require_safe
@never_cache
@members_only()
def runs(request: HttpRequest) -> HttpResponse:
    """List the runs of every kind, the newest first unless another order is asked for."""
    return show_runs(request, "console/models/runs.html")


@require_safe
@never_cache
@members_only()
def runs_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Download the same runs, in the same order."""
    return download_runs(request, "runs")


def show_runs(
    request: HttpRequest, template: str, *, of: dict[str, object] | None = None, **parts: object
) -> HttpResponse:
    """Show one page of the runs that the address means; ``of`` says of what."""
    query = RUNS.asked(request)
    page = Paginator(all_runs(query, **of or {}), ON_PAGE).get_page(request.GET.get("page", ""))
    rows = shown_runs(list(page), now=timezone.now())
    return render(request, template, parts | {"page": page, "rows": rows, "filters": query})


def download_runs(request: HttpRequest, name: str, **of: object) -> StreamingHttpResponse:
    """Return all of the runs that the address means, as a table."""
    rows = shown_runs(list(all_runs(RUNS.asked(request), **of)), now=timezone.now())
    return csv_of(request, name, RUN_COLUMNS, (row.cells for row in rows))


@require_safe
@never_cache
@members_only()
def run(request: HttpRequest, kind: str, pk: int) -> HttpResponse:
    """Show how far a run is, and what can be done to it."""
    shown = _found(kind, pk)
    return render(request, "console/runs/run.html", {"shown": shown, "study": shown.study})


@require_safe
@never_cache
@members_only(is_part=True)
def progress(request: StaffRequest, kind: str, pk: int) -> HttpResponse:
    """Answer with a run's numbers; who has been signed out since is led to the sign-in page."""
    return http.show_progress(request, _found(kind, pk))


@require_safe
@never_cache
@members_only()
def failed(request: HttpRequest, kind: str, pk: int) -> HttpResponse:
    """List the calls of a run that brought nothing."""
    shown = _found(kind, pk)
    template = "console/runs/failed.html"
    return http.show_failures(request, shown, template=template, study=shown.study)


@require_POST
@never_cache
@members_only()
def act(request: StaffRequest, kind: str, pk: int, name: str) -> HttpResponse:
    """Pause a run, resume or cancel it, or ask again what failed."""
    shown = _found(kind, pk)
    http.act(request, shown.run, name, by=request.user)
    return redirect(shown.here)


def _found(kind: str, pk: int) -> RunRow:
    shown = run_of(kind, pk, now=timezone.now())
    if shown is None:
        raise Http404
    return shown
