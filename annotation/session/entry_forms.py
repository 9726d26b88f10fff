"""Parse what raters post on the way in and on the way out; forms return finished values."""

from collections.abc import Iterator, Sequence
from typing import Any

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext_lazy as _

from annotation.choices import Source
from annotation.raters.comprehension import Question
from annotation.session.forms import Posted

GUESSES = [
    (Source.PERSON.value, _("Person")),
    (Source.PROGRAM.value, _("Program")),
    (Source.UNSURE.value, _("Not sure")),
]


class Comprehension(forms.Form):
    """One choice for each question of the study file."""

    def __init__(self, data: Posted = None, *, questions: Sequence[Question]) -> None:
        super().__init__(data)
        for place, question in enumerate(questions):
            self.fields[f"question_{place}"] = forms.TypedChoiceField(
                label=question.text,
                coerce=int,
                choices=list(enumerate(question.options)),
                widget=forms.RadioSelect,
                error_messages={"required": _("Choose an answer.")},
            )

    def answers(self) -> dict[int, int]:
        """Return the chosen places by the place of the question."""
        return {place: self.cleaned_data[name] for place, name in enumerate(self.fields)}

    def mark_wrong(self, places: Sequence[int]) -> None:
        """Say beside each question that was not answered rightly that it was not."""
        for place in places:
            self.add_error(f"question_{place}", _("This is not it. Have another look."))

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield each message with the id of the control that it is about."""
        yield from _problems(self)


class Guesses(forms.Form):
    """Who may have written each message; every answer is optional."""

    def __init__(self, data: Posted = None, *, n_messages: int) -> None:
        super().__init__(data)
        for place in range(n_messages):
            self.fields[f"guess_{place}"] = forms.ChoiceField(
                choices=GUESSES, widget=forms.RadioSelect, required=False
            )

    def guesses(self) -> dict[int, str]:
        """Return the guesses that were made, by the place of the message."""
        made = (self.cleaned_data[name] for name in self.fields)
        return {place: guess for place, guess in enumerate(made) if guess}


class Withdrawal(forms.Form):
    """What is to become of the answers of somebody who withdraws."""

    answers = forms.ChoiceField(
        choices=[("keep", "keep"), ("delete", "delete")],
        error_messages={
            "required": _("Say what is to become of your answers."),
            "invalid_choice": _("Say what is to become of your answers."),
        },
    )


class WriterWithdrawal(forms.Form):
    """What is to become of the texts of a writer who withdraws."""

    texts = forms.ChoiceField(
        choices=[("keep", "keep"), ("delete", "delete")],
        error_messages={
            "required": _("Say what is to become of your messages."),
            "invalid_choice": _("Say what is to become of your messages."),
        },
    )


def _problems(form: forms.Form) -> Iterator[tuple[str, str]]:
    for name, messages in form.errors.items():
        field: BoundField = form[name]
        for message in messages:
            yield f"{field.auto_id}_0", f"{field.label} {message}"


def pairs_of(form: forms.Form, items: Sequence[Any]) -> list[tuple[Any, BoundField]]:
    """Return each item with the field that asks about it."""
    return list(zip(items, form, strict=True))
