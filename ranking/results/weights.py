"""The ranking under weights of the dimensions, with examples of weights and their reasons."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from django.http import QueryDict
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from pydantic import Field

from annotation.models import Study
from annotation.studies.selectors import content_of
from completions.files.toml import Key, TomlPart, parse_toml
from ranking.choices import AnalysisKind
from ranking.downloads import tables as downloads_tables
from ranking.findings import Findings, Table
from ranking.fits import analysis_queries
from ranking.models import Fit
from ranking.report.questions import are_alike, named_analyses
from ranking.report.rendered.tables import shown_table
from ranking.report.rendered.values import RenderedTable
from ranking.results import pages

if TYPE_CHECKING:
    from ranking.analyses import joint_boards, weighing
else:
    # Pages of results do without the numerics, but for this one (ADR-0043).
    joint_boards, weighing = (
        SimpleLazyObject(lambda name=name: import_module(f"ranking.analyses.{name}"))
        for name in ("joint_boards", "weighing")
    )

SLUG = AnalysisKind.WEIGHTS.value.lower()
DIGITS = 6  # of a share in a download


@dataclass(frozen=True)
class Suggestion:
    """An example of weights, and where it leads."""

    name: str
    reason: str
    query: str
    is_current: bool


@dataclass(frozen=True)
class Weighed:
    """The ranking under some weights; ``shares`` are in per cent, by the dimensions' names."""

    tables: tuple[RenderedTable, ...]
    shares: tuple[tuple[str, float], ...]
    json: str
    is_exploratory: bool


def names_of_dimensions(study: Study, kept: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of the dimensions that can be weighed, by key."""
    rubric = content_of(study)["rubric"]["dimensions"]
    return {one["key"]: one["name"] for one in rubric if one["key"] in kept.get("dimensions", ())}


def suggestions(
    study: Study, dimensions: Mapping[str, str], shares: Mapping[str, float]
) -> tuple[Suggestion, ...]:
    """Return the examples for the study's rubric whose dimensions can all be weighed."""
    fitting = (
        one
        for one in examples_for(content_of(study)["rubric"]["name"])
        if {key for key, weight in one.weights.items() if weight} <= set(dimensions)
    )
    return tuple(
        Suggestion(
            one.name,
            one.reason,
            "?" + _query({key: one.weights.get(key, 0.0) for key in dimensions}),
            is_current=are_alike(shares, one.weights),
        )
        for one in fitting
    )


def weighed(page: pages.AnalysisPage, shares: Mapping[str, float]) -> Weighed:
    """Return the ranking under weights, for the reader of the page, from what was kept."""
    query = _query(shares)
    tables = weighing.in_two(_table(page.kept, shares))
    drawn = (replace(shown_table(one, page.names), has_figure=False) for one in tables)
    args = [page.study.slug, page.fit.key]
    csv, json = (reverse(f"ranking:weighed_{form}", args=args) for form in ("csv", "json"))
    names = names_of_dimensions(page.study, page.kept)
    return Weighed(
        tuple(
            pages.placed(one, f"{csv}?{query}", is_simulated=page.fit.is_simulated) for one in drawn
        ),
        tuple((names[key], 100.0 * share) for key, share in shares.items()),
        f"{json}?{query}",
        page.named.is_exploratory(AnalysisKind.WEIGHTS, shares),
    )


def found_of(fit: Fit) -> Findings | None:
    """Return what the analysis of this fit found, or None if it has not. One query."""
    shown = analysis_queries.analysis_of(fit, SLUG)
    return None if shown is None else shown.findings


def rows_of(fit: Fit, found: Findings, shares: Mapping[str, float]) -> downloads_tables.Rows:
    """Return a header and the ranking under weights, which stand in columns of their own."""
    weights = {f"weight_{key}": round(share, DIGITS) for key, share in shares.items()}
    terms = pages.terms_of(fit) | {"is_exploratory": _explores(fit, shares)} | weights
    return downloads_tables.finding_rows(_table(found.kept, shares), terms=terms)


def as_json(fit: Fit, found: Findings, shares: Mapping[str, float]) -> dict[str, Any]:
    """Return the ranking under weights as JSON, with these and the terms it holds on."""
    tables = (_table(found.kept, shares),)
    shown = Findings(found.method, tables, found.warnings, _explores(fit, shares))
    content = pages.as_json(shown, fit=fit, kind=SLUG)
    return content | {"weights": {key: round(share, DIGITS) for key, share in shares.items()}}


def _explores(fit: Fit, shares: Mapping[str, float]) -> bool:
    return named_analyses(fit.study).is_exploratory(AnalysisKind.WEIGHTS, shares)


def shares_named(page: pages.AnalysisPage) -> dict[str, float]:
    """Return the weights that the study's file named, if it did and they can be had."""
    weights = page.named.weights
    keys = page.kept["dimensions"]
    if not {key for key, weight in weights.items() if weight} <= set(keys):
        return {}
    total = sum(weights.values())
    return {key: weights.get(key, 0.0) / total for key in keys} if total else {}


def file_name(fit: Fit, shares: Mapping[str, float]) -> str:
    """Return the name of a download, which tells the weights."""
    told = "-".join(f"{key}{share:.4g}" for key, share in shares.items())
    return downloads_tables.name_of_fit_file(fit, f"{SLUG}-{told}")


def _table(kept: Mapping[str, Any], shares: Mapping[str, float]) -> Table:
    return weighing.weighed_boards(joint_boards.JointBoards.of(kept), shares)


def _query(weights: Mapping[str, float]) -> str:
    query = QueryDict(mutable=True)
    query.update({key: f"{weight:.6g}" for key, weight in weights.items()})
    return query.urlencode()


SHIPPED = Path(__file__).parent / "weight_examples.toml"
Weight = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]
Line = Annotated[str, Field(min_length=1, max_length=300)]


class ExamplesError(ValueError):
    """A file of examples cannot be used; the message names the field and the reason."""


class Example(TomlPart):
    """One set of weights for the dimensions of a rubric, by their keys."""

    rubric: Key
    slug: Key
    name: Annotated[str, Field(min_length=1, max_length=40)]
    reason: Line
    weights: Mapping[str, Weight]


class _Examples(TomlPart):
    examples: tuple[Example, ...]


def parse_examples(text: str, *, source: str) -> tuple[Example, ...]:
    """Read examples from TOML; ``source`` is named in errors.

    Raises
    ------
    ExamplesError
        If the text is not TOML, or a field is missing, unknown or out of range.
    """
    validate = _Examples.model_validate
    return parse_toml(text, source=source, validate=validate, error=ExamplesError).examples


@cache
def examples_for(rubric: str) -> tuple[Example, ...]:
    """Return the shipped examples for the rubric of that name, whatever its version."""
    text = SHIPPED.read_text(encoding="utf-8")
    return tuple(one for one in parse_examples(text, source=SHIPPED.name) if one.rubric == rubric)
