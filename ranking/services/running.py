"""Compute claimed fits and store what comes of them, once."""

import datetime as dt
from collections.abc import Callable

from django.db import transaction

from annotation.models import Study
from completions.models import System
from ranking import people
from ranking.choices import ContextSet, EvaluatorPool, FitState
from ranking.estimate import Estimate, EstimateRefusedError, estimate_ratings
from ranking.frames import Selection
from ranking.groups import GroupedJudgments
from ranking.method import Method
from ranking.models import DimensionRate, Fit, HumanRating, Rating
from ranking.numerics.strength import StrengthMode
from ranking.people import RatedPeople
from ranking.services.claiming import claim_changed_fits

Clock = Callable[[], dt.datetime]


def refit_study(*, study: Study, clock: Clock) -> list[Fit]:
    """Compute at once whatever ratings of the study are out of date, and return the fits."""
    claimed = claim_changed_fits(study=study, now=clock())
    for fit_id in claimed:
        run_fit(fit_id=fit_id, clock=clock)
    return list(Fit.objects.filter(pk__in=claimed).order_by("pk"))


def run_fit(*, fit_id: int, clock: Clock) -> bool:
    """Compute a claimed fit and store its ratings or its refusal; say whether this call did.

    Safe to run twice: a fit that has ended, or whose claim was dropped, is left alone. When the
    judgments as of the claim are no longer those that were claimed (a transaction came in late),
    the claim is given up, and the next tick claims what is there now.
    """
    fit = Fit.objects.select_related("study").filter(pk=fit_id, state=FitState.RUNNING).first()
    if fit is None:
        return False
    judgments = people.read_judgments(_selection(fit))
    if judgments.inputs_hash() != fit.inputs_hash:
        Fit.objects.filter(pk=fit_id, state=FitState.RUNNING).delete()
        return False
    try:
        estimate = estimate_ratings(judgments, _method(fit))
    except EstimateRefusedError as refusal:
        return _refuse(fit, refusal, now=clock())
    rated = people.rate_people(judgments, estimate, _method(fit))
    return _complete(fit, estimate, judgments, rated, now=clock())


def _selection(fit: Fit) -> Selection:
    return Selection(fit.study, EvaluatorPool(fit.pool), ContextSet(fit.context_set), fit.as_of)


def _method(fit: Fit) -> Method:
    return Method(**fit.method | {"strength": StrengthMode(fit.method["strength"])})


def _refuse(fit: Fit, refusal: EstimateRefusedError, *, now: dt.datetime) -> bool:
    """Store that the judgments do not determine the ratings, and why."""
    running = Fit.objects.filter(pk=fit.pk, state=FitState.RUNNING)
    diagnostics = fit.diagnostics | {"components": refusal.components}
    updated = running.update(
        state=FitState.REFUSED, refusal=str(refusal), diagnostics=diagnostics, ended_at=now
    )
    return updated == 1


@transaction.atomic
def _complete(
    fit: Fit,
    estimate: Estimate,
    judgments: GroupedJudgments,
    rated: RatedPeople,
    *,
    now: dt.datetime,
) -> bool:
    """Store the ratings, unless somebody else did."""
    running = Fit.objects.filter(pk=fit.pk, state=FitState.RUNNING)
    refused = {kind.value: reason for kind, reason in rated.refusals}
    diagnostics = fit.diagnostics | estimate.diagnostics | {"people_refused": refused}
    if not running.update(state=FitState.DONE, diagnostics=diagnostics, ended_at=now):
        return False
    systems = dict(System.objects.filter(slug__in=estimate.systems).values_list("slug", "pk"))
    ratings = Rating.objects.bulk_create(
        _rating(fit, estimate, index, systems[slug]) for index, slug in enumerate(estimate.systems)
    )
    stored = dict(zip(estimate.systems, ratings, strict=True))
    DimensionRate.objects.bulk_create(
        DimensionRate(
            rating=stored[mark.system],
            dimension=mark.dimension,
            wins=mark.wins,
            n_marks=mark.n_marks,
        )
        for mark in judgments.marks
    )
    HumanRating.objects.bulk_create(HumanRating(fit=fit, **vars(one)) for one in rated.ratings)
    return True


def _rating(fit: Fit, estimate: Estimate, index: int, system_id: int) -> Rating:
    won, lost, tied = (
        int(column[index])
        for column in (estimate.outcomes.wins, estimate.outcomes.losses, estimate.outcomes.ties)
    )
    return Rating(
        fit=fit,
        system_id=system_id,
        theta=float(estimate.theta[index]),
        elo=float(estimate.elo[index]),
        elo_se=float(estimate.elo_se[index]),
        elo_low=float(estimate.elo_low[index]),
        elo_high=float(estimate.elo_high[index]),
        rank=int(estimate.rank[index]),
        rank_low=int(estimate.rank_low[index]),
        rank_high=int(estimate.rank_high[index]),
        n_judgments=won + lost + tied,
        wins=won,
        losses=lost,
        ties=tied,
    )
