"""Why a rater is left out, as a form."""

from django import forms
from django.utils.translation import gettext_lazy as _

LONGEST_REASON = 500


class Decision(forms.Form):
    """Why a person leaves a rater out, or takes one back."""

    reason = forms.CharField(
        max_length=LONGEST_REASON,
        error_messages={
            "required": _("Please say why: the reason is kept with the decision."),
            "max_length": _("Please shorten the reason to 500 characters."),
        },
    )
