"""The console's page that says how many more judgments a study needs, and what they cost."""

from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from access.console.tables import csv_answer
from access.roles import StaffRequest
from annotation.choices import Protocol
from annotation.models import Study
from annotation.studies.http import study_page
from ranking.planner import queries
from ranking.planner.forms import DEFAULTS, Asked, Question

if TYPE_CHECKING:
    from ranking.planner.plans import FirstPlan, StudyPlan

FEWEST_SYSTEMS = 2


@require_safe
@study_page
def planner(request: StaffRequest, study: Study) -> HttpResponse:
    """Show what it takes to tell neighbours apart, given the judgments so far."""
    from ranking.planner.plans import plan_of  # noqa: PLC0415 (loads NumPy and SciPy, see ADR-0043)

    form = Question({**DEFAULTS, **request.GET.dict()})
    is_alone = study.protocol == Protocol.LIKERT
    parts = {"study": study, "form": form, "is_alone": is_alone, "query": request.GET.urlencode()}
    if is_alone or not form.is_valid():
        return render(
            request, "console/planner/planner.html", parts, status=200 if is_alone else 422
        )
    asked = form.asked()
    pilot = queries.pilot_of(study, asked.evaluators)
    measured = queries.measured(study)
    parts |= {"asked": asked, "pilot": pilot, "measured": measured}
    parts |= {"rates": asked.rates(measured), "is_judges": asked.pool == "judges"}
    if pilot is None:
        parts |= _before(study, asked, measured)
    else:
        plan = plan_of(pilot.kept, asked.wish, asked.rates(measured))
        parts |= {"plan": plan, "rows": _named(plan)}
    return render(request, "console/planner/planner.html", parts)


@require_safe
@study_page
def planner_csv(request: StaffRequest, study: Study) -> HttpResponseBase:
    """Download the table of neighbours; only its header before there are judgments."""
    from ranking.planner.plans import plan_of  # noqa: PLC0415 (as above)

    form = Question({**DEFAULTS, **request.GET.dict()})
    if study.protocol == Protocol.LIKERT or not form.is_valid():
        return HttpResponse("", status=422, content_type="text/csv; charset=utf-8")
    asked = form.asked()
    pilot = queries.pilot_of(study, asked.evaluators)
    kept = {"n_judgments": 0, "n_comparisons": 0, "n_evaluators": 0, "n_systems": 0}
    found = pilot.kept if pilot is not None else {**kept, "neighbours": []}
    rates = asked.rates(queries.measured(study))
    return csv_answer(request, plan_of(found, asked.wish, rates).rows(), f"{study.slug}-planner")


def _before(
    study: Study, asked: Asked, measured: queries.Measured
) -> "dict[str, FirstPlan | bool | None]":
    """Return the closed form for a study without an analysis, where it has systems to rank."""
    from ranking.planner.plans import first_plan  # noqa: PLC0415 (as above)

    layout = queries.layout_of(study)
    is_rated = queries.newest_fit(study, asked.evaluators) is not None
    if layout.n_systems < FEWEST_SYSTEMS:
        return {"first": None, "is_rated": is_rated}
    first = first_plan(layout, asked.wish, asked.rates(measured), correlation=asked.rho)
    return {"first": first, "is_rated": is_rated}


def _named(plan: "StudyPlan") -> list[dict[str, object]]:
    slugs = {slug for pair in plan.pairs for slug in (pair.first, pair.second)}
    names = queries.names_of(slugs)
    return [
        {
            "pair": pair,
            "first": names.get(pair.first, pair.first),
            "second": names.get(pair.second, pair.second),
        }
        for pair in plan.pairs
    ]
