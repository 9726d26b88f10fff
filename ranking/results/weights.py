"""The ranking under weights of the dimensions: its page, downloads and form, with examples."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from django import forms
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from access.console.tables import csv_answer
from annotation.models import Study
from annotation.studies.queries import content_of
from completions.files.toml import Key, TomlPart, parse_toml
from ranking import downloads as downloads_tables
from ranking.choices import AnalysisKind
from ranking.findings import Findings, Table
from ranking.fits import analysis_queries
from ranking.fits.queries import Results
from ranking.models import Fit
from ranking.report.confirmatory import are_alike, named_analyses
from ranking.report.tables import shown_table
from ranking.results import pages
from ranking.results.http import fit_or_404, json_answer, or_404, results_page

if TYPE_CHECKING:
    from ranking.analyses import weights as weighing
else:
    # Pages of results do without the numerics, but for this one (ADR-0043).
    weighing = SimpleLazyObject(lambda: import_module("ranking.analyses.weights"))

SLUG = AnalysisKind.WEIGHTS.value.lower()
DIGITS = 6  # of a share in a download


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


def names_of_dimensions(study: Study, kept: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of the dimensions that can be weighed, by key."""
    rubric = content_of(study)["rubric"]["dimensions"]
    return {one["key"]: one["name"] for one in rubric if one["key"] in kept.get("dimensions", ())}


def suggestions(
    study: Study, dimensions: Mapping[str, str], shares: Mapping[str, float]
) -> list[tuple[Example, str, bool]]:
    """Return the examples for the study's rubric whose dimensions can all be weighed.

    Each comes with the query that leads to it, and with whether these are its shares.
    """
    return [
        (
            one,
            "?" + _query({key: one.weights.get(key, 0.0) for key in dimensions}),
            are_alike(shares, one.weights),
        )
        for one in examples_for(content_of(study)["rubric"]["name"])
        if {key for key, weight in one.weights.items() if weight} <= set(dimensions)
    ]


def weighed_parts(page: pages.AnalysisPage, shares: Mapping[str, float]) -> dict[str, object]:
    """Return the ranking under weights, for the reader of the page, from what was kept."""
    query = _query(shares)
    shown = (
        replace(shown_table(one, page.names), has_figure=False)
        for one in weighing.in_two(_table(page.kept, shares))
    )
    args = [page.fit.study.slug, page.fit.key]
    csv, json = (reverse(f"ranking:weighed_{form}", args=args) for form in ("csv", "json"))
    names = names_of_dimensions(page.fit.study, page.kept)
    is_exploratory = page.named.is_exploratory(AnalysisKind.WEIGHTS, shares)
    return {
        "page": replace(page, is_exploratory=is_exploratory),
        "tables": [
            pages.placed(one, f"{csv}?{query}", is_simulated=page.fit.is_simulated) for one in shown
        ],
        "shares": [(names[key], 100.0 * share) for key, share in shares.items()],
        "json": f"{json}?{query}",
    }


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
    return weighing.weighed_boards(weighing.JointBoards.of(kept), shares)


def _query(weights: Mapping[str, float]) -> str:
    query = QueryDict(mutable=True)
    query.update({key: f"{weight:.6g}" for key, weight in weights.items()})
    return query.urlencode()


LARGEST_WEIGHT = 1000


class Weights(forms.Form):
    """What each dimension weighs, as it stands in an address; one left empty weighs nothing.

    ``dimensions`` are the names of those that can be weighed, by key.
    """

    def __init__(
        self,
        data: QueryDict | None,
        *,
        dimensions: Mapping[str, str],
        initial: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(data, auto_id="weight-%s", initial=dict(initial or {}))
        for key, name in dimensions.items():
            self.fields[key] = _weight(name)

    def clean(self) -> dict[str, Any]:
        """Refuse names of no dimension, one that is named twice, and weights that are all 0."""
        cleaned = super().clean() or {}
        for name, values in cast("QueryDict", self.data).lists():
            if name not in self.fields:
                known = ", ".join(self.fields)
                text = gettext("No dimension here is called %(name)s. There are %(known)s.")
                self.add_error(None, text % {"name": name, "known": known})
            elif len(values) > 1:
                self.add_error(name, gettext("The address has this weight more than once."))
        if not self.errors and not any(cleaned.values()):
            self.add_error(None, gettext("One dimension at least needs a weight above 0."))
        return cleaned

    @property
    def shares(self) -> dict[str, float]:
        """Return the weights of a valid form, adding up to 1."""
        weights = {key: self.cleaned_data[key] or 0.0 for key in self.fields}
        total = sum(weights.values())
        return {key: weight / total for key, weight in weights.items()}


def _weight(name: str) -> forms.FloatField:
    return forms.FloatField(
        label=name,
        required=False,
        min_value=0,
        max_value=LARGEST_WEIGHT,
        initial=1,
        error_messages={
            "invalid": _("Please give a number, such as 2 or 0.5."),
            "min_value": _("A weight cannot be below 0."),
            "max_value": _("Please stay within 1000: only ratios matter."),
        },
    )


BAD_REQUEST = 400


@results_page
def weights(request: HttpRequest, results: Results, key: str) -> HttpResponse:
    """Show what the dimensions come to under the weights that the address names, if any."""
    fit = fit_or_404(results, key)
    page = pages.analysis_page(fit, SLUG, shows_people=results.is_team)
    page = or_404(page, f"there are no weighted dimensions of {key}")
    if not page.kept:
        parts = {"study": fit.study, "results": results, "page": page}
        return render(request, "ranking/analysis.html", parts)
    dimensions = names_of_dimensions(fit.study, page.kept)
    named = shares_named(page)
    form = Weights(request.GET or None, dimensions=dimensions, initial=named and page.named.weights)
    shares = form.shares if form.is_valid() else {} if form.is_bound else named
    parts = {
        "study": fit.study,
        "results": results,
        "page": page,
        "form": form,
        "named": named,
        "suggestions": suggestions(fit.study, dimensions, shares),
        **(weighed_parts(page, shares) if shares else {}),
    }
    status = BAD_REQUEST if form.errors else 200
    return render(request, "ranking/weights.html", parts, status=status)


@results_page
def weighed_csv(request: HttpRequest, results: Results, key: str) -> HttpResponseBase:
    """Download the ranking under the weights that the address names."""
    fit = fit_or_404(results, key)
    found, form = _asked(request, fit)
    if not form.is_valid():
        return _refused(form)
    return csv_answer(request, rows_of(fit, found, form.shares), file_name(fit, form.shares))


@results_page
def weighed_json(request: HttpRequest, results: Results, key: str) -> HttpResponseBase:
    """Download the ranking under the weights that the address names, with its terms."""
    fit = fit_or_404(results, key)
    found, form = _asked(request, fit)
    if not form.is_valid():
        return _refused(form)
    return json_answer(as_json(fit, found, form.shares), file_name(fit, form.shares))


def _asked(request: HttpRequest, fit: Fit) -> tuple[Findings, Weights]:
    """Return what the analysis of the fit found, and the weights of the address."""
    shown = analysis_queries.analysis_of(fit, SLUG)
    found = None if shown is None else shown.findings
    found = or_404(found, f"there are no weighted dimensions of {fit.key}")
    return found, Weights(request.GET, dimensions=names_of_dimensions(fit.study, found.kept))


def _refused(form: Weights) -> HttpResponse:
    """Say in words what is wrong with the weights of the address."""
    lines = [
        f"{form.fields[name].label}: {error}" if name in form.fields else str(error)
        for name, errors in form.errors.items()
        for error in errors
    ]
    content_type = "text/plain; charset=utf-8"
    return HttpResponse("\n".join(lines), status=BAD_REQUEST, content_type=content_type)
