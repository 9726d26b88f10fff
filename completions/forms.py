"""Parse what writers and reviewers post; forms return finished values and never save."""

from collections.abc import Iterator

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from completions import wording
from completions.choices import HoldState, Review

NOTE_LENGTH = 2_000
SKIP_REASONS = [
    ("speechless", _("I do not know what to say")),
    ("close", _("It is too close to home")),
    ("professional", _("It needs a professional")),
    ("broken", _("Something is wrong with the text")),
]


class Words(forms.CharField):
    """A text as it was typed, but with plain line ends and nothing that cannot be stored."""

    widget = forms.Textarea({"rows": 4})

    def to_python(self, value: object) -> str:
        """Return the text as it can be stored."""
        text = super().to_python(value) or ""
        return text.replace("\r\n", "\n").replace("\0", "")


class Consent(forms.Form):
    """Agree or decline."""

    choice = forms.ChoiceField(choices=[("agree", "agree"), ("decline", "decline")])


class Skip(forms.Form):
    """Why a talk is skipped."""

    reason = forms.ChoiceField(choices=SKIP_REASONS)


class Completion(forms.Form):
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

    def clean_text(self) -> str:
        """Return the text without outer white space, or say why it cannot be sent."""
        try:
            return wording.check_text(self.cleaned_data["text"])
        except wording.UnusableTextError as error:
            raise forms.ValidationError(str(error)) from error

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield each message with the id of the control that it is about."""
        for name, messages in self.errors.items():
            for message in messages:
                yield str(self[name].auto_id), str(message)


def typed(posted: QueryDict) -> str:
    """Return the text that was posted, whatever else is missing."""
    return Words(required=False, strip=False).to_python(posted.get("text"))


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
