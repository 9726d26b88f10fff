"""The console's pages on judges and their runs in a study, with the form of a run."""

import datetime as dt
import os
from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from access.console.tables import PER_PAGE, TableQuery, csv_of
from access.roles import StaffRequest, members_only
from annotation.judges import judge_catalogue, queries, services
from annotation.judges.queries import JudgeRow
from annotation.judges.services.running import Asking
from annotation.models import Judge, JudgeRun, Study
from annotation.studies.http import study_or_404, study_page
from completions.runs import http
from completions.runs import queries as run_queries
from completions.runs.http import Budget
from completions.runs.queries import RunProgress
from completions.runs.services import budgeting
from completions.runs.services.running import NothingToAskError
from completions.runs.view_data import ON_PAGE, RUN_COLUMNS, RUNS, ShownRun
from completions.systems import tables
from completions.systems.queries import Choose
from completions.systems.tables import ListedModel

MOST_SAMPLES = 100


class WantedJudging(forms.Form):
    """Who judges, in which orders, how often, and how freely."""

    judges: "forms.ModelMultipleChoiceField[Judge]" = forms.ModelMultipleChoiceField(
        queryset=None,
        to_field_name="slug",
        label=gettext_lazy("Judges"),
        error_messages={
            "required": gettext_lazy("Choose at least one judge."),
            "invalid_choice": gettext_lazy(
                "One of the judges is not registered any more. Choose again."
            ),
        },
    )
    both_orders = forms.BooleanField(
        required=False,
        label=gettext_lazy("In both orders: each pair twice, the messages exchanged"),
    )
    samples = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_SAMPLES,
        label=gettext_lazy("Answers wanted in each order"),
        error_messages={
            name: gettext_lazy("Give a whole number from 1 to 100.")
            for name in ("invalid", "min_value", "max_value")
        },
    )
    temperature = forms.FloatField(
        required=False,
        min_value=0,
        max_value=2,
        label=gettext_lazy("Temperature"),
        error_messages={
            name: gettext_lazy("Give a temperature from 0 to 2, or nothing.")
            for name in ("invalid", "min_value", "max_value")
        },
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 (as forms take them)
        super().__init__(*args, **kwargs)
        ranked = Judge.objects.order_by("is_simulated", "name")
        self.fields["judges"].queryset = ranked  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Refuse several samples that would be copies of one."""
        found = super().clean() or self.cleaned_data
        found["samples"] = found.get("samples") or 1
        if not self.errors and found["samples"] > 1 and not found["temperature"]:
            raise ValidationError(
                gettext_lazy(
                    "Several answers need a temperature above 0: at 0 they would be copies of one."
                )
            )
        return found

    @property
    def asking(self) -> Asking:
        """Return how each judge is asked; only of a valid form."""
        told = self.cleaned_data
        return Asking(
            both_orders=told["both_orders"],
            samples=told["samples"],
            temperature=told["temperature"],
        )


JUDGES = tables.listing(gettext_lazy("Judge"), counted=("n_calls", gettext_lazy("Calls")))


@require_safe
@never_cache
@members_only()
def all_judges(request: HttpRequest) -> HttpResponse:
    """List the judges that are registered, and what a call to them still needs."""
    wanted = JUDGES.asked(request)
    page = Paginator(_lines(os.environ, wanted.apply), PER_PAGE).get_page(
        request.GET.get("page", "")
    )
    return render(request, "console/judges/judges.html", {"page": page, "wanted": wanted})


@require_safe
@never_cache
@members_only()
def all_judges_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Download the same judges, in the same order; of a key, the name of its variable alone."""
    lines = _lines(os.environ, JUDGES.asked(request).apply)
    cells = ((*one.cells, one.row.n_calls) for one in lines)
    return csv_of(request, "judges", (*tables.COLUMNS, "calls"), cells)


@require_safe
@study_page
def runs(request: StaffRequest, study: Study) -> HttpResponse:
    """List the study's runs of judges, the newest first unless another order is asked for."""
    wanted = RUNS.asked(request)
    page, rows = judge_runs(study, wanted, request.GET.get("page", ""), now=timezone.now())
    parts = {"study": study, "page": page, "rows": rows, "wanted": wanted}
    return render(request, "console/judges/runs.html", parts)


@require_safe
@study_page
def runs_csv(request: StaffRequest, study: Study) -> StreamingHttpResponse:
    """Download the same runs, in the same order."""
    rows = all_judge_runs(study, RUNS.asked(request), now=timezone.now())
    return csv_of(request, f"{study.slug}-judge-runs", RUN_COLUMNS, (row.cells for row in rows))


@require_safe
@study_page
def choose(request: StaffRequest, study: Study) -> HttpResponse:
    """Ask who is to judge, in which orders and how often."""
    return _choose(request, study, WantedJudging())


@require_safe
@study_page
def plan(request: StaffRequest, study: Study) -> HttpResponse:
    """Show what such a run would come to; nothing is written."""
    form = WantedJudging(request.GET)
    if not form.is_valid():
        return _choose(request, study, form)
    return _show_plan(request, study, form, Budget())


@require_POST
@study_page
def start(request: StaffRequest, study: Study) -> HttpResponse:
    """Start the run that was planned."""
    form, budget = WantedJudging(request.POST), Budget(request.POST)
    if not form.is_valid():
        return _choose(request, study, form)
    if not budget.is_valid():
        return _show_plan(request, study, form, budget)
    wanted = {"study": study, "judges": form.cleaned_data["judges"], "asking": form.asking}
    try:
        run = services.start_judge_run(
            **wanted, **budget.cleaned_data, by=request.user, now=timezone.now()
        )
    except services.StudyNotLockedError:
        budget.add_error(None, _("Nothing was started: the study is not locked yet."))
    except (*http.REFUSALS, NothingToAskError) as error:
        budget.add_error(None, _("Nothing was started: %(why)s.") % {"why": error})
    else:
        return redirect("console:judge_run", study.slug, run.pk)
    return _show_plan(request, study, form, budget)


@require_safe
@study_page
def run(request: StaffRequest, study: Study, pk: int) -> HttpResponse:
    """Show how far a run is, and what can be done to it."""
    parts = {"study": study, "shown": _found(study, pk)}
    return render(request, "console/judges/run.html", parts)


@require_safe
@never_cache
@members_only(is_part=True)
def progress(request: StaffRequest, study: str, pk: int) -> HttpResponse:
    """Answer with a run's numbers; who has been signed out since is led to the sign-in page."""
    return http.show_progress(request, _found(study_or_404(study), pk))


@require_safe
@study_page
def failed(request: StaffRequest, study: Study, pk: int) -> HttpResponse:
    """List the calls of a run that brought nothing."""
    shown = _found(study, pk)
    template = "console/judges/failed.html"
    return http.show_failures(request, shown, template=template, study=study)


@require_POST
@study_page
def act(request: StaffRequest, study: Study, pk: int, name: str) -> HttpResponse:
    """Pause a run, resume or cancel it, or ask again what failed."""
    http.act(request, _found(study, pk).run, name, by=request.user)
    return redirect("console:judge_run", study.slug, pk)


def _lines(environment: Mapping[str, str], choose: Choose) -> list[ListedModel[JudgeRow]]:
    listed = {entry.slug for entry in judge_catalogue.load_judges(judge_catalogue.shipped())}
    judges = Judge.objects.in_bulk(field_name="slug")
    return [
        ListedModel(row, row.slug in listed, budgeting.price_of(judges[row.slug]))
        for row in queries.judge_rows(environment, choose)
    ]


def _found(study: Study, pk: int) -> ShownRun:
    shown = judge_run(study, pk, now=timezone.now())
    if shown is None:
        raise Http404
    return shown


def _choose(request: HttpRequest, study: Study, form: WantedJudging) -> HttpResponse:
    parts = {"study": study, "form": form}
    return render(request, "console/judges/choose.html", parts, status=422 if form.errors else 200)


def _show_plan(
    request: HttpRequest, study: Study, form: WantedJudging, budget: Budget
) -> HttpResponse:
    draft = services.draft_judge_run(
        study=study,
        judges=list(form.cleaned_data["judges"]),
        asking=form.asking,
        environment=os.environ,
        now=timezone.now(),
    )
    parts = {"study": study, "draft": draft, "asking": form.asking, "budget": budget}
    return render(request, "console/judges/plan.html", parts, status=422 if budget.errors else 200)


def judge_run(study: Study, number: int, *, now: dt.datetime) -> ShownRun | None:
    """Return the study's run of that number, or nothing if there is none."""
    found = _runs(study).filter(pk=number).first()
    return None if found is None else _shown([found], now=now)[0]


def judge_runs(
    study: Study, wanted: TableQuery, page: str, *, now: dt.datetime
) -> tuple[Page[Any], list[ShownRun]]:
    """Return one page of the study's runs that are meant."""
    found: Page[Any] = wanted.page(_runs(study), page, per_page=ON_PAGE)
    return found, _shown(list(found), now=now)


def all_judge_runs(study: Study, wanted: TableQuery, *, now: dt.datetime) -> list[ShownRun]:
    """Return all of the study's runs that are meant."""
    return _shown(list(wanted.apply(_runs(study))), now=now)


def _runs(study: Study) -> Any:  # noqa: ANN401 (a queryset with its rows)
    return JudgeRun.objects.filter(study=study).select_related("study__dataset", "created_by")


def _shown(runs: list[JudgeRun], *, now: dt.datetime) -> list[ShownRun]:
    """Return the runs as pages show them, in a fixed number of queries."""
    progress = run_queries.progress_of_each(runs, now=now)
    slugs = {slug for run in runs for slug in run.plan.get("judges", ())}
    judges = Judge.objects.filter(slug__in=slugs).in_bulk(field_name="slug")
    return [_shown_one(run, judges, progress[run.pk]) for run in runs]


def _shown_one(run: JudgeRun, judges: Mapping[str, Judge], progress: RunProgress) -> ShownRun:
    asked = [judges[slug] for slug in run.plan.get("judges", ()) if slug in judges]
    return ShownRun(
        run=run,
        about=run.study.title,
        dataset=run.study.dataset.slug,
        asked=[judge.name for judge in asked],
        is_simulated=any(judge.is_simulated for judge in asked),
        progress=progress,
        here=reverse("console:judge_run", args=[run.study.slug, run.pk]),
    )
