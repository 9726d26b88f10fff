"""The console's pages on systems, with the form of a system of one's own."""

import os
import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from pydantic import ValidationError

from access.choices import Role
from access.console.tables import PER_PAGE, csv_of
from access.console.undoing import say_done
from access.roles import StaffRequest, may, members_only
from access.webhooks.outgoing import AddressError, Rules, check_own
from completions.choices import SystemKind
from completions.models import System
from completions.runs.services.speaking import trusted_hosts
from completions.systems import catalogue, services
from completions.systems.catalogue import SystemEntry
from completions.systems.catalogue.entries import ADDRESS, ImportedEntry, SimulatedEntry
from completions.systems.rows import COLUMNS, SYSTEMS, model_rows
from completions.systems.services.syncing import SyncReport


@require_safe
@never_cache
@members_only()
def systems(request: HttpRequest) -> HttpResponse:
    """List the language models, where they are from, and what a call to them still needs."""
    return _show(request)


@require_safe
@never_cache
@members_only()
def systems_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Download the same systems, in the same order; of a key, the name of its variable alone."""
    rows = model_rows(os.environ, SYSTEMS.asked(request).apply)
    cells = ((*one.cells, one.row.n_completions, one.row.n_imported) for one in rows)
    return csv_of(request, "systems", COLUMNS, cells)


def _show(request: HttpRequest, report: SyncReport | None = None) -> HttpResponse:
    """Show the systems that the address asks for, under what a sync changed."""
    query = SYSTEMS.asked(request)
    rows = Paginator(model_rows(os.environ, query.apply), PER_PAGE)
    page = rows.get_page(request.GET.get("page", ""))
    parts = {"report": report, "filters": query, "page": page}
    return render(request, "console/models/systems.html", parts)


@require_POST
@never_cache
@members_only()
def sync(request: StaffRequest) -> HttpResponse:
    """Bring the shipped catalogue into the table, and show what that changed."""
    try:
        found = catalogue.load_catalogues(catalogue.shipped())
    except catalogue.CatalogueError as error:
        messages.error(request, _("Nothing was written: %(why)s") % {"why": error})
        return redirect("models:systems")
    report = services.sync_systems(entries=found.system, by=request.user, now=timezone.now())
    return _show(request, report)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@members_only()
def add(request: StaffRequest) -> HttpResponse:
    """Register a system of one's own."""
    form = NewSystem(
        request.POST or None,
        may_name_addresses=may(request, Role.OWNER),
        rules=Rules(trusted_hosts=trusted_hosts()),
    )
    if not form.is_valid():
        status = 422 if form.is_bound else 200
        return render(request, "console/models/add.html", {"form": form}, status=status)
    try:
        system = services.add_system(
            entry=form.cleaned_data["entry"], by=request.user, now=timezone.now()
        )
    except services.SystemTakenError as error:
        form.add_error(error.field, str(error))
        return render(request, "console/models/add.html", {"form": form}, status=422)
    messages.success(request, _("%(name)s is registered.") % {"name": system.name})
    return redirect("models:systems")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@members_only()
def system(request: StaffRequest, slug: str) -> HttpResponse:
    """Show a system, and change one of our own; those of the catalogue are as it says."""
    found = get_object_or_404(System, slug=slug, kind=SystemKind.MODEL)
    is_listed = slug in {one.slug for one in catalogue.load_catalogues(catalogue.shipped()).system}
    form = NewSystem(
        request.POST if request.method == "POST" else None,
        may_name_addresses=may(request, Role.OWNER),
        rules=Rules(trusted_hosts=trusted_hosts()),
        system=found,
    )
    if not is_listed and form.is_valid():
        entry = form.cleaned_data["entry"]
        report = services.sync_systems(entries=[entry], by=request.user, now=timezone.now())
        if not report.refused:
            messages.success(request, _("%(name)s is changed.") % {"name": entry.name})
            return redirect("models:system", slug)
        form.add_error(None, report.refused[slug])
    parts = {"system": found, "form": form, "is_listed": is_listed}
    status = 422 if form.is_bound else 200
    return render(request, "console/models/system.html", parts, status=status)


@require_POST
@never_cache
@members_only()
def retire(request: StaffRequest, slug: str) -> HttpResponse:
    """Ask a system for nothing new, or let it be asked again; its completions stay."""
    found = get_object_or_404(System, slug=slug, kind=SystemKind.MODEL)
    is_back = found.retired_at is not None
    services.retire_system(system=found, is_back=is_back, by=request.user, now=timezone.now())
    said = _("It can be asked again.") if is_back else _("Retired: nothing new is asked of it.")
    say_done(request, said, undo=reverse("models:retire", args=[slug]))
    return redirect("models:system", slug)


PLAIN = {
    "slug": gettext_lazy("Use small letters, digits and single hyphens, up to 50 characters."),
    "name": gettext_lazy("Give a name of up to 120 characters."),
    "family": gettext_lazy("Name the maker in small letters, digits and single hyphens."),
    "model_id": gettext_lazy("Write the provider, a slash and the model, such as openai/gpt-5."),
    "api_base": gettext_lazy(
        "Give an address that begins with http:// or https://, without a key."
    ),
    "api_key_env": gettext_lazy(
        "Name the environment variable, such as OUR_LAB_KEY. The key itself is never written down."
    ),
    "api_base_env": gettext_lazy("Name the environment variable, such as OUR_LAB_ADDRESS."),
}
"""What to do about a text that has not the right form."""
OPTIONS = (
    "api_key_env",
    "api_base_env",
    "max_tokens",
    "reasoning_effort",
    "system_role",
    "temperature",
    "top_p",
    "timeout_s",
    "opening",
)
WAY = ("api_base", "api_base_env", "api_key_env")
FOLDED = (*OPTIONS[2:], "leave_out")
LEFT_OUT = (("temperature", "temperature"), ("top_p", "top-p"))
_FORM_FAULTS = {"string_pattern_mismatch", "string_too_long", "string_too_short"}
_EFFORTS = ("none", "disable", "minimal", "low", "medium", "high")
_DEFAULT = ("", gettext_lazy("the provider's own"))


class NewSystem(forms.Form):
    """A language model; ``cleaned_data["entry"]`` is what a catalogue file would say of it."""

    name = forms.CharField(label=gettext_lazy("Name, as leaderboards show it"))
    slug = forms.CharField(label=gettext_lazy("Name in addresses and commands"))
    family = forms.CharField(label=gettext_lazy("Who made the model"))
    model_id = forms.CharField(required=False, label=gettext_lazy("Model, as LiteLLM spells it"))
    is_simulated = forms.BooleanField(
        required=False,
        label=gettext_lazy("Simulated: the offline provider answers, and its scores mean nothing"),
    )
    api_key_env = forms.CharField(
        required=False, label=gettext_lazy("Environment variable that holds the key")
    )
    api_base = forms.CharField(required=False, label=gettext_lazy("Address"))
    api_base_env = forms.CharField(
        required=False, label=gettext_lazy("Environment variable that holds the address")
    )
    price_input = forms.FloatField(
        required=False, label=gettext_lazy("US dollars for a million tokens of questions")
    )
    price_output = forms.FloatField(
        required=False, label=gettext_lazy("US dollars for a million tokens of answers")
    )
    max_tokens = forms.IntegerField(
        required=False, label=gettext_lazy("Most tokens of an answer; 300 if not set")
    )
    temperature = forms.FloatField(required=False, label=gettext_lazy("Temperature; 0 if not set"))
    top_p = forms.FloatField(required=False, label=gettext_lazy("Top-p; 1 if not set"))
    timeout_s = forms.FloatField(
        required=False,
        label=gettext_lazy("Seconds until a call is given up; 120 if not set, 300 at most"),
    )
    leave_out = forms.MultipleChoiceField(
        required=False,
        choices=LEFT_OUT,
        widget=forms.CheckboxSelectMultiple,
        label=gettext_lazy("Refused by the model: not sent, and recorded as dropped"),
    )
    reasoning_effort = forms.ChoiceField(
        required=False,
        choices=[_DEFAULT, *((one, one) for one in _EFFORTS)],
        label=gettext_lazy("Reasoning effort"),
    )
    system_role = forms.ChoiceField(
        required=False,
        choices=[("", "system"), ("developer", "developer"), ("user", "user")],
        label=gettext_lazy("Role of the instructions"),
    )
    opening = forms.CharField(
        required=False,
        label=gettext_lazy("Said by the user before a conversation that the supporter begins"),
    )

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        may_name_addresses: bool,
        rules: Rules,
        system: System | None = None,
    ) -> None:
        super().__init__(data, initial=_stored(system) if system else None)
        self.may_name_addresses, self._rules, self._system = may_name_addresses, rules, system
        for name in ("slug", "is_simulated"):
            self.fields[name].disabled = system is not None

    @property
    def has_options(self) -> bool:
        """Say whether one of the folded fields is filled in or at fault."""
        return any(self[name].value() or self[name].errors for name in FOLDED)

    def clean(self) -> dict[str, Any]:
        """Hold the system to the rules of a catalogue file; each fault goes to its field."""
        found = super().clean() or self.cleaned_data
        self._check_way(found)
        if self.errors:
            return found
        shape = SimulatedEntry if found["is_simulated"] else SystemEntry
        if not found["model_id"] and not found["is_simulated"]:
            shape = ImportedEntry
        try:
            found["entry"] = shape.model_validate(_said(found, self._system))
        except ValidationError as error:
            for fault in error.errors(include_url=False, include_input=False):
                self._tell(fault)
        return found

    def _check_way(self, found: Mapping[str, Any]) -> None:
        """Have owners alone say where dialogues and keys are sent, and not into inner networks."""
        has_way = any(self.initial.get(name) for name in WAY)
        for name in (*WAY, "model_id") if has_way else WAY:  # it names who gets the key
            is_new = (found.get(name) or "") != (self.initial.get(name) or "")
            if is_new and not self.may_name_addresses:
                self.add_error(name, _("Only an owner of this site says where a call goes."))
        if found.get("api_base") and not self.errors and re.match(ADDRESS, found["api_base"]):
            try:
                check_own(found["api_base"], self._rules)
            except AddressError as error:
                self.add_error("api_base", f"{str(error).capitalize()}.")

    def _tell(self, fault: Mapping[str, Any]) -> None:
        """Put a fault to the field that it is about, in words that say what to do."""
        place = [str(part) for part in fault["loc"]]
        name = "_".join(part for part in place if part != "parameters")
        if place[-1:] and place[-1] in self.fields:
            name = place[-1]
        if fault["type"] in _FORM_FAULTS and name in PLAIN:
            self.add_error(name, str(PLAIN[name]))
            return
        reason = str(fault["msg"]).removeprefix("Value error, ")
        said = _("%(why)s.") % {"why": reason[:1].upper() + reason[1:]}
        self.add_error(name if name in self.fields else None, said)


def _stored(system: System) -> dict[str, Any]:
    """Return what the form says of a system that is registered."""
    told = system.parameters
    price = told.get("price") or {}
    columns = ("slug", "name", "family", "model_id", "api_base", "is_simulated")
    return {
        **{name: getattr(system, name) for name in columns},
        **{name: told[name] for name in (*OPTIONS, "leave_out") if name in told},
        **{f"price_{way}": price[way] for way in price},
    }


def _said(found: Mapping[str, Any], system: System | None) -> dict[str, Any]:
    """Return what a catalogue file would say: what was left empty is not in it.

    What no field shows stays as it is; of what is not asked any more, the facts alone.
    """
    parameters = _hidden(system) if system and found["model_id"] else {}
    left_out = [*found["leave_out"], *parameters.pop("leave_out", [])]
    parameters |= {name: found[name] for name in OPTIONS if found[name] not in ("", None)}
    if left_out:
        parameters["leave_out"] = left_out
    price = {way: found[f"price_{way}"] for way in ("input", "output")}
    if any(value is not None for value in price.values()):
        parameters["price"] = {way: value for way, value in price.items() if value is not None}
    said = {name: found[name] for name in ("slug", "name", "family")}
    said |= {"facts": system.facts} if system else {}
    said |= {name: found[name] for name in ("model_id", "api_base") if found[name]}
    return said | {"kind": "model", "parameters": parameters}


def _hidden(system: System) -> dict[str, Any]:
    """Return the parameters of a system that the form does not show."""
    told = system.parameters
    hidden = {name: told[name] for name in told if name not in {*OPTIONS, "price"}}
    left_out = [one for one in told.get("leave_out", ()) if one not in dict(LEFT_OUT)]
    return hidden | {"leave_out": left_out}
