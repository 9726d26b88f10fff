"""Forms that name a language model which helps: by its id, with what it may cost."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from completions.models import Run, System
from completions.runs.http import REFUSALS, Budget
from completions.runs.services.running import NothingToAskError
from completions.systems.services.registering import LONGEST, OFFLINE, assistant_for


class ModelField(forms.CharField):
    """A model's id as LiteLLM spells it, or the word for the simulated model."""

    def __init__(self, label: Any) -> None:  # noqa: ANN401 (a text, or one to translate)
        missing = _("Name a model, or write offline.")
        super().__init__(
            label=label, initial=OFFLINE, max_length=LONGEST, error_messages={"required": missing}
        )

    def clean(self, value: object) -> str:
        """Return the id, which has no space."""
        found: str = super().clean(value)
        if found.split() != [found]:
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
