"""What an admin posts about a held completion; forms return finished values and never save."""

from django import forms
from django.utils.translation import gettext_lazy as _

from completions.choices import HoldState
from completions.dialogues.forms import NOTE_LENGTH, Words


class HoldForm(forms.Form):
    """What an admin decided about a held completion, and why."""

    decision = forms.TypedChoiceField(
        choices=[(state.value, state.label) for state in (HoldState.RELEASED, HoldState.DROPPED)],
        coerce=HoldState,
        error_messages={"required": _("Choose: release it, or drop it.")},
    )
    reason = Words(
        max_length=NOTE_LENGTH,
        error_messages={"required": _("Say why: the reason is kept with the decision.")},
    )

    def problems(self) -> list[str]:
        """Return what is wrong, a sentence for each control."""
        return [str(message) for messages in self.errors.values() for message in messages]
