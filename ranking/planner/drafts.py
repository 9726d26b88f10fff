"""What stands beside the form of a study: what it comes to, and what its raters would see."""

import math
from dataclasses import dataclass

from django import forms
from django.db.models import Avg
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from access.roles import StaffRequest
from annotation.choices import Protocol
from annotation.models import Study
from annotation.planning.queries import texts_of
from annotation.session.blinded import PracticePage, StudyPage
from annotation.session.forms import answer_form
from annotation.studies import pace
from annotation.studies.http import managers_page, study_or_404
from annotation.studies.rubric import RubricError, load_rubric
from annotation.studies.selectors import DEFAULT_SECONDS
from annotation.studies.services.drafts import fields_of
from annotation.study_form.console import form_over_study, form_over_template
from annotation.study_form.forms import StudyForm
from completions.models import Context, Dataset
from ranking.models import Measurement
from ranking.planner.console import CORRELATION, FEWEST_SYSTEMS, POWER

SECONDS_AN_HOUR = 3600.0


class Pay(forms.Form):
    """What an hour of a rater is paid: asked beside the form and stored nowhere."""

    pay = forms.FloatField(
        label=_("Pay per hour"), min_value=0, max_value=100_000, required=False, localize=False
    )


@dataclass(frozen=True)
class DraftFigures:
    """What a study would come to on its dataset as it is.

    ``n_judged`` are pairs, or messages where each is rated alone. ``seconds`` are those of one
    judgment: the mean of the medians of other studies with that protocol, or, where none
    ``is_measured``, an assumption. ``difference`` is the least one of neighbours, in Elo points,
    that is found with ``power``; None where nothing is ranked.
    """

    n_contexts: int
    n_systems: int
    n_judged: int
    n_judgments: int
    n_raters: int
    seconds: float
    is_measured: bool
    difference: float | None
    power: float = POWER

    @property
    def hours(self) -> float:
        """Return how long all judgments take together."""
        return self.n_judgments * self.seconds / SECONDS_AN_HOUR

    @classmethod
    def of(cls, study: Study) -> "DraftFigures":
        """Count what the study would ask for, in three queries; it need not be stored."""
        n_contexts = Context.objects.in_use().filter(dataset=study.dataset_id).count()
        n_systems = texts_of(study).order_by().values("system").distinct().count()
        n_judged = n_contexts * _per_context(study, n_systems)
        n_judgments = n_judged * study.judgments_per_pair
        measured = Measurement.objects.filter(
            study__protocol=study.protocol, study__is_simulated=False
        ).aggregate(mean=Avg("median_seconds"))["mean"]
        checks = study.content["checks"]
        return cls(
            n_contexts=n_contexts,
            n_systems=n_systems,
            n_judged=n_judged,
            n_judgments=n_judgments,
            n_raters=pace.raters_needed(
                n_judgments=n_judgments,
                session_length=study.session_length,
                planted=checks["rate"] + checks["repeat_rate"],
                per_pair=study.judgments_per_pair,
            ),
            seconds=measured or DEFAULT_SECONDS,
            is_measured=measured is not None,
            difference=_difference(study, n_systems, n_judgments),
        )


def _per_context(study: Study, n_systems: int) -> int:
    if study.protocol == Protocol.LIKERT:
        return n_systems
    n_pairs = math.comb(n_systems, 2)
    return min(study.pairs_per_context or n_pairs, n_pairs)


def _difference(study: Study, n_systems: int, n_judgments: int) -> float | None:
    from ranking.numerics.elo import ELO_PER_LOG_UNIT  # noqa: PLC0415 (loads NumPy, see ADR-0043)
    from ranking.numerics.planning.design import design_effect  # noqa: PLC0415 (as above)
    from ranking.numerics.planning.needs import detectable_difference  # noqa: PLC0415 (as above)

    if study.protocol == Protocol.LIKERT or n_systems < FEWEST_SYSTEMS or not n_judgments:
        return None
    effect = design_effect(study.judgments_per_pair, CORRELATION)
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
        page, practice = StudyPage.from_study(study), PracticePage.of_study(study)
        parts |= {
            "study": page,
            "comparison": practice.comparison,
            "is_pair": bool(practice.comparison.message_b),
            "answer": answer_form(study=page, is_practice=True),
        }
        if study.dataset_id is not None:
            figures = DraftFigures.of(study)
            parts |= {"figures": figures, "cost": _cost(figures, pay)}
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


def _cost(figures: DraftFigures, pay: Pay) -> float | None:
    wage = pay.cleaned_data.get("pay") if pay.is_valid() else None
    return None if wage is None else figures.hours * wage
