"""Forms of systems: one of a lab's own, and which language model helps at what cost."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pydantic import ValidationError

from access.webhooks.outgoing import Rules, check_own
from completions.models import Run, System
from completions.runs.console import REFUSALS, Budget
from completions.runs.services.running import NothingToAskError
from completions.systems.catalogue import ADDRESS, ImportedEntry, SimulatedEntry, SystemEntry
from completions.systems.services.registering import (
    LONGEST,
    OFFLINE,
    assistant_for,
    is_model_id,
)


class ModelField(forms.CharField):
    """A model's id as LiteLLM spells it, or the word for the simulated model."""

    def __init__(self, label: Any) -> None:  # noqa: ANN401 (a text, or one to translate)
        missing = _("Name a model, or write offline.")
        super().__init__(
            label=label, initial=OFFLINE, max_length=LONGEST, error_messages={"required": missing}
        )

    def clean(self, value: object) -> str:
        """Return the id, which has no space and no address."""
        found: str = super().clean(value)
        if not is_model_id(found):
            raise forms.ValidationError(
                _("Write the provider, a slash and the model, such as openai/gpt-5.")
            )
        return found


class AssistantRun(Budget):
    """Which model is asked, and what that may cost."""

    model = ModelField(_("Who is asked"))

    def start(self, begin: Callable[..., Run], task: str, *, by: User, **of: object) -> Run | None:
        """Return the run that ``begin`` starts of what was posted; if none, the form says why."""
        if not self.is_valid():
            return None
        try:
            return begin(
                assistant=assistant_for(task, self.cleaned_data["model"]),
                budget_usd=self.cleaned_data["budget_usd"],
                now=timezone.now(),
                by=by,
                **of,
            )
        except (*REFUSALS, NothingToAskError) as error:
            self.add_error(None, gettext("Nothing was started: %(why)s.") % {"why": error})
            return None


def suggested_models() -> QuerySet[System]:
    """Return the real models that are registered, by their id."""
    known = System.objects.exclude(model_id="").filter(is_simulated=False)
    return known.order_by("model_id")


PLAIN = {
    "slug": _("Use small letters, digits and single hyphens, up to 50 characters."),
    "name": _("Give a name of up to 120 characters."),
    "family": _("Name the maker in small letters, digits and single hyphens."),
    "model_id": _("Write the provider, a slash and the model, such as openai/gpt-5."),
    "api_base": _("Give an address that begins with http:// or https://, without a key."),
    "api_key_env": _(
        "Name the environment variable, such as OUR_LAB_KEY. The key itself is never written down."
    ),
    "api_base_env": _("Name the environment variable, such as OUR_LAB_ADDRESS."),
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
_DEFAULT = ("", _("the provider's own"))


class NewSystem(forms.Form):
    """A language model; ``cleaned_data["entry"]`` is what a catalogue file would say of it."""

    name = forms.CharField(label=_("Name, as leaderboards show it"))
    slug = forms.CharField(label=_("Name in addresses and commands"))
    family = forms.CharField(label=_("Who made the model"))
    model_id = forms.CharField(required=False, label=_("Model, as LiteLLM spells it"))
    is_simulated = forms.BooleanField(
        required=False,
        label=_("Simulated: the offline provider answers, and its scores mean nothing"),
    )
    api_key_env = forms.CharField(
        required=False, label=_("Environment variable that holds the key")
    )
    api_base = forms.CharField(required=False, label=_("Address"))
    api_base_env = forms.CharField(
        required=False, label=_("Environment variable that holds the address")
    )
    price_input = forms.FloatField(
        required=False, label=_("US dollars for a million tokens of questions")
    )
    price_output = forms.FloatField(
        required=False, label=_("US dollars for a million tokens of answers")
    )
    max_tokens = forms.IntegerField(
        required=False, label=_("Most tokens of an answer; 300 if not set")
    )
    temperature = forms.FloatField(required=False, label=_("Temperature; 0 if not set"))
    top_p = forms.FloatField(required=False, label=_("Top-p; 1 if not set"))
    timeout_s = forms.FloatField(
        required=False,
        label=_("Seconds until a call is given up; 120 if not set, 300 at most"),
    )
    leave_out = forms.MultipleChoiceField(
        required=False,
        choices=LEFT_OUT,
        widget=forms.CheckboxSelectMultiple,
        label=_("Refused by the model: not sent, and recorded as dropped"),
    )
    reasoning_effort = forms.ChoiceField(
        required=False,
        choices=[_DEFAULT, *((one, one) for one in _EFFORTS)],
        label=_("Reasoning effort"),
    )
    system_role = forms.ChoiceField(
        required=False,
        choices=[("", "system"), ("developer", "developer"), ("user", "user")],
        label=_("Role of the instructions"),
    )
    opening = forms.CharField(
        required=False,
        label=_("Said by the user before a conversation that the supporter begins"),
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
        if found["is_simulated"] and not found["model_id"]:
            self.add_error("model_id", str(PLAIN["model_id"]))
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
                self.add_error(name, gettext("Only an owner of this site says where a call goes."))
        if found.get("api_base") and not self.errors and re.match(ADDRESS, found["api_base"]):
            try:
                check_own(found["api_base"], self._rules)
            except ValueError as error:  # an AddressError, or no address at all
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
        said = gettext("%(why)s.") % {"why": reason[:1].upper() + reason[1:]}
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
