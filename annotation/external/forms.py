"""What admins post to bring in a file of judgments that another lab made."""

from dataclasses import fields
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.external.serializers import ProvenanceIn
from annotation.external.services.storing import Provenance
from annotation.tool_files import columns_named
from completions.dialogues.forms import FileUpload, Sent, Words

MOST_WORDS = 1000
STRENGTHS = range(1, 6)
DAY = forms.DateInput({"type": "date"}, format="%Y-%m-%d")


class ExternalUpload(FileUpload):
    """A file of judgments, where they come from, and what the file does not say itself."""

    source = forms.CharField(label=_("Name of the lab"), max_length=120)
    reference = forms.CharField(label=_("The lab's name of this batch"), max_length=80)
    url = forms.CharField(label=_("Web page of the lab, or about the data"), max_length=200)
    licence = forms.CharField(
        label=_("Licence of these judgments, such as CC-BY-4.0"), max_length=60
    )
    recruitment = Words(label=_("How the raters were found"), max_length=MOST_WORDS)
    consent = Words(label=_("What the raters agreed to"), max_length=MOST_WORDS)
    collected_from = forms.DateField(label=_("Collected from"), widget=DAY)
    collected_until = forms.DateField(label=_("Collected until"), widget=DAY)
    is_simulated = forms.BooleanField(label=_("The raters are programs"), required=False)
    columns = forms.CharField(
        label=_("Columns that are called otherwise, such as winner=better"), required=False
    )
    strength = forms.TypedChoiceField(
        label=_("Strength of a preference of which the file gives none"),
        choices=[(one, one) for one in STRENGTHS],
        coerce=int,
        initial=1,
    )

    def clean_columns(self) -> dict[str, str]:
        """Return which columns of the file stand for which of ours."""
        given = self.cleaned_data["columns"]
        try:
            return columns_named(given) if given else {}
        except ValueError as error:
            raise forms.ValidationError(_("Name columns as OURS=THEIRS.")) from error

    def clean(self) -> dict[str, Any]:
        """Hold where the judgments come from to the rules that the API has."""
        given: dict[str, Any] = self.cleaned_data
        if not self.errors:
            told = ProvenanceIn(data=self._told(given))
            if not told.is_valid():
                for name, faults in told.errors.items():
                    self.add_error(name, [str(fault) for fault in faults])
        return given

    @property
    def sent(self) -> Sent:
        """The file."""
        found: Sent = self.cleaned_data["file"]
        return found

    @property
    def answers(self) -> dict[str, Any]:
        """All but the file, so that a page can carry it."""
        given = self.cleaned_data
        told = {name: str(value) for name, value in self._told(given).items()}
        return {"provenance": told, **{name: given[name] for name in ("columns", "strength")}}

    @staticmethod
    def _told(given: dict[str, Any]) -> dict[str, Any]:
        return {one.name: given[one.name] for one in fields(Provenance)}


def provenance_of(told: dict[str, str]) -> Provenance:
    """Return where judgments come from, as a page carried it."""
    read = ProvenanceIn(data=told)
    read.is_valid(raise_exception=True)
    return read.provenance
