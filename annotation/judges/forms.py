"""Parse what a run of judges is to do."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from annotation.judges.services.running import Asking
from annotation.models import Judge

MOST_SAMPLES = 100


class WantedJudging(forms.Form):
    """Who judges, in which orders, how often, and how freely."""

    judges: "forms.ModelMultipleChoiceField[Judge]" = forms.ModelMultipleChoiceField(
        queryset=None,
        to_field_name="slug",
        label=_("Judges"),
        error_messages={
            "required": _("Choose at least one judge."),
            "invalid_choice": _("One of the judges is not registered any more. Choose again."),
        },
    )
    both_orders = forms.BooleanField(
        required=False, label=_("In both orders: each pair twice, the messages exchanged")
    )
    samples = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_SAMPLES,
        label=_("Answers wanted in each order"),
        error_messages={
            name: _("Give a whole number from 1 to 100.")
            for name in ("invalid", "min_value", "max_value")
        },
    )
    temperature = forms.FloatField(
        required=False,
        min_value=0,
        max_value=2,
        label=_("Temperature"),
        error_messages={
            name: _("Give a temperature from 0 to 2, or nothing.")
            for name in ("invalid", "min_value", "max_value")
        },
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
                _("Several answers need a temperature above 0: at 0 they would be copies of one.")
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
