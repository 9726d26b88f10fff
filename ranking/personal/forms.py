"""Parse what owners ask about people, and do at their wish."""

from django import forms
from django.utils.translation import gettext_lazy as _

from completions.dialogues.forms import Words

MAX_ASKED = 200
MAX_REASON = 500
NOBODY_ASKED = _("Write a code, an id of a platform, or an address.")
NO_REASON = _("Write in a few words how the person asked for it, without naming them.")
NO_CHOICE = _("Nothing changed: say what is to become of the data.")


class Search(forms.Form):
    """Whom somebody means."""

    asked = forms.CharField(max_length=MAX_ASKED, error_messages={"required": NOBODY_ASKED})


class Leaving(forms.Form):
    """What is to become of somebody's data, and how they asked for it."""

    wish = forms.ChoiceField(
        choices=[("anonymise", "anonymise"), ("delete", "delete")],
        error_messages={"required": NO_CHOICE, "invalid_choice": NO_CHOICE},
    )
    reason = Words(
        max_length=MAX_REASON,
        error_messages={"required": NO_REASON, "max_length": _("Say it more briefly.")},
    )

    @property
    def problem(self) -> str:
        """Return the first thing that is wrong, in words."""
        return next((str(words[0]) for words in self.errors.values()), "")
