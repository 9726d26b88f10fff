"""The console's pages that plan and start a run of completions, with their forms."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from access.roles import StaffRequest, members_only
from completions.generation import planning
from completions.generation import services as generation_services
from completions.models import Dataset, System
from completions.runs.console import REFUSALS, Budget
from completions.runs.services import running


class RunForm(forms.Form):
    """Whose contexts are completed, and by whom."""

    dataset: "forms.ModelChoiceField[Dataset]" = forms.ModelChoiceField(
        queryset=Dataset.objects.filter(is_for_checks=False).order_by("name", "pk"),
        to_field_name="slug",
        label=gettext_lazy("Dataset"),
        error_messages={
            "required": gettext_lazy("Choose a dataset."),
            "invalid_choice": gettext_lazy("Choose one of these datasets."),
        },
    )
    systems: "forms.ModelMultipleChoiceField[System]" = forms.ModelMultipleChoiceField(
        queryset=System.objects.filter(retired_at=None)
        .exclude(model_id="")
        .order_by("is_simulated", "name"),  # real ones first
        to_field_name="slug",
        label=gettext_lazy("Systems"),
        error_messages={
            "required": gettext_lazy("Choose at least one system."),
            "invalid_choice": gettext_lazy(
                "One of the systems is not registered any more. Choose again."
            ),
        },
    )


@require_safe
@members_only()
def choose(request: HttpRequest) -> HttpResponse:
    """Ask which dataset is to be completed, and by whom."""
    return render(request, "console/models/choose.html", {"form": RunForm()})


@require_safe
@members_only()
def plan(request: HttpRequest) -> HttpResponse:
    """Show what such a run would come to; nothing is written."""
    form = RunForm(request.GET)
    if not form.is_valid():
        return render(request, "console/models/choose.html", {"form": form}, status=422)
    return _show_plan(request, form, Budget())


@require_POST
@members_only()
def start(request: StaffRequest) -> HttpResponse:
    """Start the run that was planned."""
    form, budget = RunForm(request.POST), Budget(request.POST)
    if not form.is_valid():
        return render(request, "console/models/choose.html", {"form": form}, status=422)
    if not budget.is_valid():
        return _show_plan(request, form, budget)
    arguments = {"dataset": form.cleaned_data["dataset"], "systems": form.cleaned_data["systems"]}
    try:
        run = generation_services.start_generation_run(
            **arguments, **budget.cleaned_data, by=request.user, now=timezone.now()
        )
    except (*REFUSALS, generation_services.NotAModelError, running.NothingToAskError) as error:
        budget.add_error(None, _("Nothing was started: %(why)s.") % {"why": error})
        return _show_plan(request, form, budget)
    return redirect("models:run", run.kind, run.pk)


def _show_plan(request: HttpRequest, form: RunForm, budget: Budget) -> HttpResponse:
    chosen = form.cleaned_data
    draft = planning.draft_generation_run(
        dataset=chosen["dataset"], systems=list(chosen["systems"])
    )
    parts = {"dataset": chosen["dataset"], "draft": draft, "budget": budget}
    return render(request, "console/models/plan.html", parts, status=422 if budget.errors else 200)
