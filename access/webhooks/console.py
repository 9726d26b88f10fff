"""The console's pages on webhooks, with their form: who is told, and what became of it."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from django import forms
from django.contrib import messages
from django.db.models import Count, Max, Q, QuerySet
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from access.choices import DeliveryState, HookEvent, Role
from access.console.csv_cells import Cell
from access.console.tables import Table, csv_of
from access.console.undoing import say_done
from access.models import Hook, HookDelivery
from access.roles import Needs, StaffRequest, members_only
from access.webhooks import outgoing, signing
from access.webhooks import services as hook_services

CSV_COLUMNS = (
    "event_id",
    "event",
    "state",
    "queued_at",
    "attempts",
    "next_attempt_at",
    "last_status",
    "error",
    "delivered_at",
)
DELIVERIES = Table(
    orders={
        "queued": (gettext_lazy("Queued"), ("queued_at",)),
        "attempts": (gettext_lazy("Attempts"), ("attempts",)),
        "next": (gettext_lazy("Next attempt"), ("next_attempt_at",)),
        "delivered": (gettext_lazy("Taken"), ("delivered_at",)),
    },
    usual="-queued",
    choices={
        "state": (dict(DeliveryState.choices), "state"),
        "event": (dict(HookEvent.choices), "event"),
    },
    numbers=("attempts",),
)
"""Messages of a webhook."""
CHOSEN = [event for event in HookEvent if event != HookEvent.TEST]
"""Events that can be chosen; a test goes to whom it is sent."""


class HookForm(forms.Form):
    """An address and the events that it is told of."""

    url = forms.CharField(label=gettext_lazy("Address"), max_length=500)
    events = forms.MultipleChoiceField(
        label=gettext_lazy("Tell it when"),
        choices=[(event.value, event.label) for event in CHOSEN],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose one event at least.")},
    )


OWNERS_ACT = Needs(acts=Role.OWNER)


@require_http_methods(["GET", "HEAD", "POST"])
@members_only(OWNERS_ACT)
def hooks(request: StaffRequest) -> HttpResponse:
    """List the webhooks; add one, and show its secret this once."""
    form = HookForm(request.POST or None)
    added = _add(request, form) if form.is_valid() else None
    parts = {
        "form": HookForm() if added else form,
        "added": added,
        "rows": [(hook, _shown(hook)) for hook in _present_hooks()],
    }
    status = 422 if form.is_bound and added is None else 200
    return render(request, "console/hooks/hooks.html", parts, status=status)


def _present_hooks() -> QuerySet[Hook]:
    """Return the webhooks that were not removed, with how many messages stand where."""
    counts = {
        f"n_{state.lower()}": Count("deliveries", filter=Q(deliveries__state=state))
        for state in DeliveryState
    }
    rows = Hook.objects.filter(removed_at=None).select_related("created_by")
    return rows.annotate(**counts, last=Max("deliveries__delivered_at")).order_by("pk")


def _hook(pk: int) -> Hook:
    return get_object_or_404(_present_hooks(), pk=pk)


def _add(request: StaffRequest, form: HookForm) -> Hook | None:
    try:
        return hook_services.add_hook(
            form.cleaned_data["url"],
            [HookEvent(value) for value in form.cleaned_data["events"]],
            rules=hook_services.outgoing_rules(),
            chance=secrets.token_bytes(signing.SECRET_BYTES),
            by=request.user,
            now=timezone.now(),
        )
    except outgoing.AddressError as error:
        form.add_error("url", _("Nothing is sent there: %(why)s.") % {"why": error})
    except hook_services.TooManyHooksError:
        form.add_error(None, _("There are as many webhooks as there may be. Delete one first."))
    return None


def _shown(hook: Hook) -> dict[str, object]:
    return {
        "address": hook.shown_url,
        "events": [HookEvent(event).label for event in hook.events],
    }


@require_safe
@members_only(OWNERS_ACT)
def hook(request: StaffRequest, pk: int) -> HttpResponse:
    """Show what was sent to one webhook, and what became of it."""
    found, query = _hook(pk), DELIVERIES.asked(request)
    parts = {
        "hook": found,
        **_shown(found),
        "filters": query,
        "page": query.page(found.deliveries.all(), request.GET.get("page", "1")),
        "states": DeliveryState.choices,
        "kinds": HookEvent.choices,
    }
    return render(request, "console/hooks/hook.html", parts)


@require_safe
@members_only(OWNERS_ACT)
def hook_csv(request: StaffRequest, pk: int) -> StreamingHttpResponse:
    """Download the messages of one webhook."""
    rows = DELIVERIES.asked(request).apply(_hook(pk).deliveries.all())
    return csv_of(request, f"webhook-{pk}", CSV_COLUMNS, _csv_rows(rows))


def _csv_rows(rows: QuerySet[HookDelivery]) -> Iterator[tuple[Cell, ...]]:
    for event_id, *others in rows.values_list(*CSV_COLUMNS).iterator():
        yield str(event_id), *others


@require_POST
@members_only(OWNERS_ACT)
def act(request: StaffRequest, pk: int, name: str) -> HttpResponse:
    """Pause, resume, try or delete a webhook."""
    done, said = ACTS[name]
    try:
        done(_hook(pk), by=request.user, now=timezone.now())
    except hook_services.HookStateError:
        messages.error(request, _("Somebody deleted it meanwhile."))
    else:
        if name in OPPOSITE:
            say_done(request, str(said), undo=reverse(f"hooks:{OPPOSITE[name]}", args=[pk]))
        else:
            messages.success(request, str(said))
    return redirect("hooks:list")


@require_POST
@members_only(OWNERS_ACT)
def resend(request: StaffRequest, pk: int, delivery: int) -> HttpResponse:
    """Send a message once more."""
    row = get_object_or_404(_hook(pk).deliveries.select_related("hook"), pk=delivery)
    try:
        hook_services.resend(row, by=request.user, now=timezone.now())
    except hook_services.HookStateError:
        messages.info(request, _("It waits to be sent already."))
    else:
        messages.success(request, _("It is sent again within seconds."))
    return redirect("hooks:hook", pk)


ACTS: Mapping[str, tuple[Callable[..., object], object]] = {
    "pause": (
        partial(hook_services.set_active, is_active=False),
        gettext_lazy("Paused: what happens meanwhile is not told."),
    ),
    "resume": (
        partial(hook_services.set_active, is_active=True),
        gettext_lazy("It is told of events again."),
    ),
    "test": (
        hook_services.send_test,
        gettext_lazy("A test is on its way: look at its messages in a moment."),
    ),
    "delete": (hook_services.remove_hook, gettext_lazy("Deleted: its secret is forgotten.")),
}
OPPOSITE = {"pause": "resume", "resume": "pause"}
