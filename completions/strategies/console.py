"""The console's pages on strategies: the overview, and where people label and settle."""

from dataclasses import dataclass

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.utils.translation import gettext_lazy as _lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from access.roles import StaffRequest, members_only
from completions.contexts.console_http import or_404, staff_page
from completions.dialogues.forms import NOTE_LENGTH, TypedTextField
from completions.models import Assistant, Dataset, SpotCheck, SpotCheckItem
from completions.strategies import services, spot_check_queries
from completions.strategies.rules import LabelScore, Scores
from completions.strategies.services.spot_checking import N_ITEMS
from completions.strategies.spot_check_items import names_of, to_label, to_settle
from completions.strategies.spot_check_queries import Ledger, Phase
from completions.systems.assisting import AssistantRun, suggested_models


@dataclass(frozen=True)
class Labeller:
    """One of the two people, and how far they are."""

    name: str
    n_done: int


@dataclass(frozen=True)
class CheckShown:
    """A spot check with where it stands, and where the person who looks goes on."""

    pk: int
    assistant: str
    is_simulated: bool
    codebook: str
    seed: str
    phase: str
    n_items: int
    n_deleted: int
    labellers: tuple[Labeller, ...]
    may_label: bool
    to_label: int | None
    """Where the person goes on labelling, from 1."""
    n_differing: int
    n_settled: int
    to_settle: int | None
    scores: Scores | None
    rows: tuple[tuple[str, LabelScore], ...]
    """The scores by the strategy's name."""

    @classmethod
    def of(cls, check: SpotCheck, person: User) -> "CheckShown":
        """Return the spot check as this person may see it."""
        ledger = spot_check_queries.ledger_of(check)
        scores = spot_check_queries.scores_of(check, ledger)
        names = names_of(check)
        return cls(
            pk=check.pk,
            assistant=check.assistant.name,
            is_simulated=check.assistant.is_simulated,
            codebook=check.codebook,
            seed=check.seed,
            phase=ledger.phase,
            n_items=len(ledger.positions),
            n_deleted=ledger.n_deleted,
            labellers=_labellers(ledger),
            may_label=ledger.may_label(person.pk),
            to_label=_number(ledger.next_to_label(person.pk)),
            n_differing=len(ledger.differing),
            n_settled=len(ledger.differing) - len(ledger.unsettled),
            to_settle=_number(ledger.next_to_settle()),
            scores=scores,
            rows=tuple((names[one.strategy], one) for one in scores.labels) if scores else (),
        )


@require_safe
@never_cache
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
    run = form.start(services.start_labelling_run, "strategist", by=request.user, dataset=dataset)
    if run is None:
        return _overview(request, dataset, form=form)
    return redirect("models:run", run.kind, run.pk)


class SampleForm(forms.Form):
    """Whose labels people check, and on how many texts."""

    assistant: "forms.ModelChoiceField[Assistant]" = forms.ModelChoiceField(
        queryset=None,
        to_field_name="slug",
        empty_label=None,
        label=gettext_lazy("Whose labels are checked"),
        error_messages={
            name: gettext_lazy("Choose a model that has labelled these texts.")
            for name in ("required", "invalid_choice")
        },
    )
    n = forms.IntegerField(
        min_value=1,
        max_value=10_000,
        initial=N_ITEMS,
        label=gettext_lazy("Texts to draw; all if there are fewer"),
        error_messages={
            name: gettext_lazy("Give a whole number from 1 to 10,000.")
            for name in ("required", "invalid", "min_value", "max_value")
        },
    )
    seed = forms.CharField(
        max_length=60, initial="1", label=gettext_lazy("Seed: another draws another sample")
    )

    def __init__(self, dataset: Dataset, data: QueryDict | None = None) -> None:
        super().__init__(data)
        asked = Assistant.objects.filter(strategy_calls__completion__context__dataset=dataset)
        self.fields["assistant"].queryset = asked.distinct()  # type: ignore[attr-defined]


@require_POST
@staff_page
def draw(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Draw the texts that two people label."""
    form = SampleForm(dataset, request.POST)
    if not form.is_valid():
        return _overview(request, dataset, sample=form)
    try:
        services.draw_sample(
            dataset=dataset, by=request.user, now=timezone.now(), **form.cleaned_data
        )
    except services.NotLabelledYetError as error:
        form.add_error(None, _("Nothing was drawn: %(why)s.") % {"why": error})
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
    checks = spot_check_queries.spot_checks(dataset)
    parts = {
        "dataset": dataset,
        "asked": spot_check_queries.asked_of(dataset),
        "checks": [CheckShown.of(check, request.user) for check in checks],
        "phases": Phase,
        "form": form or AssistantRun(),
        "sample": sample or SampleForm(dataset),
        "models": suggested_models(),
    }
    status = 422 if form or sample else 200
    return render(request, "console/strategies/overview.html", parts, status=status)


def _labellers(ledger: Ledger) -> tuple[Labeller, ...]:
    names = spot_check_queries.names_of_people(ledger)
    return tuple(Labeller(names[pk], ledger.n_labelled(pk)) for pk in ledger.people)


def _number(position: int | None) -> int | None:
    return None if position is None else position + 1


class LabelsForm(forms.Form):
    """Which of the strategies on the page are present; none is an answer, too."""

    found = forms.MultipleChoiceField(
        required=False,
        error_messages={
            "invalid_choice": gettext_lazy("That is no strategy of this page. Tick them again.")
        },
    )
    note = TypedTextField(required=False, max_length=NOTE_LENGTH)

    def __init__(self, data: QueryDict, *, keys: tuple[str, ...]) -> None:
        super().__init__(data)
        self.fields["found"].choices = [(key, key) for key in keys]  # type: ignore[attr-defined]

    def problem(self) -> str:
        """Return what is wrong with all but the note, in one sentence; empty if nothing is."""
        return str(self.errors["found"][0]) if "found" in self.errors else ""


REFUSALS: dict[type[Exception], Promise] = {
    services.LabellingClosedError: _lazy(
        "Both people are through, so labels stay as they are. What differs can be settled."
    ),
    services.TwoLabellersError: _lazy(
        "Two people label this sample already. You can settle what differs when they are through."
    ),
    services.LabellingOpenError: _lazy(
        "Nothing can be settled yet: nobody sees the labels of others before both people are "
        "through."
    ),
    services.NothingToSettleError: _lazy("Both people agree on this text."),
}


@require_safe
@staff_page
def label(request: StaffRequest, dataset: Dataset, check: int, number: int) -> HttpResponse:
    """Show one text to label, with what this person found before."""
    return _show_to_label(request, dataset, _item(dataset, check, number))


@require_POST
@staff_page
def store_labels(request: StaffRequest, dataset: Dataset, check: int, number: int) -> HttpResponse:
    """Store what was found, and go on to the next text that this person has not labelled."""
    item = _item(dataset, check, number)
    form = LabelsForm(request.POST, keys=spot_check_queries.keys_of(item.spot_check))
    if not form.is_valid():
        return _show_to_label(request, dataset, item, form)
    try:
        services.label_item(
            item=item, labeller=request.user, now=timezone.now(), **form.cleaned_data
        )
    except (services.LabellingClosedError, services.TwoLabellersError) as error:
        return _refuse(request, dataset, error)
    ledger = spot_check_queries.ledger_of(item.spot_check)
    following = ledger.next_to_label(request.user.pk, after=item.position)
    if following is None or ledger.is_labelled:
        messages.success(request, _("That was the last one. Thank you!"))
        return redirect("strategies:overview", dataset.slug)
    return redirect("strategies:label", dataset.slug, check, following + 1)


@require_safe
@staff_page
def settle(request: StaffRequest, dataset: Dataset, check: int, number: int) -> HttpResponse:
    """Show one text on which the two people differ."""
    return _show_to_settle(request, dataset, _item(dataset, check, number))


@require_POST
@staff_page
def store_settled(request: StaffRequest, dataset: Dataset, check: int, number: int) -> HttpResponse:
    """Store what holds, and go on to the next text on which the two differ."""
    item = _item(dataset, check, number)
    form = LabelsForm(request.POST, keys=spot_check_queries.keys_of(item.spot_check))
    if not form.is_valid():
        return _show_to_settle(request, dataset, item, form)
    try:
        services.adjudicate(item=item, by=request.user, now=timezone.now(), **form.cleaned_data)
    except services.UnknownStrategyError:
        form.add_error("found", _("Both people agree on that one: it stands as it is."))
        return _show_to_settle(request, dataset, item, form)
    except (services.LabellingOpenError, services.NothingToSettleError) as error:
        return _refuse(request, dataset, error)
    following = spot_check_queries.ledger_of(item.spot_check).next_to_settle(after=item.position)
    if following is None:
        messages.success(request, _("Everything is settled. The scores are below."))
        return redirect("strategies:overview", dataset.slug)
    return redirect("strategies:settle", dataset.slug, check, following + 1)


def _item(dataset: Dataset, check: int, number: int) -> SpotCheckItem:
    found = or_404(spot_check_queries.spot_check_of(dataset, check))
    return or_404(spot_check_queries.item_at(found, number - 1))


def _show_to_label(
    request: StaffRequest, dataset: Dataset, item: SpotCheckItem, form: LabelsForm | None = None
) -> HttpResponse:
    ledger = spot_check_queries.ledger_of(item.spot_check)
    if ledger.is_labelled:
        return _refuse(request, dataset, services.LabellingClosedError())
    if not ledger.may_label(request.user.pk):
        return _refuse(request, dataset, services.TwoLabellersError())
    shown = to_label(item, ledger, request.user.pk)
    return _render(request, "label", dataset, item, {"shown": shown, "form": form})


def _show_to_settle(
    request: StaffRequest, dataset: Dataset, item: SpotCheckItem, form: LabelsForm | None = None
) -> HttpResponse:
    ledger = spot_check_queries.ledger_of(item.spot_check)
    if not ledger.is_labelled:
        return _refuse(request, dataset, services.LabellingOpenError())
    if item.pk not in ledger.differing:
        raise Http404
    return _render(
        request, "settle", dataset, item, {"shown": to_settle(item, ledger), "form": form}
    )


def _render(
    request: StaffRequest,
    page: str,
    dataset: Dataset,
    item: SpotCheckItem,
    parts: dict[str, object],
) -> HttpResponse:
    form = parts["form"]
    ticked = request.POST.getlist("found") if form else None
    own = {"dataset": dataset, "check": item.spot_check_id, "ticked": ticked}
    template = f"console/strategies/{page}.html"
    return render(request, template, parts | own, status=422 if form else 200)


def _refuse(request: StaffRequest, dataset: Dataset, error: Exception) -> HttpResponse:
    """Say why, on the overview, where it can be seen what is to be done instead."""
    messages.error(request, str(REFUSALS[type(error)]))
    return redirect("strategies:overview", dataset.slug)
