"""A rater's way through the pages as a browser without scripts goes it, for tests."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from django.test import Client
from django.urls import reverse

from annotation.models import Rater, Study
from annotation.studies import rubric
from annotation.studies.protocol import files
from completions.dialogues import normaliser
from tests.helpers.factories import make_alone, make_comparison, make_study

HTMX = {"HX-Request": "true"}
PLAIN: dict[str, Any] = {
    "checks": {"rate": 0, "repeat_rate": 0, "gold_set": ""},
    "screening": {"pairs": 0, "min_passed": 0},
    "comprehension": [],
    "source_guesses": 0,
}
"""What a study file says that plants nothing and asks nothing before the first pair."""
ANSWERS = {
    "preference": {"verdict": "2", "rationale": "B asks for more than it hears."},
    "likert": {f"rating_{key}": "4" for key in "HEART"},
    "rubric": {"winner": "B", "strength": "4", "mark_E": "-1", "mark_R": "0"},
}


def study_content(kind: str = "preference", **changes: Any) -> dict[str, Any]:
    """Return the content of the study file that ships for the protocol."""
    shipped = files.load_protocol(files.STUDIES / f"heart-{kind}.toml")
    content = shipped.content(
        rubric.load_rubric(shipped.rubric).content(), normaliser=normaliser.VERSION
    )
    return content | PLAIN | changes


def open_study(kind: str = "preference", *, n_pairs: int = 2, **fields: Any) -> Study:
    """Store an open study with pairs to judge, each of another context."""
    content = study_content(kind)
    shortest = 10 if kind == "preference" else 0  # as the shipped files have it
    given = {"protocol": kind.upper(), "content": content, "min_rationale_length": shortest}
    study = make_study(**given | fields)
    make = make_alone if kind == "likert" else make_comparison
    for _ in range(n_pairs):
        make(study=study)
    return study


def url(study: Study, name: str, *args: Any) -> str:
    return reverse(f"annotation:{name}", args=[study.slug, *args])


def consent_fields(client: Client, study: Study, **parameters: str) -> dict[str, str]:
    """Return what the consent form of the entry page would post, save for the choice."""
    page = client.get(url(study, "entry"), parameters)
    form = read_forms(page)[0]
    return {name: value for name, value in form.fields.items() if name != "csrfmiddlewaretoken"}


def enrol(client: Client, study: Study, **parameters: str) -> Rater:
    """Agree to the consent, and return the rater that the browser then is."""
    fields = consent_fields(client, study, **parameters)
    client.post(url(study, "consent"), fields | {"choice": "agree"})
    return Rater.objects.filter(study=study).latest("pk")


@dataclass
class Form:
    """What a browser would post: the address, the fields as they stand, the buttons."""

    action: str
    id: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)
    buttons: list[tuple[str, str]] = field(default_factory=list)


def read_forms(response: Any) -> list[Form]:
    """Return the forms of a page in their order."""
    reader = _FormReader()
    reader.feed(response.content.decode())
    return reader.forms


class _FormReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._inside = False
        self._textarea = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(given.get("action", ""), given.get("id", "")))
            self._inside = True
        elif self._inside and given.get("name"):
            self._take(tag, given, form=self.forms[-1])

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = False
        if tag == "textarea":
            self._textarea = ""

    def handle_data(self, data: str) -> None:
        if self._textarea:
            self.forms[-1].fields[self._textarea] += data.removeprefix("\n")

    def _take(self, tag: str, given: dict[str, str], *, form: Form) -> None:
        name, value = given["name"], given.get("value", "")
        if tag == "button":
            form.buttons.append((name, value))
        elif tag == "textarea":
            form.fields[name] = ""
            self._textarea = name
        elif given.get("type") == "radio":
            form.choices.setdefault(name, []).append(value)
            if "checked" in given:
                form.fields[name] = value
        else:
            form.fields[name] = value
