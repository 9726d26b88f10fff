"""Parse what somebody decides about a rationale before a release."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.choices import TextOutcome
from annotation.rationales.services.scanning import TextWords
from completions.dialogues.forms import Words

MAX_REASON = 1000
MAX_ALSO = 2000
LONG_REASON = _("The reason is longer than 1000 characters. Say it more briefly.")
NO_OUTCOME = _("Choose what becomes of the text.")


class TextDecision(forms.Form):
    """Release a text, with or without the passages, or not at all."""

    outcome = forms.TypedChoiceField(
        choices=TextOutcome.choices,
        coerce=TextOutcome,
        error_messages={"required": NO_OUTCOME, "invalid_choice": NO_OUTCOME},
    )
    reason = Words(
        required=False, max_length=MAX_REASON, error_messages={"max_length": LONG_REASON}
    )
    also = Words(required=False, max_length=MAX_ALSO)

    def words(self) -> TextWords:
        """Return what was decided; each line of ``also`` is words to remove, too."""
        cleaned = self.cleaned_data
        lines = tuple(line.strip() for line in cleaned["also"].splitlines() if line.strip())
        return TextWords(cleaned["outcome"], cleaned["reason"], lines)
