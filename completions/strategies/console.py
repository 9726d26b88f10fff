"""The console's pages on strategies: the overview, and where people label and settle."""

from collections.abc import Callable

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from access.roles import StaffRequest, members_only
from completions.contexts.console_http import staff_page
from completions.dialogues.forms import for_any_fault
from completions.models import Assistant, Dataset
from completions.strategies import spot_check_queries
from completions.strategies.desk import SampleDesk
from completions.strategies.services import labelling, spot_checking
from completions.strategies.services.spot_checking import N_ITEMS, NotLabelledYetError
from completions.systems.forms import AssistantRun, suggested_models


@require_safe
@members_only()
def datasets(request: HttpRequest) -> HttpResponse:
    """List the datasets with how far their labelling is."""
    parts = {"datasets": spot_check_queries.dataset_rows()}
    return render(request, "console/strategies/datasets.html", parts)


@require_safe
@staff_page
def overview(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Show how far assistants are, and every spot check."""
    return _overview(request, dataset)


@require_POST
@staff_page
def start(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Have a model label the texts of the dataset that it has not."""
    form = AssistantRun(request.POST)
    run = form.start(labelling.start_labelling_run, "strategist", by=request.user, dataset=dataset)
    if run is None:
        return _overview(request, dataset, form=form)
    return redirect("models:run", run.kind, run.pk)


class SampleForm(forms.Form):
    """Whose labels people check, and on how many texts; ``assistants`` are those that gave some."""

    assistant: "forms.ModelChoiceField[Assistant]" = forms.ModelChoiceField(
        queryset=None,
        to_field_name="slug",
        empty_label=None,
        label=gettext_lazy("Whose labels are checked"),
        error_messages=for_any_fault(gettext_lazy("Choose a model that has labelled these texts.")),
    )
    n = forms.IntegerField(
        min_value=1,
        max_value=10_000,
        initial=N_ITEMS,
        label=gettext_lazy("Texts to draw; all if there are fewer"),
        error_messages=for_any_fault(gettext_lazy("Give a whole number from 1 to 10,000.")),
    )
    seed = forms.CharField(
        max_length=60, initial="1", label=gettext_lazy("Seed: another draws another sample")
    )

    def __init__(self, assistants: QuerySet[Assistant], data: QueryDict | None = None) -> None:
        super().__init__(data)
        self.fields["assistant"].queryset = assistants.distinct()  # type: ignore[attr-defined]

    def draw(self, draw: Callable[..., object], *, by: User, **of: object) -> bool:
        """Have ``draw`` draw the sample that was posted; if it is not, the form says why."""
        if not self.is_valid():
            return False
        try:
            draw(by=by, now=timezone.now(), **of, **self.cleaned_data)
        except NotLabelledYetError as error:
            self.add_error(None, _("Nothing was drawn: %(why)s.") % {"why": error})
            return False
        return True


@require_POST
@staff_page
def draw(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Draw the texts that two people label."""
    form = SampleForm(_among(spot_check_queries.asked_of(dataset)), request.POST)
    if not form.draw(spot_checking.draw_sample, by=request.user, dataset=dataset):
        return _overview(request, dataset, sample=form)
    messages.success(request, _("The sample is drawn. Two people can label it now."))
    return redirect("strategies:overview", dataset.slug)


def _overview(
    request: StaffRequest,
    dataset: Dataset,
    *,
    form: AssistantRun | None = None,
    sample: SampleForm | None = None,
) -> HttpResponse:
    asked, desk = spot_check_queries.asked_of(dataset), desk_of(dataset)
    parts = {
        "dataset": dataset,
        "asked": asked,
        "checks": [desk.overview_of(check, request.user) for check in desk.samples],
        "form": form or AssistantRun(),
        "sample": sample or SampleForm(_among(asked)),
        "models": suggested_models(),
    }
    status = 422 if form or sample else 200
    return render(request, "console/strategies/overview.html", parts, status=status)


def _among(asked: QuerySet[Assistant]) -> QuerySet[Assistant]:
    return Assistant.objects.filter(pk__in=[one.pk for one in asked])


def desk_of(dataset: Dataset) -> SampleDesk:
    """Return where the dataset's samples are labelled."""
    samples, parts = spot_check_queries.spot_checks(dataset), {"dataset": dataset}
    return SampleDesk(dataset, samples, "strategies:", "console/strategies/_tabs.html", parts)
