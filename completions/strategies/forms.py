"""What people post who label texts, and who settle what differs."""

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from completions.dialogues.forms import NOTE_LENGTH, Words


class Labels(forms.Form):
    """Which of the strategies on the page are present; none is an answer, too."""

    found = forms.MultipleChoiceField(
        required=False,
        error_messages={"invalid_choice": _("That is no strategy of this page. Tick them again.")},
    )
    note = Words(required=False, max_length=NOTE_LENGTH)

    def __init__(self, data: QueryDict, *, keys: tuple[str, ...]) -> None:
        super().__init__(data)
        self.fields["found"].choices = [(key, key) for key in keys]  # type: ignore[attr-defined]

    def problem(self) -> str:
        """Return what is wrong with all but the note, in one sentence; empty if nothing is."""
        return str(self.errors["found"][0]) if "found" in self.errors else ""
