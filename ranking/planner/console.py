"""The console's pages on how many judgments a study needs, or a draft would come to."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.db.models import Avg
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from access.console.tables import csv_answer
from access.roles import StaffRequest
from annotation.choices import Protocol
from annotation.models import Study
from annotation.session.blinded import ComparisonPage, StudyPage
from annotation.session.forms import FORMS
from annotation.studies import pace
from annotation.studies.http import managers_page, study_or_404, study_page
from annotation.studies.queries import DEFAULT_SECONDS, study_file_name
from annotation.studies.rubric import RubricError, load_rubric
from annotation.studies.services.drafts import fields_of
from annotation.study_form.console import form_over_study, form_over_template
from annotation.study_form.forms import StudyForm
from completions.models import Context, Dataset
from ranking.choices import EvaluatorPool
from ranking.models import Measurement
from ranking.planner import queries

if TYPE_CHECKING:
    from ranking.numerics.planning.needs import Wish
    from ranking.planner.plans import FirstPlan, Rates, StudyPlan

POOLS = {"people": EvaluatorPool.HUMAN, "judges": EvaluatorPool.LLM}
POWER, CORRELATION = 0.8, 0.2
SECONDS_AN_HOUR = 3600.0
FEWEST_SYSTEMS = 2
DEFAULTS = {
    "pool": "people",
    "elo": 20.0,
    "power": POWER,
    "level": 0.05,
    "together": "each",
    "pay": None,
    "price": None,
    "rho": CORRELATION,
}


class Question(forms.Form):
    """How small a difference is to be found, how surely, and what a judgment costs."""

    pool = forms.ChoiceField(
        label=_("Judged by"),
        choices=(("people", _("people")), ("judges", _("LLM judges"))),
        required=False,
    )
    elo = forms.FloatField(
        label=_("Difference of neighbours, Elo"), min_value=0.1, max_value=1000, required=False
    )
    power = forms.FloatField(label=_("Power"), min_value=0.5, max_value=0.999, required=False)
    level = forms.FloatField(
        label=_("Level (false findings)"), min_value=0.0001, max_value=0.2, required=False
    )
    together = forms.ChoiceField(
        label=_("The level holds for"),
        choices=(("each", _("each pair by itself")), ("all", _("all pairs together"))),
        required=False,
    )
    pay = forms.FloatField(
        label=_("Pay of people per hour"), min_value=0, max_value=100_000, required=False
    )
    price = forms.FloatField(
        label=_("or price of a judgment"), min_value=0, max_value=100_000, required=False
    )
    rho = forms.FloatField(
        label=_("Correlation of judgments of one pair"), min_value=0, max_value=1, required=False
    )

    def clean(self) -> dict[str, Any]:
        """Fill in what is left out from `DEFAULTS`."""
        super().clean()
        given = {key: value for key, value in self.cleaned_data.items() if value not in (None, "")}
        return {**DEFAULTS, **given}

    @property
    def evaluators(self) -> EvaluatorPool:
        """Return whose judgments are meant."""
        return POOLS[self.cleaned_data["pool"]]

    @property
    def is_judges(self) -> bool:
        """Say whether judgments of judges are meant."""
        return self.evaluators == EvaluatorPool.LLM

    @property
    def wish(self) -> "Wish":
        """Return what is wanted, in natural-log units."""
        from ranking.numerics.elo import ELO_PER_LOG_UNIT  # noqa: PLC0415 (loads NumPy)
        from ranking.numerics.planning.needs import Wish  # noqa: PLC0415 (as above)

        asked = self.cleaned_data
        return Wish(
            difference=asked["elo"] / ELO_PER_LOG_UNIT,
            power=asked["power"],
            level=1.0 - asked["level"],
            is_joint=asked["together"] == "all",
        )

    def rates(self, study: Study) -> "Rates":
        """Return what a judgment takes: as priced, or as measured in the study; two queries."""
        from ranking.planner.plans import Rates  # noqa: PLC0415 (loads NumPy)

        measured = queries.measured_costs(study)
        price, pay = self.cleaned_data["price"], self.cleaned_data["pay"]
        seconds = measured["seconds"]
        if self.is_judges:
            return Rates(price=measured["call_usd"] if price is None else price)
        if price is None and pay is not None and seconds is not None:
            price = pay * seconds / SECONDS_AN_HOUR
        return Rates(price, seconds, measured["per_person"])

    def first_plan(self, study: Study, rates: "Rates") -> "FirstPlan | None":
        """Return the closed form for a study without an analysis; None without systems to rank."""
        from ranking.planner.plans import first_plan  # noqa: PLC0415 (loads NumPy and SciPy)

        n_systems = queries.n_systems_of(study)
        if n_systems < FEWEST_SYSTEMS:
            return None
        return first_plan(
            self.wish,
            rates,
            n_systems=n_systems,
            n_pairs=queries.judged_per_context(study, n_systems),
            per_pair=study.judgments_per_pair,
            correlation=self.cleaned_data["rho"],
        )


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
    pilot = queries.pilot_of(study, form.evaluators)
    rates = form.rates(study)
    parts |= {"asked": form.cleaned_data, "pilot": pilot}
    parts |= {"rates": rates, "is_judges": form.is_judges}
    if pilot is None:
        parts["first"] = form.first_plan(study, rates)
        parts["is_rated"] = queries.newest_fit(study, form.evaluators) is not None
    else:
        plan = plan_of(pilot.result["kept"], form.wish, rates)
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
    pilot = queries.pilot_of(study, form.evaluators)
    kept = queries.BEFORE_DATA if pilot is None else pilot.result["kept"]
    plan = plan_of(kept, form.wish, form.rates(study))
    return csv_answer(request, plan.rows(), study_file_name(study, "planner"))


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


class Pay(forms.Form):
    """What an hour of a rater is paid: asked beside the form and stored nowhere."""

    pay = forms.FloatField(
        label=_("Pay per hour"), min_value=0, max_value=100_000, required=False, localize=False
    )


def draft_figures(study: Study) -> dict[str, Any]:
    """Count what a study would come to on its dataset as it is, in three queries.

    It need not be stored. ``n_judged`` are pairs, or messages where each is rated alone.
    ``seconds`` are those of one judgment: the mean of the medians of other studies with that
    protocol, or, where none ``is_measured``, an assumption; ``hours`` are those of all.
    ``difference`` is the least one of neighbours, in Elo points, that is found with ``power``;
    None where nothing is ranked.
    """
    n_contexts = Context.objects.in_use().filter(dataset=study.dataset_id).count()
    n_systems = queries.n_systems_of(study)
    n_judged = n_contexts * queries.judged_per_context(study, n_systems)
    n_judgments = n_judged * study.judgments_per_pair
    measured = Measurement.objects.filter(
        study__protocol=study.protocol, study__is_simulated=False
    ).aggregate(mean=Avg("median_seconds"))["mean"]
    checks, seconds = study.content["checks"], measured or DEFAULT_SECONDS
    return {
        "n_contexts": n_contexts,
        "n_systems": n_systems,
        "n_judged": n_judged,
        "n_judgments": n_judgments,
        "n_raters": pace.raters_needed(
            n_judgments=n_judgments,
            session_length=study.session_length,
            planted=checks["rate"] + checks["repeat_rate"],
            per_pair=study.judgments_per_pair,
        ),
        "seconds": seconds,
        "is_measured": measured is not None,
        "hours": n_judgments * seconds / SECONDS_AN_HOUR,
        "difference": _difference(study, n_systems, n_judgments),
        "power": POWER,
    }


def _difference(study: Study, n_systems: int, n_judgments: int) -> float | None:
    from ranking.numerics.elo import ELO_PER_LOG_UNIT  # noqa: PLC0415 (loads NumPy, see ADR-0043)
    from ranking.numerics.planning.design import (  # noqa: PLC0415 (as above)
        design_effect_of_ranking,
    )
    from ranking.numerics.planning.needs import detectable_difference  # noqa: PLC0415 (as above)

    if study.protocol == Protocol.LIKERT or n_systems < FEWEST_SYSTEMS or not n_judgments:
        return None
    n_pairs = queries.judged_per_context(study, n_systems)
    effect = design_effect_of_ranking(n_systems, n_pairs, study.judgments_per_pair, CORRELATION)
    return ELO_PER_LOG_UNIT * detectable_difference(n_systems, n_judgments / effect, power=POWER)


@require_POST
@managers_page
def beside_template(request: StaffRequest, template: str) -> HttpResponse:
    """Show what the form over a template would make."""
    return _beside(request, form_over_template(request, template))


@require_POST
@managers_page
def beside_study(request: StaffRequest, study: str) -> HttpResponse:
    """Show what the form over a draft, or over a new version, would make."""
    return _beside(request, form_over_study(request, study_or_404(study)))


def _beside(request: StaffRequest, form: StudyForm) -> HttpResponse:
    """Show figures and the page of a rater; nothing is stored."""
    pay = Pay(request.POST)
    form.is_valid()
    study = _unstored(form)
    parts: dict[str, object] = {"form": form, "pay": pay}
    if study is not None:
        page, practice = StudyPage.from_study(study), ComparisonPage.of_practice(study)
        parts |= {
            "study": page,
            "comparison": practice,
            "is_pair": bool(practice.message_b),
            "answer": FORMS[page.protocol](study=page, is_practice=True),
        }
        if study.dataset_id is not None:
            figures = draft_figures(study)
            parts |= {"figures": figures, "cost": _cost(figures["hours"], pay)}
    return render(request, "console/new/_beside.html", parts)


def _unstored(form: StudyForm) -> Study | None:
    """Return the study that the form describes, or None while it describes none."""
    if form.protocol is None:
        return None
    try:
        rubric = load_rubric(form.protocol.rubric)
    except RubricError:
        return None
    dataset: Dataset | None = form.cleaned_data.get("dataset")
    return Study(dataset=dataset, **fields_of(form.protocol, rubric))


def _cost(hours: float, pay: Pay) -> float | None:
    wage = pay.cleaned_data.get("pay") if pay.is_valid() else None
    return None if wage is None else hours * wage
