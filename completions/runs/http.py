"""What the pages of all runs do alike: the acts, in words, and the numbers that change."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django_htmx.http import HttpResponseClientRefresh

from access.console.table_query import read_text
from completions.models import Run
from completions.runs import view_data as run_shown
from completions.runs.services import budgeting, running
from completions.runs.view_data import RunRow

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
        error_messages={
            name: gettext_lazy("Give a sum of at least 0.01, such as 25 or 2.50, or nothing.")
            for name in ("invalid", "min_value", "max_digits", "max_whole_digits")
        },
    )


class Move(Budget):
    """What goes with a button: another budget, and whether unusable answers are asked for again."""

    with_invalid = forms.BooleanField(required=False)


def act(request: HttpRequest, run: Run, name: str, *, by: User) -> None:
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


def show_progress(request: HttpRequest, shown: RunRow) -> HttpResponse:
    """Answer with the numbers alone; once other buttons are due, have the page load again."""
    if request.GET.get("state") != shown.run.state:
        return HttpResponseClientRefresh()
    return render(request, "console/runs/_progress.html", {"shown": shown})


def show_failures(
    request: HttpRequest, shown: RunRow, *, template: str, **parts: object
) -> HttpResponse:
    """List the calls that brought nothing, of one kind or of all."""
    kind, number = read_text(request.GET, "kind"), request.GET.get("page", "")
    page, rows = run_shown.failure_page(shown.run, kind=kind, page=number)
    parts |= {"shown": shown, "kind": kind, "page": page, "rows": rows}
    return render(request, template, parts)


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
