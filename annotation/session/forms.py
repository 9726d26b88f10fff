"""What raters post, from the consent to a report; forms return finished values and never save."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MinLengthValidator
from django.forms import BoundField
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from annotation.choices import Protocol, Source
from annotation.session.blinded import PageChip, StudyPage
from annotation.studies.rubric import Dimension
from annotation.studies.verdicts import Answer
from completions.dialogues.forms import PageForm, TypedTextField

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

Posted = Mapping[str, Any] | None
MAX_RATIONALE = 4000
LONGEST_HIDDEN_MS = 24 * 60 * 60 * 1000
FARTHEST_OFFSET_MINUTES = 14 * 60

FIVE_POINTS = [
    (2, _("A much better")),
    (1, _("A slightly better")),
    (0, _("About the same")),
    (-1, _("B slightly better")),
    (-2, _("B much better")),
]
WINNERS = [("A", _("A is better")), ("B", _("B is better"))]
STRENGTHS = [
    (1, _("+ barely")),
    (2, _("++ a little")),
    (3, _("+++ clearly")),
    (4, _("++++ a lot")),
    (5, _("+++++ by far")),
]
RATINGS = [
    (1, _("not at all")),
    (2, _("a little")),
    (3, _("in part")),
    (4, _("mostly")),
    (5, _("fully")),
]
MARKS = [(1, _("A")), (0, _("neither")), (-1, _("B"))]
UPSETTING = "upsetting"
SKIP_REASONS = [
    ("undecided", _("I can’t decide")),
    ("unclear", _("I don’t understand it")),
    (UPSETTING, _("It upsets me")),
    ("broken", _("The text is broken or unreadable")),
]
TOO_SHORT = ngettext_lazy(
    "Please write at least %(limit_value)d character.",
    "Please write at least %(limit_value)d characters.",
    "limit_value",
)
FEWEST_WORDS, FEWEST_LETTERS = 2, 5


def check_effort(text: str) -> None:
    """Refuse a reason that is one word, or a few letters, over and over.

    A text without spaces passes by its letters alone: some scripts have none between words.

    Raises
    ------
    ValidationError
        If it says nothing.
    """
    words = text.casefold().split()
    letters = {letter for letter in text.casefold() if letter.isalpha()}
    is_one_word_again = len(words) > 1 and len(set(words)) < FEWEST_WORDS
    if is_one_word_again or len(letters) < FEWEST_LETTERS:
        raise ValidationError(_("Please say in your own words what made the difference."))


class Telemetry(forms.Field):
    """A number that a script reports; a missing or senseless one never costs an answer."""

    widget = forms.HiddenInput

    def __init__(self, *, low: int, high: int, otherwise: int | None) -> None:
        super().__init__(required=False)
        self.low, self.high, self.otherwise = low, high, otherwise

    def clean(self, value: object) -> int | None:
        """Return a whole number within the bounds, or the value that stands for none."""
        try:
            number = int(str(value))
        except ValueError:
            return self.otherwise
        return number if self.low <= number <= self.high else self.otherwise


class ConsentForm(forms.Form):
    """Agree or decline, with the signed way in which the visitor came."""

    choice = forms.ChoiceField(choices=[("agree", "agree"), ("decline", "decline")])
    entry = forms.CharField(max_length=2000, widget=forms.HiddenInput)
    utc_offset_minutes = Telemetry(
        low=-FARTHEST_OFFSET_MINUTES, high=FARTHEST_OFFSET_MINUTES, otherwise=None
    )


class Skip(forms.Form):
    """Why a pair is skipped."""

    reason = forms.ChoiceField(choices=SKIP_REASONS)


class AnswerForm(PageForm):
    """What all protocols ask for: a reason, and what the page notes by itself.

    ``hidden_ms`` is how long it was out of sight; ``opened_earlier`` is 1 if folded turns of the
    conversation were opened, 0 if not, and none where nothing was folded.
    """

    fragment: ClassVar[str]
    of_dimension: ClassVar[str] = "mark"

    hidden_ms = Telemetry(low=0, high=LONGEST_HIDDEN_MS, otherwise=0)
    opened_earlier = Telemetry(low=0, high=1, otherwise=None)
    rationale = TypedTextField(
        max_length=MAX_RATIONALE,
        widget=forms.Textarea({"rows": 3, "dir": "auto"}),
        help_text=_("A sentence is enough."),
        error_messages={"required": _("Please say in a few words what made the difference.")},
    )

    def __init__(
        self,
        data: Posted = None,
        *,
        study: StudyPage,
        answer: Answer | None = None,
        is_practice: bool = False,
        chip_order: int = 0,
    ) -> None:
        super().__init__(data, initial=self.initial_of(answer) if answer else None)
        self.add_chips(study.chips_in(chip_order))
        rationale = self.fields["rationale"]
        rationale.required = bool(study.min_rationale_length) and not is_practice
        if rationale.required:
            shortest = MinLengthValidator(study.min_rationale_length, TOO_SHORT)
            rationale.validators += [shortest, check_effort]
        self.is_practice = is_practice
        self.dimensions: tuple[Dimension, ...] = study.rubric.dimensions if study.rubric else ()
        self.add_dimensions()

    def add_chips(self, chips: Sequence[PageChip]) -> None:
        """Add the reasons that can be ticked, where the study has some."""
        if chips:
            self.fields["chips"] = forms.MultipleChoiceField(
                choices=chips, required=False, widget=forms.CheckboxSelectMultiple
            )

    def add_dimensions(self) -> None:
        """Add a field for each dimension of the rubric, where the protocol asks for them."""

    def marks(self) -> Iterator[tuple[Dimension, BoundField]]:
        """Yield each dimension with its field."""
        for dimension in self.dimensions:
            yield dimension, self[f"{self.of_dimension}_{dimension.key}"]

    def initial_of(self, answer: Answer) -> dict[str, Any]:
        """Return the values that show ``answer``."""
        marks = {f"{self.of_dimension}_{key}": mark for key, mark in answer.marks.items()}
        return {"rationale": answer.rationale, "chips": sorted(answer.chips)} | marks

    def answer_of(self, verdict: int | None) -> Answer:
        """Return what was said with a verdict: the reasons, and the dimensions that were marked."""
        said = self.cleaned_data
        keys = [dimension.key for dimension in self.dimensions]
        marks = {key: said[f"{self.of_dimension}_{key}"] for key in keys}
        return Answer(
            verdict=verdict,
            rationale=said["rationale"],
            marks={key: mark for key, mark in marks.items() if mark is not None},
            chips=frozenset(said.get("chips", ())),
        )


class Preference(AnswerForm):
    """Five points, from A much better to B much better."""

    fragment = "annotation/_preference.html"

    verdict = forms.TypedChoiceField(
        coerce=int,
        choices=FIVE_POINTS,
        widget=forms.RadioSelect,
        error_messages={"required": _("Choose one of the five answers.")},
    )
    field_order = ("verdict", "rationale")

    def initial_of(self, answer: Answer) -> dict[str, Any]:
        """Return the values that show ``answer``."""
        return super().initial_of(answer) | {"verdict": answer.verdict}

    def answer(self) -> Answer:
        """Return what the rater said, in the frame of the screen."""
        return self.answer_of(self.cleaned_data["verdict"])


class RubricForm(AnswerForm):
    """A winner, how clearly it wins, and who is ahead on each dimension."""

    fragment = "annotation/_rubric.html"

    winner = forms.ChoiceField(
        choices=WINNERS,
        widget=forms.RadioSelect,
        error_messages={"required": _("Choose A or B.")},
    )
    strength = forms.TypedChoiceField(
        coerce=int,
        choices=STRENGTHS,
        widget=forms.RadioSelect,
        error_messages={"required": _("Say by how much it is better.")},
    )

    def add_dimensions(self) -> None:
        """Add a field for each dimension of the rubric, before the reason.

        Practice has none, and needs no strength: it is about the side.
        """
        if self.is_practice:
            self.dimensions = ()
            self.fields["strength"].required = False
        for dimension in self.dimensions:
            self.fields[f"mark_{dimension.key}"] = forms.TypedChoiceField(
                coerce=int,
                choices=MARKS,
                widget=forms.RadioSelect,
                required=False,
                empty_value=None,
                label=dimension.name,
            )
        marks = [f"mark_{dimension.key}" for dimension in self.dimensions]
        self.order_fields(["winner", "strength", *marks, "rationale"])

    def initial_of(self, answer: Answer) -> dict[str, Any]:
        """Return the values that show ``answer``."""
        verdict = answer.verdict or 0
        shown = {"winner": "A" if verdict > 0 else "B", "strength": abs(verdict)}
        return super().initial_of(answer) | shown

    @property
    def has_marks(self) -> bool:
        """Whether a dimension is marked, as posted or as answered before."""
        return any(field.value() not in (None, "") for _dimension, field in self.marks())

    def answer(self) -> Answer:
        """Return what the rater said, in the frame of the screen."""
        sign = 1 if self.cleaned_data["winner"] == "A" else -1
        return self.answer_of(sign * (self.cleaned_data["strength"] or 1))


class Likert(AnswerForm):
    """A rating of one message on each dimension."""

    fragment = "annotation/_likert.html"
    of_dimension = "rating"

    def add_dimensions(self) -> None:
        """Add a field for each dimension of the rubric, before the reason."""
        for dimension in self.dimensions:
            self.fields[f"rating_{dimension.key}"] = forms.TypedChoiceField(
                coerce=int,
                choices=RATINGS,
                widget=forms.RadioSelect,
                label=dimension.name,
                error_messages={
                    "required": _("Rate it on %(dimension)s.") % {"dimension": dimension.name}
                },
            )
        ratings = [f"rating_{dimension.key}" for dimension in self.dimensions]
        self.order_fields([*ratings, "rationale"])

    def answer(self) -> Answer:
        """Return what the rater said; one message alone has no verdict."""
        return self.answer_of(None)


FORMS: dict[str, type[Preference | RubricForm | Likert]] = {
    Protocol.PREFERENCE: Preference,
    Protocol.RUBRIC: RubricForm,
    Protocol.LIKERT: Likert,
}
"""The form of each protocol."""

GUESSES = [
    (Source.PERSON.value, _("Person")),
    (Source.PROGRAM.value, _("Program")),
    (Source.UNSURE.value, _("Not sure")),
]


class Comprehension(forms.Form):
    """One choice for each question of the study file."""

    def __init__(self, data: Posted = None, *, questions: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(data)
        for place, question in enumerate(questions):
            self.fields[f"question_{place}"] = forms.TypedChoiceField(
                label=question["text"],
                coerce=int,
                choices=list(enumerate(question["options"])),
                widget=forms.RadioSelect,
                error_messages={"required": _("Choose an answer.")},
            )

    @property
    def is_single(self) -> bool:
        """Whether there is one question, which is answered by pressing its answer."""
        return len(self.fields) == 1

    def answers(self) -> dict[int, int]:
        """Return the chosen places by the place of the question."""
        return {place: self.cleaned_data[name] for place, name in enumerate(self.fields)}

    def mark_wrong(self, places: Sequence[int]) -> None:
        """Say beside each question that was not answered rightly that it was not."""
        for place in places:
            self.add_error(f"question_{place}", _("Not quite. Please check this one again."))

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield each message with the id of the control that it is about."""
        for name, messages in self.errors.items():
            field = self[name]
            for message in messages:
                yield f"{field.auto_id}_0", f"{field.label} {message}"


class Guesses(forms.Form):
    """Who may have written each message; every answer is optional."""

    def __init__(self, data: Posted = None, *, places: Iterable[int]) -> None:
        super().__init__(data)
        self.places = tuple(places)
        for place in self.places:
            self.fields[f"guess_{place}"] = forms.ChoiceField(
                choices=GUESSES, widget=forms.RadioSelect, required=False
            )

    def guesses(self) -> dict[int, str]:
        """Return the guesses that were made, by the place of the message."""
        made = {place: self.cleaned_data[f"guess_{place}"] for place in self.places}
        return {place: guess for place, guess in made.items() if guess}


def _kept_or_deleted(otherwise: "_StrPromise") -> forms.ChoiceField:
    """Return the choice of somebody who withdraws; ``otherwise`` is said where none is made."""
    return forms.ChoiceField(
        choices=[("keep", "keep"), ("delete", "delete")],
        error_messages={"required": otherwise, "invalid_choice": otherwise},
    )


class Withdrawal(forms.Form):
    """What is to become of the answers of somebody who withdraws."""

    answers = _kept_or_deleted(_("Please choose what happens to your answers."))


class WriterWithdrawal(forms.Form):
    """What is to become of the texts of a writer who withdraws."""

    texts = _kept_or_deleted(_("Please choose what happens to your replies."))


MAX_TEXT = 1000


class ReportForm(forms.Form):
    """What is wrong with a conversation, in a few words if the rater has some."""

    text = TypedTextField(required=False, max_length=MAX_TEXT)
