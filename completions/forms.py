"""Parse what writers and reviewers post; forms return finished values and never save."""

from django import forms
from django.utils.translation import gettext_lazy as _

from completions.choices import HoldState, Review
from completions.normaliser import typed

NOTE_LENGTH = 2_000


class Words(forms.CharField):
    """A text as it was typed, but with plain line ends and without what nobody can see."""

    widget = forms.Textarea({"rows": 4, "dir": "auto"})

    def to_python(self, value: object) -> str:
        """Return the text that the rules are about."""
        return super().to_python(typed(value) if isinstance(value, str) else value) or ""


class ReviewForm(forms.Form):
    """What a reviewer decided about a context; without a decision, the note alone."""

    decision = forms.TypedChoiceField(
        choices=[("", _("Note only")), *Review.choices],
        coerce=Review,
        empty_value=None,
        required=False,
    )
    note = Words(required=False, max_length=NOTE_LENGTH)


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
