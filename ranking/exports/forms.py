"""What is to be exported, as a form."""

from typing import ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from ranking.choices import EvaluatorPool
from ranking.exports.preferences import SPLITS, Rule
from ranking.exports.rows.asked import Asked

MOST_JUDGMENTS = 1000


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
