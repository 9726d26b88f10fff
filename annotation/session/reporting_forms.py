"""Parse what raters report about a talk."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.choices import ReportKind
from completions.dialogues.forms import Words

MAX_TEXT = 1000

KINDS = [
    (ReportKind.UPSET, _("This upset me")),
    (ReportKind.CONTENT, _("Report this content")),
]
"""What the menu offers: the posted value of ``kind``, and its label."""


class ReportForm(forms.Form):
    """Why a talk is reported, with a few words if the rater has some."""

    kind = forms.ChoiceField(choices=KINDS)
    text = Words(required=False, max_length=MAX_TEXT)
