"""Forms that name a language model which helps: by its id, with what it may cost."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from completions.models import System
from completions.runs.http import Budget
from completions.systems.services.registering import LONGEST, OFFLINE


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


def suggested_models() -> QuerySet[System]:
    """Return the real models that are registered, by their id."""
    known = System.objects.exclude(model_id="").filter(is_simulated=False)
    return known.order_by("model_id")
