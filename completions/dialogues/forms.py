"""A field for texts that people type."""

from django import forms

from completions.dialogues.normaliser import typed

NOTE_LENGTH = 2_000


class Words(forms.CharField):
    """A text as it was typed, but with plain line ends and without what nobody can see."""

    widget = forms.Textarea({"rows": 4, "dir": "auto"})

    def to_python(self, value: object) -> str:
        """Return the text that the rules are about."""
        return super().to_python(typed(value) if isinstance(value, str) else value) or ""
