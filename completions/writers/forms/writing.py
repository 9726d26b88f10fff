"""Parse what comes from the page of a talk: a message, a draft, a skip."""

import re
from collections.abc import Iterator

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from completions.dialogues import wording
from completions.dialogues.display import direction
from completions.dialogues.forms import Words
from completions.writers import services

SKIP_REASONS = [
    ("speechless", _("I do not know what to say")),
    ("close", _("It is too close to home")),
    ("professional", _("It needs a professional")),
    ("broken", _("Something is wrong with the text")),
]
SIGNALS = {"typing_ms": 2**31 - 1, "pastes": 2**15 - 1, "pasted_characters": 2**31 - 1}
"""What the page counts while a message is typed, and the most that is stored of each."""
MOST_VERSIONS = 2**15 - 1
NUMBER = re.compile(r"[0-9]{1,15}")


class Skip(forms.Form):
    """Why a talk is skipped."""

    reason = forms.ChoiceField(choices=SKIP_REASONS)


class Message(forms.Form):
    """A message to be sent, declared to be in the writer's own words."""

    text = Words(
        required=False,
        strip=False,
        help_text=_("Aim for one to three sentences, about 40 words."),
    )
    is_own_words = forms.BooleanField(
        label=_("These are my own words. I had no help from an AI."),
        error_messages={"required": _("Please say that these are your own words.")},
    )
    has_looked_again = forms.BooleanField(required=False)

    def clean_text(self) -> str:
        """Return the text without outer white space, or say why it cannot be sent."""
        try:
            return wording.check_text(self.cleaned_data["text"])
        except wording.UnusableTextError as error:
            raise forms.ValidationError(str(error)) from error

    def lay_out(self, *, language: str) -> None:
        """Lay the text out as the page will show it, in the language of the talk."""
        self.fields["text"].widget.attrs["dir"] = direction(language)

    def say_unchanged(self) -> None:
        """Say of a message that came back that it is still the same."""
        self.add_error("text", _("Nothing has changed yet: please change it as the note says."))

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield each message with the id of the control that it is about."""
        for name, messages in self.errors.items():
            for message in messages:
                yield str(self[name].auto_id), str(message)


def typed(posted: QueryDict) -> "services.Typed":
    """Return what was posted of a text, whatever else is missing."""
    text = Words(required=False, strip=False).to_python(posted.get("text"))
    signals = {name: _count(posted.get(name), most=most) for name, most in SIGNALS.items()}
    version = posted.get("version")
    seen = None if version is None else _count(version, most=MOST_VERSIONS)
    return services.Typed(text, **signals, seen=seen)


def _count(value: str | None, *, most: int) -> int:
    """Return a plain number from 0 to ``most``; anything else counts as 0."""
    is_number = value is not None and NUMBER.fullmatch(value)
    return min(int(value or 0), most) if is_number else 0
