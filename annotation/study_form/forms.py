"""The form of a study: what it asks is put together into a study file and checked as one."""

import copy
from collections.abc import Container, Iterator, Mapping
from itertools import zip_longest
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.studies.protocol.files import FaultyError, check_values, values_as_toml
from annotation.studies.protocol.study import StudyProtocol
from annotation.study_form.form_fields import NAMES, PARTS, SECTIONS, FieldSpec, Section
from completions.files.toml import read_toml
from completions.models import Dataset

Step = tuple[Section, list[tuple[FieldSpec, forms.BoundField]], Section | None]
BETWEEN = "__"
"""Between the names of nested fields, where files have a dot."""
MOST_BYTES = 200_000


class _OnDataset(forms.Form):
    """What is asked for every study: the dataset that it is about."""

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

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 (as forms take them)
        super().__init__(*args, **kwargs)
        ranked = Dataset.objects.filter(is_for_checks=False).order_by("name")
        self.fields["dataset"].queryset = ranked  # type: ignore[attr-defined]


class StudyForm(_OnDataset):
    """Everything that a study is asked for, over the values it starts from.

    ``values`` are those of a template, a draft or a locked study; a field left empty takes its
    default. The fields named in ``fixed`` are shown and cannot be changed.
    """

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
        for spec in _all():
            self.fields[_name(spec.path)] = forms.CharField(
                required=False, label=str(spec.label), strip=True
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
            for field, reason in error.faults:
                self.blame(field, reason)
        return found

    def blame(self, field: str, reason: str) -> None:
        """Say beside the field of that path in a file, or of what holds it, what is wrong."""
        path, rest = _nearest(field)
        text = f"{rest}: {reason}" if rest else reason
        self.add_error(_name(path) if path else None, text)

    @property
    def steps(self) -> Iterator[Step]:
        """Yield each section with its fields and the one that follows, as the page shows them."""
        for section, following in zip_longest(SECTIONS, SECTIONS[1:]):
            fields = [(one, self[_name(one.path)]) for one in section.asked]
            yield section, fields, following

    @property
    def is_wrong_in(self) -> set[str]:
        """The keys of the sections with something to mend: these are open."""
        return {
            section.key
            for section in SECTIONS
            if any(self[_name(one.path)].errors for one in section.asked)
        }

    def _written(self, found: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the values of a study file, or None where a part is not even TOML."""
        values = copy.deepcopy(dict(self.values))
        is_read = True
        for spec in _all():
            text = found.get(_name(spec.path), "")
            try:
                value = _read(spec, text)
            except ValueError as error:
                self.add_error(_name(spec.path), str(error))
                is_read = False
            else:
                _put(values, spec.path, value)
        return values if is_read else None


class StudyFile(_OnDataset):
    """A study file, sent or pasted, and the dataset that it is about."""

    file = forms.FileField(required=False, label=gettext_lazy("Study file"))
    text = forms.CharField(
        required=False, strip=False, max_length=MOST_BYTES, label=gettext_lazy("Or its text")
    )

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
    return {_name(spec.path): _shown(spec, _get(values, spec.path)) for spec in _all()}


def _shown(spec: FieldSpec, value: Any) -> str:  # noqa: ANN401 (whatever a file may hold)
    if value is None or value in ({}, []):
        return ""
    if spec.kind == PARTS:
        return values_as_toml({spec.path: value})
    if spec.kind == NAMES:
        return " ".join(value)
    if isinstance(value, list | tuple):
        return "\n\n".join(value)
    return str(value)


def _read(spec: FieldSpec, text: str) -> Any:  # noqa: ANN401 (whatever a file may hold)
    """Return the value that a field stands for; None where it is empty.

    Raises
    ------
    ValueError
        If a part is not TOML, or holds something else than itself.
    """
    if not text.strip():
        return [] if spec.is_many else None
    if spec.kind == PARTS:
        return _parsed_part(spec.path, text)
    if spec.kind == NAMES:
        return text.replace(",", " ").split()
    if spec.is_many:
        return [one.strip() for one in text.replace("\r\n", "\n").split("\n\n") if one.strip()]
    return text.replace("\r\n", "\n")


def _parsed_part(key: str, text: str) -> Any:  # noqa: ANN401 (whatever a file may hold)
    found = read_toml(text.replace("\r\n", "\n"))
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
    paths = [spec.path for spec in _all()]
    for path in paths:
        if field == path or field.startswith(f"{path}."):
            return path, field[len(path) + 1 :]
    inner = next((path for path in paths if field and path.startswith(f"{field}.")), "")
    return (inner, "") if inner else ("", field)
