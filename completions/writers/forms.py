"""What writers and reviewers of messages post; forms return finished values and never save."""

import re
from collections.abc import Iterator
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from completions.choices import Background, MessageVerdict
from completions.dialogues import wording
from completions.dialogues.display import direction
from completions.dialogues.forms import NOTE_LENGTH, TypedTextField
from completions.writers.services import sending

BACKGROUNDS = [
    (Background.PEER, _("I support others in my life or as a volunteer")),
    (Background.CLINICIAN, _("I support others as my profession, for instance in therapy or care")),
    (Background.CROWD, _("Neither: I write for studies, or simply want to help")),
]
"""What the page offers: the posted value, and its label in plain words."""


class Consent(forms.Form):
    """Agree or decline."""

    choice = forms.ChoiceField(choices=[("agree", "agree"), ("decline", "decline")])


class Profile(forms.Form):
    """The one question of the profile, and whether to be rated alone where that is offered."""

    background = forms.TypedChoiceField(
        label=_("Which of these fits you best?"),
        choices=BACKGROUNDS,
        coerce=Background,
        widget=forms.RadioSelect,
        error_messages={
            "required": _("Please choose one of the three; the nearest is good enough."),
            "invalid_choice": _("Please choose one of the three; the nearest is good enough."),
        },
    )
    has_own_system = forms.BooleanField(
        required=False,
        label=_("Rate my messages on their own as well"),
        widget=forms.CheckboxInput({"aria-describedby": "own-hint"}),
    )

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield each message with the id of the control that it is about."""
        for name, messages in self.errors.items():
            for message in messages:
                yield f"{self[name].auto_id}_0", str(message)


SKIP_REASONS = [
    ("speechless", _("I don’t know what to say")),
    ("close", _("It is too close to home")),
    ("professional", _("It needs a professional")),
    ("broken", _("The text is broken or unreadable")),
]
SIGNALS = {"typing_ms": 2**31 - 1, "pastes": 2**15 - 1, "pasted_characters": 2**31 - 1}
"""What the page counts while a message is typed, and the most that is stored of each."""
MOST_VERSIONS = 2**15 - 1
NUMBER = re.compile(r"[0-9]{1,15}")


class Skip(forms.Form):
    """Why a dialogue is skipped."""

    reason = forms.ChoiceField(choices=SKIP_REASONS)


class MessageForm(forms.Form):
    """A message to be sent, declared to be in the writer's own words."""

    text = TypedTextField(
        required=False,
        strip=False,
        help_text=_("Aim for one to three sentences, about 40 words."),
    )
    is_own_words = forms.BooleanField(
        label=_("These are my own words. I had no help from an AI."),
        error_messages={"required": _("Please tick the box to confirm these are your own words.")},
    )
    has_looked_again = forms.BooleanField(required=False)

    def clean_text(self) -> str:
        """Return the text without outer white space, or say why it cannot be sent."""
        try:
            return wording.check_text(self.cleaned_data["text"])
        except wording.UnusableTextError as error:
            raise forms.ValidationError(str(error)) from error

    def lay_out(self, *, language: str) -> None:
        """Lay the text out as the page will show it, in the language of the dialogue."""
        self.fields["text"].widget.attrs["dir"] = direction(language)

    def say_unchanged(self) -> None:
        """Say of a message that came back that it is still the same."""
        self.add_error("text", _("Nothing has changed yet: please change it as the note says."))

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield each message with the id of the control that it is about."""
        for name, messages in self.errors.items():
            for message in messages:
                yield str(self[name].auto_id), str(message)


def typed(posted: QueryDict) -> sending.Typed:
    """Return what was posted of a text, whatever else is missing."""
    text = TypedTextField(required=False, strip=False).to_python(posted.get("text"))
    signals = {name: _count(posted.get(name), most=most) for name, most in SIGNALS.items()}
    version = posted.get("version")
    seen = None if version is None else _count(version, most=MOST_VERSIONS)
    return sending.Typed(text, **signals, seen=seen)


def _count(value: str | None, *, most: int) -> int:
    """Return a plain number from 0 to ``most``; anything else counts as 0."""
    is_number = value is not None and NUMBER.fullmatch(value)
    return min(int(value or 0), most) if is_number else 0


class DecisionForm(forms.Form):
    """What is decided about a message, and which version of it the page showed."""

    verdict = forms.TypedChoiceField(
        choices=MessageVerdict.choices,
        coerce=MessageVerdict,
        error_messages={"required": _("Choose: accept it, send it back or reject it.")},
    )
    note = TypedTextField(required=False, max_length=NOTE_LENGTH)
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
