"""The page and downloads of the ranking under weights, with the form of the weights."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from django import forms
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from access.console.tables import csv_answer
from ranking.findings import Findings
from ranking.fits.selectors import Results
from ranking.models import Fit
from ranking.plots.radar import ChosenRows
from ranking.results import pages
from ranking.results import weights as result_weights
from ranking.results.http import fit_or_404, json_answer, results_page

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
    page = pages.analysis_page(
        fit, result_weights.SLUG, shows_people=results.is_team, chosen=ChosenRows()
    )
    if page is None:
        msg = f"there are no weighted dimensions of {key}"
        raise Http404(msg)
    if not page.kept:
        parts = {"study": fit.study, "results": results, "page": page}
        return render(request, "ranking/analysis.html", parts)
    dimensions = result_weights.names_of_dimensions(fit.study, page.kept)
    named = result_weights.shares_named(page)
    form = Weights(request.GET or None, dimensions=dimensions, initial=named and page.named.weights)
    shares = form.shares if form.is_valid() else {} if form.is_bound else named
    weighed = result_weights.weighed(page, shares) if shares else None
    parts = {
        "study": fit.study,
        "results": results,
        "page": replace(page, is_exploratory=weighed.is_exploratory) if weighed else page,
        "form": form,
        "named": named,
        "suggestions": result_weights.suggestions(fit.study, dimensions, shares),
        "weighed": weighed,
    }
    status = BAD_REQUEST if form.errors else 200
    return render(request, "ranking/weights.html", parts, status=status)


@results_page
def weighed_csv(request: HttpRequest, results: Results, key: str) -> HttpResponseBase:
    """Download the ranking under the weights that the address names."""

    def answer(fit: Fit, found: Findings, shares: Mapping[str, float]) -> HttpResponseBase:
        rows = result_weights.rows_of(fit, found, shares)
        return csv_answer(request, rows, result_weights.file_name(fit, shares))

    return _download(request, fit_or_404(results, key), answer)


@results_page
def weighed_json(request: HttpRequest, results: Results, key: str) -> HttpResponseBase:
    """Download the ranking under the weights that the address names, with its terms."""

    def answer(fit: Fit, found: Findings, shares: Mapping[str, float]) -> HttpResponseBase:
        content = result_weights.as_json(fit, found, shares)
        return json_answer(content, result_weights.file_name(fit, shares))

    return _download(request, fit_or_404(results, key), answer)


def _download(
    request: HttpRequest,
    fit: Fit,
    answer: Callable[[Fit, Findings, Mapping[str, float]], HttpResponseBase],
) -> HttpResponseBase:
    """Answer with what the weights of the address come to, or say what is wrong with them."""
    found = result_weights.found_of(fit)
    if found is None:
        msg = f"there are no weighted dimensions of {fit.key}"
        raise Http404(msg)
    dimensions = result_weights.names_of_dimensions(fit.study, found.kept)
    form = Weights(request.GET, dimensions=dimensions)
    return answer(fit, found, form.shares) if form.is_valid() else _refused(form)


def _refused(form: Weights) -> HttpResponse:
    """Say in words what is wrong with the weights of the address."""
    lines = [
        f"{form.fields[name].label}: {error}" if name in form.fields else str(error)
        for name, errors in form.errors.items()
        for error in errors
    ]
    content_type = "text/plain; charset=utf-8"
    return HttpResponse("\n".join(lines), status=BAD_REQUEST, content_type=content_type)
