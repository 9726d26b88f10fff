"""What reviewers of messages post."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from completions.choices import MessageVerdict
from completions.dialogues.forms import NOTE_LENGTH, Words


class Decision(forms.Form):
    """What is decided about a message, and which version of it the page showed."""

    verdict = forms.TypedChoiceField(
        choices=MessageVerdict.choices,
        coerce=MessageVerdict,
        error_messages={"required": _("Choose: accept it, send it back or reject it.")},
    )
    note = Words(required=False, max_length=NOTE_LENGTH)
    version = forms.IntegerField(min_value=1)
    decisions = forms.IntegerField(min_value=0)

    def clean(self) -> dict[str, Any]:
        """Ask for a note wherever the writer has to know why."""
        cleaned = super().clean() or self.cleaned_data
        verdict, note = cleaned.get("verdict"), cleaned.get("note", "")
        if verdict not in (None, MessageVerdict.ACCEPTED) and not note.strip():
            self.add_error("note", _("Say why: the writer reads this note."))
        return cleaned

    @property
    def problem(self) -> str:
        """What is wrong with all but the note, in one sentence; empty if nothing is."""
        wrong = [name for name in self.errors if name != "note"]
        return str(self.errors[wrong[0]][0]) if wrong else ""


class Freeze(forms.Form):
    """Freeze the texts of a dataset, or thaw them; with a tick that it is meant."""

    act = forms.ChoiceField(choices=[("freeze", "freeze"), ("thaw", "thaw")])
    is_sure = forms.BooleanField()
