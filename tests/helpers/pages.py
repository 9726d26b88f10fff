"""Pages: what they say and lead to, what downloads hold, and where every one of the console is.

A new page of the console is found without being named. A part of its address that says what it is
of (study, dataset, code of a rater) is filled by a row; what is left is guessed, and such an
address may lead nowhere.
"""

import csv
import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.urls.converters import IntConverter, UUIDConverter

from annotation.models import Comparison, JudgeRun, Rater, Study
from completions.models import Candidate, Context, Message, Writer

DATA = re.compile(r'<script id="([\w-]+)-chart-data" type="application/json">(.*?)</script>')
EXECUTED = r'<script(?! src="| id="[\w-]+-chart-data" type="application/json">)'


def text(answer: Any) -> str:
    """Return what a page says, without its markup and line ends."""
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def addresses(answer: Any) -> set[str]:
    """Return every address that a page links to within the console's pages on contexts."""
    found = re.findall(r'href="(/console/contexts/[^"]*)"', answer.content.decode())
    return {address.replace("&amp;", "&") for address in found}


def own_addresses(answer: Any) -> list[str]:
    """Return what asks a page's own address, which answers nobody if it is that of an act."""
    asked = r'href="\?[^"]*"|<form (?=[^>]*method="get")(?![^>]*action=)[^>]*>'
    return re.findall(asked, answer.content.decode())


def charts(answer: Any) -> dict[str, Any]:
    """Return the parts of each chart of a page, by the key of its figure."""
    return {key: json.loads(parts) for key, parts in DATA.findall(answer.content.decode())}


def inline(answer: Any) -> list[str]:
    """Return what a page has inline that the security policy forbids; data are no script."""
    return re.findall(rf"{EXECUTED}|<style|\sstyle=|\son\w+=", answer.content.decode())


def rows_of(answer: Any) -> list[dict[str, str]]:
    """Return the rows of a table that is downloaded."""
    lines = b"".join(answer.streaming_content).decode().splitlines()
    return list(csv.DictReader(lines))


Part = str | int | None
ROOT = "console/"
GUESSES: Mapping[type, Part] = {IntConverter: 1, UUIDConverter: str(uuid.UUID(int=1))}
# How a part is filled where its name alone does not say of which table it is, by the beginning
# of the view's name.
ROWS: Mapping[tuple[str, str], Callable[[Study], Part]] = {
    ("raters:", "code"): lambda study: _first(Rater.objects.filter(study=study), "code"),
    ("contexts:", "key"): lambda study: _first(
        Context.objects.filter(dataset=study.dataset_id), "key"
    ),
    ("contexts:candidate", "pk"): lambda study: _first(
        Candidate.objects.filter(dialogue__dataset=study.dataset_id), "pk"
    ),
    ("writing:writer", "code"): lambda study: _first(
        Writer.objects.filter(dataset=study.dataset_id), "code"
    ),
    ("writing:message", "pk"): lambda study: _first(
        Message.objects.filter(lease__context__dataset=study.dataset_id), "pk"
    ),
    ("models:", "kind"): lambda _study: JudgeRun.kind,
    ("models:", "pk"): lambda study: _first(JudgeRun.objects.filter(study=study), "pk"),
    ("data:prepare", "kind"): lambda _study: "build",
    ("console:judged", "key"): lambda study: _first(
        Comparison.objects.filter(study=study).order_by("-pk"), "key"
    ),
}


@dataclass(frozen=True)
class ConsolePage:
    """One page: the name of its view, its address, and whether a part of that was guessed."""

    name: str
    address: str
    is_guessed: bool


def console_pages(study: Study) -> Iterator[ConsolePage]:
    """Yield every address under the console, as of the study and of its dataset."""
    for route, name, pattern in patterns(get_resolver().url_patterns):
        if route.startswith(ROOT):
            yield _page(name, pattern, study)


def _page(name: str, pattern: URLPattern, study: Study) -> ConsolePage:
    parts, is_guessed = dict[str, Part](pattern.default_args), False
    for part, converter in pattern.pattern.converters.items():
        found = _known(name, part, study)
        is_guessed |= found is None
        parts[part] = GUESSES.get(type(converter), "x") if found is None else found
    named = {part: parts[part] for part in pattern.pattern.converters}
    return ConsolePage(name, reverse(name, kwargs=named | pattern.default_args), is_guessed)


def _known(name: str, part: str, study: Study) -> Part:
    if part == "study":
        return study.slug
    if part == "dataset":
        return study.dataset.slug
    rows = (row for (view, known), row in ROWS.items() if part == known and name.startswith(view))
    row = next(rows, None)
    return None if row is None else row(study)


def _first(rows: Any, field: str) -> Part:
    found: Part = rows.values_list(field, flat=True).first()
    return found


def patterns(
    found: list[URLPattern | URLResolver], route: str = "", name: str = ""
) -> Iterator[tuple[str, str, URLPattern]]:
    """Yield each address of a configuration: its route, the name of its view, and the pattern."""
    for one in found:
        here = route + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from patterns(
                one.url_patterns, here, f"{name}{one.namespace}:" if one.namespace else name
            )
        elif one.name:
            yield here, name + one.name, one
