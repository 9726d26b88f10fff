"""Parse whom to invite, how a pool works, and what is done about one writer."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from completions.dialogues.forms import NOTE_LENGTH, TypedTextField
from completions.writers.emails import is_address
from completions.writers.services.pool import PoolSettings

MOST_ADDRESSES = 500
BETWEEN = re.compile(r"[\n,;]")


@dataclass(frozen=True)
class Addresses:
    """The e-mail addresses of a text, each once, and what in it is none."""

    good: tuple[str, ...]
    bad: tuple[str, ...]


def read_addresses(text: str) -> Addresses:
    """Read addresses, one on each line or parted by commas; a name around one makes it none."""
    sorted_out: dict[bool, list[str]] = {True: [], False: []}
    for word in split_addresses(text):
        sorted_out[is_address(word)].append(word)
    return Addresses(tuple(sorted_out[True]), tuple(sorted_out[False]))


def split_addresses(text: str) -> list[str]:
    """Return what might be an address, each once, in small letters."""
    words = dict.fromkeys(word.strip().lower() for word in BETWEEN.split(text))
    return [word for word in words if word]


class Invite(forms.Form):
    """Whom to invite; ``is_dry`` only counts."""

    emails = TypedTextField(
        error_messages={"required": _("Type at least one e-mail address, each on a line.")}
    )
    is_dry = forms.BooleanField(required=False)

    def clean_emails(self) -> Addresses:
        """Return the addresses; one that is none does not keep the others from being invited."""
        if len(split_addresses(self.cleaned_data["emails"])) > MOST_ADDRESSES:
            raise ValidationError(
                _("That is more than %(n)d at once. Invite them in parts."),
                params={"n": MOST_ADDRESSES},
            )
        found = read_addresses(self.cleaned_data["emails"])
        if not found.good:
            raise ValidationError(
                _("There is no e-mail address in this. Nobody was invited; mend it and try again.")
            )
        return found


HOST = {
    "person": _("Who invites (a person)"),
    "lab": _("Their lab or group"),
    "pay": _("What a writer is paid"),
    "time": _("How long it takes"),
    "contact": _("Whom to ask (an e-mail address)"),
}
"""What invitations say about who sends them, by the names of the dataset's settings."""


class Settings(forms.Form):
    """How a pool works."""

    completions_per_context = forms.IntegerField(
        min_value=1,
        max_value=50,
        label=_("Replies per conversation, each by another person"),
        error_messages={
            "required": _("Give a number from 1 to 50."),
            "invalid": _("Give a whole number from 1 to 50."),
            "min_value": _("Give a number from 1 to 50."),
            "max_value": _("Give a number from 1 to 50."),
        },
    )
    most_adversarial = forms.IntegerField(
        min_value=0,
        max_value=100,
        label=_("Hostile conversations, at most, in % of what one writer is given"),
        error_messages={
            "required": _("Give a share from 0 to 100."),
            "invalid": _("Give a share from 0 to 100, as a whole number."),
            "min_value": _("Give a share from 0 to 100."),
            "max_value": _("Give a share from 0 to 100."),
        },
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
                "%(n)d conversation has more messages already, or people at work on one.",
                "%(n)d conversations have more messages already, or people at work on one.",
                n_dialogues,
            )
            % {"n": n_dialogues},
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


def problems(form: forms.Form) -> Iterator[str]:
    """Yield what is wrong, a sentence for each control."""
    for messages in form.errors.values():
        yield from map(str, messages)
