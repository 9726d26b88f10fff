"""The console's pages on judges, what they said of a study, and their runs in it."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from access.console.tables import PER_PAGE, TableQuery, csv_of
from access.roles import StaffRequest, members_only
from annotation.judges import judge_catalogue, queries, verdict_queries
from annotation.judges.services import registering
from annotation.judges.services import runs as judges_runs
from annotation.judges.services.runs import Asking
from annotation.judges.verdict_queries import JudgesFigures
from annotation.models import Exclusion, Judge, JudgeCall, Judgment, Study
from annotation.rationales.services import labelling
from annotation.studies.counts import newest_keys
from annotation.studies.http import study_page, with_kept
from annotation.studies.queries import study_file_name
from annotation.studies.stored_figures import FiguresKind, StoredFigures
from completions.dialogues.forms import for_any_fault
from completions.runs import console
from completions.runs.console import REFUSALS, Budget
from completions.runs.services.running import NothingToAskError
from completions.systems.console import COLUMNS, ListedModel, listed_models, listing
from completions.systems.forms import AssistantRun, suggested_models


class JudgingForm(forms.Form):
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
        max_value=judges_runs.MOST_SAMPLES,
        label=gettext_lazy("Answers wanted in each order"),
        error_messages=for_any_fault(gettext_lazy("Give a whole number from 1 to 100.")),
    )
    temperature = forms.FloatField(
        required=False,
        min_value=0,
        max_value=judges_runs.HIGHEST_TEMPERATURE,
        label=gettext_lazy("Temperature"),
        error_messages=for_any_fault(gettext_lazy("Give a temperature from 0 to 2, or nothing.")),
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


@require_POST
@members_only()
def sync(request: StaffRequest) -> HttpResponse:
    """Bring the shipped catalogue of judges into the table, and say what that changed."""
    entries = judge_catalogue.load_judges(judge_catalogue.shipped())
    report = registering.sync_judges(entries=entries, by=request.user, now=timezone.now())
    told = {"added": f"{len(report.added):,}", "changed": f"{len(report.changed):,}"}
    messages.success(request, _("Synced: %(added)s added, %(changed)s changed.") % told)
    for slug, why in report.refused.items():
        messages.error(request, _("%(slug)s was refused: %(why)s.") % {"slug": slug, "why": why})
    return redirect("console:all_judges")


TABLE = listing(gettext_lazy("Judge"), counted=("n_calls", gettext_lazy("Calls")))


@require_safe
@members_only()
def all_judges(request: HttpRequest) -> HttpResponse:
    """List the judges that are registered, and what a call to them still needs."""
    query = TABLE.asked(request)
    page = Paginator(_lines(query), PER_PAGE).get_page(request.GET.get("page", ""))
    return render(request, "console/judges/judges.html", {"page": page, "filters": query})


@require_safe
@members_only()
def all_judges_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Download the same judges, in the same order; of a key, the name of its variable alone."""
    cells = ((*one.cells, one.row.n_calls) for one in _lines(TABLE.asked(request)))
    return csv_of(request, "judges", (*COLUMNS, "calls"), cells)


@require_safe
@study_page
def runs(request: StaffRequest, study: Study) -> HttpResponse:
    """List the study's runs, of judges and about labelling."""
    return _show_runs(request, study, AssistantRun())


@require_POST
@study_page
def find_themes(request: StaffRequest, study: Study) -> HttpResponse:
    """Have a model find the themes of the study's labelling that it has not read."""
    form = AssistantRun(request.POST)
    run = form.start(labelling.start_rationale_run, "coder", by=request.user, study=study)
    if run is None:
        return _show_runs(request, study, form)
    return redirect("models:run", run.kind, run.pk)


@require_safe
@study_page
def runs_csv(request: StaffRequest, study: Study) -> StreamingHttpResponse:
    """Download the same runs, in the same order."""
    return console.download_runs(request, study_file_name(study, "runs"), study=study)


@require_safe
@study_page
def choose(request: StaffRequest, study: Study) -> HttpResponse:
    """Ask who is to judge, in which orders and how often."""
    return _choose(request, study, JudgingForm())


@require_safe
@study_page
def plan(request: StaffRequest, study: Study) -> HttpResponse:
    """Show what such a run would come to; nothing is written."""
    form = JudgingForm(request.GET)
    if not form.is_valid():
        return _choose(request, study, form)
    return _show_plan(request, study, form, Budget())


@require_POST
@study_page
def start(request: StaffRequest, study: Study) -> HttpResponse:
    """Start the run that was planned."""
    form, budget = JudgingForm(request.POST), Budget(request.POST)
    if not form.is_valid():
        return _choose(request, study, form)
    if not budget.is_valid():
        return _show_plan(request, study, form, budget)
    arguments = {"study": study, "judges": form.cleaned_data["judges"], "asking": form.asking}
    try:
        run = judges_runs.start_judge_run(
            **arguments, **budget.cleaned_data, by=request.user, now=timezone.now()
        )
    except judges_runs.StudyNotLockedError:
        budget.add_error(None, _("Nothing was started: the study is not locked yet."))
    except (*REFUSALS, NothingToAskError, judges_runs.AskingError) as error:
        budget.add_error(None, _("Nothing was started: %(why)s.") % {"why": error})
    else:
        return redirect("models:run", run.kind, run.pk)
    return _show_plan(request, study, form, budget)


def _lines(query: TableQuery) -> list[ListedModel]:
    entries = judge_catalogue.load_judges(judge_catalogue.shipped())
    return listed_models(query.apply(queries.counted_judges()), entries)


def _show_runs(request: HttpRequest, study: Study, form: AssistantRun) -> HttpResponse:
    parts = {"study": study, "form": form, "models": suggested_models()}
    answer = console.show_runs(request, "console/judges/runs.html", of={"study": study}, **parts)
    answer.status_code = 422 if form.errors else 200
    return answer


def _choose(request: HttpRequest, study: Study, form: JudgingForm) -> HttpResponse:
    parts = {"study": study, "form": form}
    return render(request, "console/judges/choose.html", parts, status=422 if form.errors else 200)


def _show_plan(
    request: HttpRequest, study: Study, form: JudgingForm, budget: Budget
) -> HttpResponse:
    draft = judges_runs.draft_judge_run(
        study=study,
        judges=list(form.cleaned_data["judges"]),
        asking=form.asking,
        now=timezone.now(),
    )
    parts = {"study": study, "draft": draft, "asking": form.asking, "budget": budget}
    return render(request, "console/judges/plan.html", parts, status=422 if budget.errors else 200)


@require_safe
@study_page
def judges(request: StaffRequest, study: Study) -> HttpResponse:
    """Show what became of every call, how steady each judge is, and where they do not agree."""
    show = request.GET.get("show", "")
    if show not in verdict_queries.SHOWS:
        raise Http404

    def page(figures: JudgesFigures, shown: StoredFigures[JudgesFigures]) -> HttpResponse:
        listed, rows = verdict_queries.listed_comparisons(
            study, figures, show=show, page=request.GET.get("page", "1")
        )
        parts = {"study": study, "figures": figures, "listed": listed, "rows": rows}
        return render(request, "console/study/judges.html", parts | {"show": show, "shown": shown})

    return with_kept(request, study, JUDGES, page)


@require_safe
@study_page
def judged(request: StaffRequest, study: Study, key: str) -> HttpResponse:
    """Show the calls that put one comparison to the judges."""
    pair = verdict_queries.judged_pair(study, key)
    if pair is None:
        raise Http404
    return render(request, "console/study/judged.html", {"study": study, **pair})


MOST_LIVE = 2_000
"""Calls of which a page counts the answers itself."""


def _is_small(study: Study) -> bool:
    calls = JudgeCall.objects.filter(comparison__study=study)
    return calls[: MOST_LIVE + 1].count() <= MOST_LIVE


def _basis(_study: Study) -> object:
    """Return what changes with every call that is planned or ends, and with every decision.

    Counting those of the one study would take long; others make the figures old now and then.
    """
    open_calls = JudgeCall.objects.filter(ended_at__isnull=True)
    return newest_keys(JudgeCall, Judgment, Exclusion), open_calls.count()


JUDGES = FiguresKind(
    "judges", _is_small, _basis, lambda study, _now: verdict_queries.judges_figures(study)
)
