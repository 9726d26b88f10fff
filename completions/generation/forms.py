"""Parse what a run of completions is to do."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from completions.choices import SystemKind
from completions.models import Dataset, System


def datasets() -> QuerySet[Dataset]:
    """Return the datasets whose contexts can be completed."""
    return Dataset.objects.filter(is_for_checks=False).order_by("name", "pk")


def models() -> QuerySet[System]:
    """Return the systems that can be asked, real ones first."""
    return System.objects.filter(kind=SystemKind.MODEL).order_by("is_simulated", "name")


class WantedRun(forms.Form):
    """Whose contexts are completed, and by whom."""

    dataset: "forms.ModelChoiceField[Dataset]" = forms.ModelChoiceField(
        queryset=None,
        to_field_name="slug",
        label=_("Dataset"),
        error_messages={
            "required": _("Choose a dataset."),
            "invalid_choice": _("Choose one of these datasets."),
        },
    )
    systems: "forms.ModelMultipleChoiceField[System]" = forms.ModelMultipleChoiceField(
        queryset=None,
        to_field_name="slug",
        label=_("Systems"),
        error_messages={
            "required": _("Choose at least one system."),
            "invalid_choice": _("One of the systems is not registered any more. Choose again."),
        },
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 (as forms take them)
        super().__init__(*args, **kwargs)
        self.fields["dataset"].queryset = datasets()  # type: ignore[attr-defined]
        self.fields["systems"].queryset = models()  # type: ignore[attr-defined]
