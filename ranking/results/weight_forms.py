"""Weights of dimensions, as a form."""

from collections.abc import Mapping
from typing import Any, cast

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

LARGEST_WEIGHT = 1000


class Weights(forms.Form):
    """What each dimension weighs, as it stands in an address; one left empty weighs nothing.

    ``dimensions`` are the names of those that can be weighed, by key.
    """

    def __init__(
        self,
        data: QueryDict | None,
        *,
        dimensions: Mapping[str, str],
        initial: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(data, auto_id="weight-%s", initial=dict(initial or {}))
        for key, name in dimensions.items():
            self.fields[key] = _weight(name)

    def clean(self) -> dict[str, Any]:
        """Refuse names of no dimension, one that is named twice, and weights that are all 0."""
        cleaned = super().clean() or {}
        for name, values in cast("QueryDict", self.data).lists():
            if name not in self.fields:
                known = ", ".join(self.fields)
                text = gettext("No dimension here is called %(name)s. There are %(known)s.")
                self.add_error(None, text % {"name": name, "known": known})
            elif len(values) > 1:
                self.add_error(name, gettext("The address has this weight more than once."))
        if not self.errors and not any(cleaned.values()):
            self.add_error(None, gettext("One dimension at least needs a weight above 0."))
        return cleaned

    @property
    def shares(self) -> dict[str, float]:
        """Return the weights of a valid form, adding up to 1."""
        weights = {key: self.cleaned_data[key] or 0.0 for key in self.fields}
        total = sum(weights.values())
        return {key: weight / total for key, weight in weights.items()}


def _weight(name: str) -> forms.FloatField:
    return forms.FloatField(
        label=name,
        required=False,
        min_value=0,
        max_value=LARGEST_WEIGHT,
        initial=1,
        error_messages={
            "invalid": _("Please give a number, such as 2 or 0.5."),
            "min_value": _("A weight cannot be below 0."),
            "max_value": _("Please stay within 1000: only ratios matter."),
        },
    )
