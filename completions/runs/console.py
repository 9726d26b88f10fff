"""The console's pages on runs of every kind: listed, watched, and moved on by buttons."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from access.console.tables import csv_of, read_text
from access.roles import StaffRequest, members_only
from completions.dialogues.forms import for_any_fault
from completions.models import Run
from completions.runs.services import budgeting, running
from completions.runs.view_data import (
    ON_PAGE,
    RUN_COLUMNS,
    RUNS,
    RunRow,
    all_runs,
    failed_calls,
    run_of,
    shown_runs,
)

Told = Mapping[str, Any]
REFUSALS = (running.RunStateError, running.BudgetTooSmallError, budgeting.UnknownPriceError)
"""What an act may answer instead of doing what was asked."""


class Budget(forms.Form):
    """How much a run may cost, in US dollars; nothing means that nobody watches."""

    budget_usd = forms.DecimalField(
        required=False,
        min_value=Decimal("0.01"),
        max_digits=12,
        decimal_places=6,
        label=gettext_lazy("Budget in US dollars"),
        error_messages=for_any_fault(
            gettext_lazy("Give a sum of at least 0.01, such as 25 or 2.50, or nothing.")
        ),
    )


class Move(Budget):
    """What goes with a button: another budget, and whether unusable answers are asked for again."""

    with_invalid = forms.BooleanField(required=False)


@require_safe
@members_only()
def runs(request: HttpRequest) -> HttpResponse:
    """List the runs of every kind, the newest first unless another order is asked for."""
    return show_runs(request, "console/models/runs.html")


@require_safe
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
@members_only()
def run(request: HttpRequest, kind: str, pk: int) -> HttpResponse:
    """Show how far a run is, and what can be done to it."""
    shown = _found(kind, pk)
    return render(request, "console/runs/run.html", {"shown": shown, "study": shown.study})


@require_safe
@members_only(is_part=True)
def progress(request: StaffRequest, kind: str, pk: int) -> HttpResponse:
    """Answer with a run's numbers; who has been signed out since is led to the sign-in page."""
    shown = _found(kind, pk)
    if request.GET.get("state") != shown.run.state:  # other buttons are due
        return HttpResponseClientRefresh()
    return render(request, "console/runs/_progress.html", {"shown": shown})


@require_safe
@members_only()
def failed(request: HttpRequest, kind: str, pk: int) -> HttpResponse:
    """List the calls of a run that brought nothing."""
    shown = _found(kind, pk)
    failure = read_text(request.GET, "kind")
    calls = failed_calls(shown.run, failure)
    page = Paginator(calls, ON_PAGE).get_page(request.GET.get("page", ""))
    parts = {"shown": shown, "study": shown.study, "kind": failure, "page": page}
    return render(request, "console/runs/failed.html", parts)


@require_POST
@members_only()
def act(request: StaffRequest, kind: str, pk: int, name: str) -> HttpResponse:
    """Pause a run, resume or cancel it, or ask again what failed."""
    shown = _found(kind, pk)
    _act(request, shown.run, name, by=request.user)
    return redirect(shown.here)


def _found(kind: str, pk: int) -> RunRow:
    shown = run_of(kind, pk, now=timezone.now())
    if shown is None:
        raise Http404
    return shown


def _act(request: HttpRequest, run: Run, name: str, *, by: User) -> None:
    """Do what a button asks of a run, and say how it went."""
    form = Move(request.POST)
    if not form.is_valid():
        messages.error(request, " ".join(map(str, form.errors["budget_usd"])))
        return
    try:
        said = ACTS[name](run, by, form.cleaned_data)
    except REFUSALS as error:
        messages.error(request, _("Nothing changed: %(why)s.") % {"why": error})
    else:
        messages.success(request, said)


def _pause(run: Run, by: User, _told: Told) -> str:
    running.pause_run(run, now=timezone.now(), by=by)
    return _("Paused: no further call is made. What was answered is kept.")


def _resume(run: Run, by: User, told: Told) -> str:
    running.resume_run(run, now=timezone.now(), by=by, budget_usd=told["budget_usd"])
    return _("It goes on.")


def _cancel(run: Run, by: User, _told: Told) -> str:
    running.cancel_run(run, now=timezone.now(), by=by)
    return _("Cancelled: what was waiting is given up. What was answered is kept.")


def _retry(run: Run, by: User, told: Told) -> str:
    n = running.retry_failed(run, now=timezone.now(), by=by, **told)
    if not n:
        return _("Nothing had failed: no call is made again.")
    said = ngettext(
        "%(n)s call is made again. What was answered is kept.",
        "%(n)s calls are made again. What was answered is kept.",
        n,
    )
    return said % {"n": f"{n:,}"}


ACTS: dict[str, Callable[[Run, User, Told], str]] = {
    "pause": _pause,
    "resume": _resume,
    "cancel": _cancel,
    "retry": _retry,
}
