"""Forms of the console's pages on raters and exports, and of the weights of dimensions."""

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ranking.choices import EvaluatorPool
from ranking.exports.asked import Asked
from ranking.preferences import SPLITS, Rule

LONGEST_REASON = 500
MOST_JUDGMENTS = 1000
LARGEST_WEIGHT = 1000


class Decision(forms.Form):
    """Why a person leaves a rater out, or takes one back."""

    reason = forms.CharField(
        max_length=LONGEST_REASON,
        error_messages={
            "required": _("Please say why: the reason is kept with the decision."),
            "max_length": _("Please shorten the reason to 500 characters."),
        },
    )


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


class ExportChoice(forms.Form):
    """What is wanted of an export, as it stands in an address; all of it may be left out."""

    blinded = forms.BooleanField(required=False, label=_("Blinded: without the names of systems"))
    rationales = forms.TypedChoiceField(
        label=_("Reasons"),
        required=False,
        choices=[("1", _("With the words of reasons")), ("0", _("Without"))],
        empty_value="1",
    )
    bom = forms.BooleanField(
        required=False, label=_("CSV with a byte order mark, for spreadsheets that ask for one")
    )
    pool = forms.TypedChoiceField(
        label=_("Whose judgments"),
        required=False,
        choices=EvaluatorPool.choices,
        empty_value=EvaluatorPool.HUMAN,
    )
    least_agreement = forms.FloatField(
        label=_("Least agreement, 0 to 1"), required=False, min_value=0, max_value=1
    )
    least_judgments = forms.IntegerField(
        label=_("Least judgments"), required=False, min_value=1, max_value=MOST_JUDGMENTS
    )
    without_ties = forms.BooleanField(required=False, label=_("Leave ties out of the shares"))
    split = forms.ChoiceField(
        label=_("Part, by source dialogue"),
        required=False,
        choices=[("", _("All, with the part named")), *((one, one) for one in SPLITS)],
    )
    USUAL: ClassVar[dict[str, object]] = {
        "rationales": "1",
        "pool": EvaluatorPool.HUMAN,
        "least_agreement": 0.5,
        "least_judgments": 1,
    }

    @property
    def asked(self) -> Asked:
        """Return what a valid form asks for."""
        given = self.cleaned_data
        usual = Rule()
        agreement, judgments = given["least_agreement"], given["least_judgments"]
        rule = Rule(
            pool=given["pool"],
            least_agreement=usual.least_agreement if agreement is None else agreement,
            least_judgments=judgments or usual.least_judgments,
            leaves_ties_out=given["without_ties"],
        )
        return Asked(
            is_blinded=given["blinded"],
            with_rationales=given["rationales"] != "0",
            rule=rule,
            split=given["split"],
        )


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
