"""What a reviewer of contexts posts; forms return finished values and never save."""

from django import forms
from django.utils.translation import gettext_lazy as _

from completions.choices import Review
from completions.dialogues.forms import NOTE_LENGTH, Words


class ReviewForm(forms.Form):
    """What a reviewer decided about a context; without a decision, the note alone."""

    decision = forms.TypedChoiceField(
        choices=[("", _("Note only")), *Review.choices],
        coerce=Review,
        empty_value=None,
        required=False,
    )
    note = Words(required=False, max_length=NOTE_LENGTH)
