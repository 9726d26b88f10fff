"""The console's page of held completions, with what an admin posts about one."""

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from access.console.tables import read_ticked_keys
from access.roles import StaffRequest
from completions.choices import HoldState
from completions.contexts.console_http import or_404, staff_page
from completions.dialogues.forms import NOTE_LENGTH, ToldForm, TypedTextField
from completions.leaks import queries, services
from completions.leaks.rules import EXPLANATIONS
from completions.models import Dataset

PAGE = 30
_SAID = {
    HoldState.RELEASED: _("Released: the next plan may pair it."),
    HoldState.DROPPED: _("Dropped: no plan will pair it."),
}


@require_safe
@staff_page
def held(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """List what is held, dropped or released, with the words that matched."""
    state = _state(request.GET.get("state", ""))
    rows = queries.held_rows(dataset, state=state)
    page = Paginator(rows, PAGE).get_page(request.GET.get("page"))
    counts = queries.count_holds(dataset.pk, {})
    parts = {
        "dataset": dataset,
        "state": state,
        "states": zip(HoldState, (counts.n_held, counts.n_released, counts.n_dropped), strict=True),
        "by_reason": [(name, n, EXPLANATIONS[name]) for name, n in counts.by_reason.items()],
        "page": page,
        "rows": [(hold, queries.source_of(hold.completion)) for hold in page],
        "filters": {"query": f"state={state}"},
    }
    return render(request, "console/contexts/held.html", parts)


@require_POST
@staff_page
def decide(request: StaffRequest, dataset: Dataset, pk: int) -> HttpResponse:
    """Release a completion or drop it, with the reason."""
    hold = or_404(queries.hold_of(dataset, pk=pk))
    form = HoldForm(request.POST)
    if form.is_valid():
        state, reason = form.cleaned_data["decision"], form.cleaned_data["reason"]
        services.decide_hold(
            hold=hold, state=state, reason=reason, now=timezone.now(), by=request.user
        )
        messages.success(request, _SAID[state])
    else:
        messages.error(request, " ".join(form.problems()))
    return redirect(f"{reverse('contexts:held', args=[dataset.slug])}?state={hold.state}")


@require_POST
@staff_page
def decide_many(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Release or drop every completion that is ticked, with one reason."""
    form = HoldForm(request.POST)
    keys = read_ticked_keys(request.POST, "holds", most=PAGE)
    found = [hold for pk in keys if (hold := queries.hold_of(dataset, pk=pk))]
    if not form.is_valid() or not found:
        messages.error(
            request, " ".join(form.problems()) or _("Nothing was decided: tick what is meant.")
        )
    else:
        state, reason = form.cleaned_data["decision"], form.cleaned_data["reason"]
        with transaction.atomic():
            for hold in found:
                services.decide_hold(
                    hold=hold, state=state, reason=reason, now=timezone.now(), by=request.user
                )
        messages.success(request, f"{len(found):,}: {_SAID[state]}")
    state = _state(request.GET.get("state", ""))
    return redirect(f"{reverse('contexts:held', args=[dataset.slug])}?state={state}")


def _state(key: str) -> HoldState:
    """Return the state that is asked for; what waits for a decision if none is."""
    if not key:
        return HoldState.HELD
    if key not in HoldState.values:
        raise Http404
    return HoldState(key)


class HoldForm(ToldForm):
    """What an admin decided about a held completion, and why."""

    decision = forms.TypedChoiceField(
        choices=[(state.value, state.label) for state in (HoldState.RELEASED, HoldState.DROPPED)],
        coerce=HoldState,
        error_messages={"required": _("Choose: release it, or drop it.")},
    )
    reason = TypedTextField(
        max_length=NOTE_LENGTH,
        error_messages={"required": _("Say why: the reason is kept with the decision.")},
    )
