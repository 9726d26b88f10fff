"""What writers, reviewers of messages and those who run a pool post; forms never save."""

import re
from collections.abc import Iterator
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from completions.choices import Background, MessageVerdict
from completions.dialogues import wording
from completions.dialogues.display import direction
from completions.dialogues.forms import NOTE_LENGTH, PageForm, TypedTextField, for_any_fault
from completions.writers.credentials import LENGTH, LETTERS
from completions.writers.emails import is_address
from completions.writers.services import sending
from completions.writers.services.pool import PoolSettings

BACKGROUNDS = [
    (Background.PEER, _("I support others in my life or as a volunteer")),
    (Background.CLINICIAN, _("I support others as my profession, for instance in therapy or care")),
    (Background.CROWD, _("Neither: I write for studies, or simply want to help")),
]
"""What the page offers: the posted value, and its label in plain words."""


class Consent(forms.Form):
    """Agree or decline."""

    choice = forms.ChoiceField(choices=[("agree", "agree"), ("decline", "decline")])


class Profile(PageForm):
    """The one question of the profile, and whether to be rated alone where that is offered."""

    background = forms.TypedChoiceField(
        label=_("Which of these fits you best?"),
        choices=BACKGROUNDS,
        coerce=Background,
        widget=forms.RadioSelect,
        error_messages=for_any_fault(
            _("Please choose one of the three; the nearest is good enough.")
        ),
    )
    has_own_system = forms.BooleanField(
        required=False,
        label=_("Rate my messages on their own as well"),
        widget=forms.CheckboxInput({"aria-describedby": "own-hint"}),
    )


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


class MessageForm(PageForm):
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


MOST_ADDRESSES = 500
BETWEEN = re.compile(r"[\n,;]")


def read_addresses(text: str) -> tuple[list[str], list[str]]:
    """Read addresses, one on each line or parted by commas; return them, and what is none.

    Each comes once, in small letters; a name around an address makes it none.
    """
    words = dict.fromkeys(word.strip().lower() for word in BETWEEN.split(text) if word.strip())
    return [one for one in words if is_address(one)], [one for one in words if not is_address(one)]


class Invite(forms.Form):
    """Whom to invite; ``is_dry`` only counts."""

    emails = TypedTextField(
        error_messages={"required": _("Type at least one e-mail address, each on a line.")}
    )
    is_dry = forms.BooleanField(required=False)

    def clean_emails(self) -> tuple[list[str], list[str]]:
        """Return the addresses, and what is none: it does not keep others from being invited."""
        good, bad = read_addresses(self.cleaned_data["emails"])
        if len(good) + len(bad) > MOST_ADDRESSES:
            raise ValidationError(
                _("That is more than %(n)s at once. Invite them in parts."),
                params={"n": f"{MOST_ADDRESSES:,}"},
            )
        if not good:
            raise ValidationError(
                _("There is no e-mail address in this. Nobody was invited; mend it and try again.")
            )
        return good, bad


HOST = {
    "person": _("Who invites (a person)"),
    "lab": _("Their lab or group"),
    "pay": _("What a writer is paid"),
    "time": _("How long it takes"),
    "contact": _("Whom to ask (an e-mail address)"),
}
"""What invitations say about who sends them, by the names of the dataset's settings."""


OUT_OF_BOUNDS = ("required", "min_value", "max_value")


class Link(forms.Form):
    """The code that the page gave the writer to come; without one, each click makes a writer."""

    code = forms.RegexField(rf"\AW[{LETTERS}]{{{LENGTH}}}\Z", required=False)


class Settings(forms.Form):
    """How a pool works."""

    completions_per_context = forms.IntegerField(
        min_value=1,
        max_value=50,
        label=_("Replies per conversation, each by another person"),
        error_messages=dict.fromkeys(OUT_OF_BOUNDS, _("Give a number from 1 to 50."))
        | {"invalid": _("Give a whole number from 1 to 50.")},
    )
    most_adversarial = forms.IntegerField(
        min_value=0,
        max_value=100,
        label=_("Hostile conversations, at most, in % of what one writer is given"),
        error_messages=dict.fromkeys(OUT_OF_BOUNDS, _("Give a share from 0 to 100."))
        | {"invalid": _("Give a share from 0 to 100, as a whole number.")},
    )
    offers_own_systems = forms.BooleanField(
        required=False, label=_("Writers may agree to be rated alone, under a pseudonym")
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 (as forms take them)
        super().__init__(*args, **kwargs)
        for name, label in HOST.items():
            self.fields[f"host_{name}"] = forms.CharField(
                required=False, max_length=200, label=label
            )

    def host_fields(self) -> Iterator[forms.BoundField]:
        """Yield the fields about who invites."""
        for name in HOST:
            yield self[f"host_{name}"]

    @classmethod
    def showing(cls, settings: PoolSettings) -> "Settings":
        """Return the form with the settings that hold."""
        values = settings._asdict()
        host = {f"host_{name}": text for name, text in values.pop("host").items()}
        return cls(initial={**values, **host})

    def settings(self) -> PoolSettings:
        """Return what was asked for."""
        given = self.cleaned_data
        host = {name: given[f"host_{name}"] for name in HOST if given[f"host_{name}"]}
        return PoolSettings(
            given["completions_per_context"],
            given["most_adversarial"],
            given["offers_own_systems"],
            host,
        )

    def say_taken(self, n_dialogues: int) -> None:
        """Say that people wrote more than would be wanted."""
        self.add_error(
            "completions_per_context",
            ngettext(
                "%(n)s conversation has more messages already, or people at work on one.",
                "%(n)s conversations have more messages already, or people at work on one.",
                n_dialogues,
            )
            % {"n": f"{n_dialogues:,}"},
        )


class VettingForm(forms.Form):
    """Whether newcomers write on trial first."""

    is_on = forms.TypedChoiceField(
        choices=[("1", "1"), ("0", "0")], coerce=lambda value: value == "1"
    )


class Act(forms.Form):
    """What is done about a writer, with a note where somebody is told."""

    act = forms.ChoiceField(
        choices=[
            (act, act)
            for act in ("pause", "resume", "invite-again", "renew-link", "admit", "refuse")
        ]
    )
    note = TypedTextField(required=False, max_length=NOTE_LENGTH)

    def clean(self) -> None:
        """Ask for a note where the person is turned away."""
        if self.cleaned_data.get("act") == "refuse" and not self.cleaned_data.get("note"):
            self.add_error("note", _("Say why: the person reads it. Nothing was decided yet."))
