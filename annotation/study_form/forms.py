"""The form of a study: what it asks is put together into a study file and checked as one."""

import copy
import tomllib
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.choices import PlanKind, Protocol
from annotation.quality.gold import SETS
from annotation.studies.protocol import FaultyError, StudyProtocol, check_values, values_as_toml
from annotation.studies.rubric import RUBRICS
from completions.models import Dataset

LINE, NUMBER, CHOICE, TEXT, PARTS = "line", "number", "choice", "text", "parts"
Words = str | Promise


@dataclass(frozen=True)
class FieldSpec:
    """A field: its dotted path in a file, its label, a hint, and how it is typed.

    ``choices`` are values with labels; ``is_many`` says that paragraphs are kept apart.
    """

    path: str
    label: Words
    hint: Words = ""
    kind: str = LINE
    choices: Sequence[tuple[str, Words]] = ()
    is_many: bool = False


@dataclass(frozen=True)
class Section:
    """A group of fields; all but the first are folded while nothing in them is wrong."""

    key: str
    title: Words
    asked: tuple[FieldSpec, ...]
    lead: Words = ""
    is_folded: bool = True


def _number(path: str, label: Words, hint: Words = "") -> FieldSpec:
    return FieldSpec(path, label, hint, NUMBER)


def _form_fields_part(path: str, label: Words, hint: Words = "") -> FieldSpec:
    return FieldSpec(path, label, hint, PARTS)


def _files(folder: Path) -> list[tuple[str, Words]]:
    return [(one.stem, one.stem) for one in sorted(folder.glob("*.toml"))]


WHAT = Section(
    "what",
    gettext_lazy("What it is"),
    (
        FieldSpec(
            "slug",
            gettext_lazy("Address"),
            gettext_lazy("Small letters, digits and hyphens; raters see it."),
        ),
        FieldSpec(
            "title", gettext_lazy("Title"), gettext_lazy("What raters read above everything.")
        ),
        FieldSpec(
            "protocol",
            gettext_lazy("What is asked"),
            kind=CHOICE,
            choices=[(one.value.lower(), one.label) for one in Protocol],
        ),
        FieldSpec(
            "plan",
            gettext_lazy("Plan"),
            kind=CHOICE,
            choices=[(one.value.lower(), one.label) for one in PlanKind],
        ),
        FieldSpec(
            "rubric",
            gettext_lazy("Rubric"),
            gettext_lazy("What LLM judges are asked; people see it in rubric and likert studies."),
            CHOICE,
            _files(RUBRICS),
        ),
        _number(
            "judgments_per_pair",
            gettext_lazy("Judgments per pair"),
            gettext_lazy("How many people judge each pair."),
        ),
        _number(
            "pairs_per_context",
            gettext_lazy("Pairs per context"),
            gettext_lazy("0 stands for all pairs."),
        ),
        _number(
            "session_length",
            gettext_lazy("Session length"),
            gettext_lazy("Pairs that one rater gets at most."),
        ),
        _number(
            "lease_minutes",
            gettext_lazy("Lease"),
            gettext_lazy("Minutes for which a pair is kept for a rater."),
        ),
        FieldSpec(
            "seed",
            gettext_lazy("Seed"),
            gettext_lazy(
                "Fixes every draw. Leave it empty: a new study gets one by chance, a draft keeps "
                "the one it has. It is secret until the study is closed."
            ),
        ),
    ),
    is_folded=False,
)
RULES = Section(
    "rules",
    gettext_lazy("Rules"),
    (
        _number(
            "min_rationale_length",
            gettext_lazy("Shortest reason"),
            gettext_lazy("Characters; 0: it is optional."),
        ),
        _number(
            "break_every",
            gettext_lazy("Pairs until a break is suggested"),
            gettext_lazy("0: never."),
        ),
        _number("source_guesses", gettext_lazy("Guesses of the source, after the last pair")),
        _number("reports_to_hold", gettext_lazy("Reports until a talk is held")),
        FieldSpec(
            "checks.gold_set",
            gettext_lazy("Planted pairs"),
            kind=CHOICE,
            choices=[("", gettext_lazy("none")), *_files(SETS)],
        ),
        _number(
            "checks.rate", gettext_lazy("Share of planted pairs"), gettext_lazy("From 0 to 0.5.")
        ),
        _number(
            "checks.repeat_rate",
            gettext_lazy("Share of repeated pairs"),
            gettext_lazy("From 0 to 0.5."),
        ),
        _number(
            "screening.pairs",
            gettext_lazy("Screening pairs"),
            gettext_lazy("Planted, before the first real one."),
        ),
        _number("screening.min_passed", gettext_lazy("Screening pairs to pass")),
        _number(
            "soft_scores.slightly",
            gettext_lazy("Strength of “slightly”"),
            gettext_lazy("From 1 to 5."),
        ),
        _number(
            "soft_scores.much", gettext_lazy("Strength of “much”"), gettext_lazy("More than that.")
        ),
    ),
)
EXCLUSION = Section(
    "exclusion",
    gettext_lazy("When raters are left out"),
    (
        _number(
            "exclusion.failed_share",
            gettext_lazy("Share of checks failed"),
            gettext_lazy("Reaching it excludes."),
        ),
        _number("exclusion.min_checks", gettext_lazy("Checks seen before that counts")),
        _number("exclusion.anomalous_share", gettext_lazy("Share of anomalous times")),
        _number("exclusion.min_answers", gettext_lazy("Answers before that counts")),
        _number("exclusion.robust_z", gettext_lazy("Robust z of an anomalous time")),
        _number("exclusion.words_per_minute", gettext_lazy("Words a minute that nobody reads")),
        _number("exclusion.misfit", gettext_lazy("Infit"), gettext_lazy("A warning only.")),
        _number(
            "exclusion.alpha",
            gettext_lazy("Level of the outlier test"),
            gettext_lazy("A warning only."),
        ),
    ),
)
TEXTS = Section(
    "texts",
    gettext_lazy("Texts"),
    (
        FieldSpec("question", gettext_lazy("Question")),
        FieldSpec("invitation", gettext_lazy("Invitation"), kind=TEXT),
        FieldSpec(
            "instructions",
            gettext_lazy("Instructions"),
            gettext_lazy("Paragraphs, with an empty line between them."),
            TEXT,
            is_many=True,
        ),
        FieldSpec("debrief", gettext_lazy("Debrief"), gettext_lazy("Markdown."), TEXT),
        FieldSpec("contact", gettext_lazy("Whom to write to")),
    ),
    gettext_lazy("Those of the template, until you change them."),
)
ADVANCED = Section(
    "advanced",
    gettext_lazy("Consent, practice, help lines and more, as in a study file"),
    (
        _form_fields_part("consent", gettext_lazy("Consent")),
        _form_fields_part("practice", gettext_lazy("Practice pair")),
        _form_fields_part(
            "comprehension", gettext_lazy("Questions at the start"), gettext_lazy("Empty: none.")
        ),
        _form_fields_part("help_lines", gettext_lazy("Help lines")),
        _form_fields_part(
            "crowd",
            gettext_lazy("Crowd platform"),
            gettext_lazy(
                "Empty: none. Mechanical Turk works by link only: this site opens in no frame. The "
                "task shows a link that opens in a window of its own, and the code is typed back."
            ),
        ),
        _form_fields_part(
            "analysis",
            gettext_lazy("Confirmatory analyses"),
            gettext_lazy("Empty: all are exploratory."),
        ),
        _form_fields_part(
            "pool_masses",
            gettext_lazy("Weights of the pools"),
            gettext_lazy("Empty: each judgment counts once."),
        ),
    ),
    gettext_lazy("TOML, each part under its own heading."),
)
SECTIONS = (WHAT, RULES, EXCLUSION, TEXTS, ADVANCED)


BETWEEN = "__"
"""Between the names of nested fields, where files have a dot."""
MOST_BYTES = 200_000


class StudyForm(forms.Form):
    """Everything that a study is asked for, over the values it starts from.

    ``values`` are those of a template, a draft or a locked study; a field left empty takes its
    default. The fields named in ``fixed`` are shown and cannot be changed.
    """

    dataset: "forms.ModelChoiceField[Dataset]" = forms.ModelChoiceField(
        queryset=None,
        to_field_name="slug",
        label=gettext_lazy("Dataset"),
        empty_label=gettext_lazy("Choose one"),
        error_messages={
            "required": gettext_lazy("Choose the dataset whose contexts are judged."),
            "invalid_choice": gettext_lazy("There is no such dataset any more. Choose again."),
        },
    )

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 (as forms take them)
        values: Mapping[str, Any],
        fixed: Container[str] = (),
        **kwargs: Any,  # noqa: ANN401 (as forms take them)
    ) -> None:
        kwargs["initial"] = {**_initial(values), **(kwargs.get("initial") or {})}
        super().__init__(*args, **kwargs)
        self.values = values
        self.protocol: StudyProtocol | None = None
        ranked = Dataset.objects.filter(is_for_checks=False).order_by("name")
        self.fields["dataset"].queryset = ranked  # type: ignore[attr-defined]
        for asked in _all():
            self.fields[_name(asked.path)] = forms.CharField(
                required=False, label=str(asked.label), strip=True
            )
        for name, field in self.fields.items():
            field.disabled = name in fixed

    def clean(self) -> dict[str, Any]:
        """Put the file together and check it by the rules of study files."""
        found = super().clean() or self.cleaned_data
        values = self._written(found)
        if values is None:
            return found
        try:
            self.protocol = check_values(values)
        except FaultyError as error:
            for fault in error.faults:
                self.blame(fault.field, fault.reason)
        return found

    def blame(self, field: str, reason: str) -> None:
        """Say beside the field of that path in a file, or of what holds it, what is wrong."""
        path, rest = _nearest(field)
        text = f"{rest}: {reason}" if rest else reason
        self.add_error(_name(path) if path else None, text)

    @property
    def sections(self) -> Iterator[tuple[Section, list[tuple[FieldSpec, forms.BoundField]]]]:
        """Yield each section with its fields, as the page shows them."""
        for section in SECTIONS:
            yield section, [(one, self[_name(one.path)]) for one in section.asked]

    @property
    def is_wrong_in(self) -> set[str]:
        """The keys of the sections with something to mend: these are shown unfolded."""
        return {
            section.key
            for section in SECTIONS
            if any(self[_name(one.path)].errors for one in section.asked)
        }

    def _written(self, found: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the values of a study file, or None where a part is not even TOML."""
        values = copy.deepcopy(dict(self.values))
        is_read = True
        for asked in _all():
            text = found.get(_name(asked.path), "")
            try:
                value = _read(asked, text)
            except ValueError as error:
                self.add_error(_name(asked.path), str(error))
                is_read = False
            else:
                _put(values, asked.path, value)
        return values if is_read else None


class StudyFile(forms.Form):
    """A study file, sent or pasted, and the dataset that it is about."""

    dataset: "forms.ModelChoiceField[Dataset]" = forms.ModelChoiceField(
        queryset=None,
        to_field_name="slug",
        label=gettext_lazy("Dataset"),
        empty_label=gettext_lazy("Choose one"),
        error_messages={
            "required": gettext_lazy("Choose the dataset whose contexts are judged."),
            "invalid_choice": gettext_lazy("There is no such dataset any more. Choose again."),
        },
    )
    file = forms.FileField(required=False, label=gettext_lazy("Study file"))
    text = forms.CharField(
        required=False, strip=False, max_length=MOST_BYTES, label=gettext_lazy("Or its text")
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 (as forms take them)
        super().__init__(*args, **kwargs)
        ranked = Dataset.objects.filter(is_for_checks=False).order_by("name")
        self.fields["dataset"].queryset = ranked  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Read the file as text; what is pasted counts where none is sent."""
        found = super().clean() or self.cleaned_data
        sent = found.get("file")
        found["source"] = sent.name if sent else _("the text")
        if sent:
            found["text"] = _decoded(sent)
        if not self.errors and not found.get("text", "").strip():
            raise ValidationError(_("Choose a file, or paste its text."))
        return found


def _decoded(sent: Any) -> str:  # noqa: ANN401 (an uploaded file)
    if sent.size > MOST_BYTES:
        raise ValidationError({"file": _("No study file is as large as this one.")})
    try:
        return str(sent.read().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValidationError({"file": _("The file is not text in UTF-8.")}) from error


def _all() -> Iterator[FieldSpec]:
    for section in SECTIONS:
        yield from section.asked


def _name(path: str) -> str:
    return path.replace(".", BETWEEN)


def _initial(values: Mapping[str, Any]) -> dict[str, str]:
    return {_name(asked.path): _shown(asked, _get(values, asked.path)) for asked in _all()}


def _shown(asked: FieldSpec, value: Any) -> str:  # noqa: ANN401 (whatever a file may hold)
    if value is None or value in ({}, []):
        return ""
    if asked.kind == PARTS:
        return values_as_toml({asked.path: value})
    if isinstance(value, list | tuple):
        return "\n\n".join(value)
    return str(value)


def _read(asked: FieldSpec, text: str) -> Any:  # noqa: ANN401 (whatever a file may hold)
    """Return the value that a field stands for; None where it is empty.

    Raises
    ------
    ValueError
        If a part is not TOML, or holds something else than itself.
    """
    if not text.strip():
        return [] if asked.is_many else None
    if asked.kind == PARTS:
        return _part(asked.path, text)
    if asked.is_many:
        return [one.strip() for one in text.replace("\r\n", "\n").split("\n\n") if one.strip()]
    return text.replace("\r\n", "\n")


def _part(key: str, text: str) -> Any:  # noqa: ANN401 (whatever a file may hold)
    found = tomllib.loads(text.replace("\r\n", "\n"))
    if set(found) != {key}:
        raise ValueError(_("Only [%(name)s] stands here.") % {"name": key})
    return found[key]


def _get(values: Mapping[str, Any], path: str) -> Any:  # noqa: ANN401 (whatever a file may hold)
    found: Any = values
    for name in path.split("."):
        found = (found or {}).get(name)
    return found


def _put(values: dict[str, Any], path: str, value: Any) -> None:  # noqa: ANN401 (whatever a file may hold)
    """Set the value at its path; None takes it out, so that its default counts."""
    *outer, last = path.split(".")
    for name in outer:
        values[name] = dict(values.get(name) or {})
        values = values[name]
    if value is None:
        values.pop(last, None)
    else:
        values[last] = value


def _nearest(field: str) -> tuple[str, str]:
    """Return the path of the field that is asked for, and what of the fault lies below it."""
    paths = [asked.path for asked in _all()]
    for path in paths:
        if field == path or field.startswith(f"{path}."):
            return path, field[len(path) + 1 :]
    inner = next((path for path in paths if field and path.startswith(f"{field}.")), "")
    return (inner, "") if inner else ("", field)
