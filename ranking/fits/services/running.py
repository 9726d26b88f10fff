"""Compute claimed fits and store what comes of them, once."""

import datetime as dt
import hashlib
import math
from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from django.db import transaction

from access.choices import HookEvent
from access.nudges import SOON_S, Work, nudge
from access.webhooks.services import Event, announce
from annotation.choices import PlanKind, Purpose, StudyState
from annotation.models import Study
from annotation.planning import services as annotation
from annotation.planning.services import PairWeights
from completions.models import System
from completions.runs.services.exclusive import alone
from ranking.choices import ContextSet, EvaluatorPool, FitState
from ranking.fits import queries
from ranking.fits.estimate import Estimate, EstimateRefusedError, estimate_ratings
from ranking.fits.people import RatedPeople, rate_people
from ranking.fits.services.claiming import claim_changed_fits, selection_of, work_of
from ranking.judgments.analysis_set import Selection
from ranking.judgments.frames.columns import read_evaluators, read_judgments
from ranking.judgments.frames.groups import read_verdicts
from ranking.judgments.frames.keeping import keep_counts
from ranking.judgments.groups import GroupedJudgments, MarkGroup
from ranking.judgments.method import Method
from ranking.models import DimensionRate, Fit, HumanRating, Rating
from ranking.numerics.arrays import Floats
from ranking.numerics.information import expected_reduction, sampling_weights, strength_covariance

Clock = Callable[[], dt.datetime]
FEWEST_SYSTEMS = 2


def refit_study(*, study: Study, clock: Clock) -> list[Fit]:
    """Compute at once whatever ratings of the study are out of date, and return the fits."""
    claimed = claim_changed_fits(study=study, now=clock())
    for fit_id in claimed:
        run_fit(fit_id=fit_id, clock=clock)
    return list(Fit.objects.filter(pk__in=claimed).order_by("pk"))


def run_fit(*, fit_id: int, clock: Clock) -> bool:
    """Compute a claimed fit and store its ratings or its refusal; say whether this call did.

    Safe to run twice: a fit that has ended, whose claim was dropped, or that another process
    computes, is left alone. When the judgments as of the claim are no longer those that were
    claimed (a transaction came in late), the claim is given up, and what is there now is to be
    claimed.
    """
    return alone(work_of(fit_id), partial(_run, fit_id, clock))


def _run(fit_id: int, clock: Clock) -> bool:
    fit = Fit.objects.select_related("study").filter(pk=fit_id, state=FitState.RUNNING).first()
    if fit is None:
        return False
    keep_counts(study=fit.study, now=fit.as_of)
    judgments = read_judgments(selection_of(fit))
    if str(judgments.stamp) != fit.diagnostics["stamp"]:
        Fit.objects.filter(pk=fit_id, state=FitState.RUNNING).delete()
        nudge(Work.REFIT)
        return False
    facts = _facts(judgments, selection_of(fit))
    method = Method.of(fit.method)
    try:
        estimate = estimate_ratings(judgments, method)
    except EstimateRefusedError as refusal:
        return _refuse(fit, facts, refusal, now=clock())
    rated = rate_people(judgments, estimate, method)
    return _complete(fit, facts, estimate, rated, judgments.marks, now=clock())


def _facts(judgments: GroupedJudgments, selection: Selection) -> dict[str, Any]:
    """Return what the fit rests on, whatever comes of it."""
    evaluators = read_evaluators(selection)
    systems = System.objects.filter(slug__in=judgments.systems, is_simulated=True)
    return {
        "inputs_hash": judgments.inputs_hash(),
        "n_units": len(judgments.dialogues),
        "is_simulated": evaluators["has_simulated_evaluators"]
        or judgments.has_simulated_context
        or systems.exists(),
        "diagnostics": {
            "stamp": str(judgments.stamp),
            **evaluators,
            "has_simulated_contexts": judgments.has_simulated_context,
        },
    }


def _end(fit: Fit, facts: dict[str, Any], ending: dict[str, Any]) -> bool:
    """Store how the fit ended, unless somebody else did; say whether this call did."""
    running = Fit.objects.filter(pk=fit.pk, state=FitState.RUNNING)
    known = facts["diagnostics"] | ending["diagnostics"]
    has_ended = running.update(**(facts | ending | {"diagnostics": known})) == 1
    if has_ended:
        nudge(Work.ANALYSE, within_s=SOON_S)  # once for all the fits of a look
    return has_ended


@transaction.atomic
def _refuse(
    fit: Fit, facts: dict[str, Any], refusal: EstimateRefusedError, *, now: dt.datetime
) -> bool:
    """Store that the judgments do not determine the ratings, and why."""
    diagnostics = {"components": refusal.components, "joining": refusal.joining}
    ending = {"state": FitState.REFUSED, "refusal": str(refusal), "ended_at": now}
    is_refused = _end(fit, facts, ending | {"diagnostics": diagnostics})
    if is_refused:
        _announce_refusal(fit, str(refusal), now=now)
    return is_refused


def _announce_refusal(fit: Fit, refusal: str, *, now: dt.datetime) -> None:
    """Tell webhooks, once for each reason: the next judgments are mostly refused for the same."""
    which = {"study": fit.study.slug, "judges": fit.pool, "contexts": fit.context_set}
    reason = hashlib.sha256(refusal.encode()).hexdigest()[:16]
    key = "/".join(("fit.refused", *which.values(), reason))
    announce(Event(HookEvent.ALERT, key, {"alert": "fit.refused", **which}), now=now)


@transaction.atomic
def _complete(
    fit: Fit,
    facts: dict[str, Any],
    estimate: Estimate,
    people: RatedPeople,
    marks: Iterable[MarkGroup],
    *,
    now: dt.datetime,
) -> bool:
    """Store the ratings, unless somebody else did."""
    refused = {kind.value: reason for kind, reason in people.refusals}
    diagnostics = estimate.diagnostics | {"people_refused": refused}
    ending = {"state": FitState.DONE, "diagnostics": diagnostics, "ended_at": now}
    if not _end(fit, facts, ending):
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
        for mark in marks
    )
    HumanRating.objects.bulk_create(HumanRating(fit=fit, **vars(one)) for one in people.ratings)
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
        joint_low=float(estimate.joint_low[index]),
        joint_high=float(estimate.joint_high[index]),
        tier=int(estimate.tier[index]),
        sandwich_se=_finite(estimate.sandwich_se[index]),
        n_judgments=won + lost + tied,
        wins=won,
        losses=lost,
        ties=tied,
    )


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def fit_and_adapt(*, fit_id: int, clock: Clock) -> bool:
    """Compute a claimed fit, and weigh the open pairs of an adaptive study by what it tells.

    Safe to run twice, as `run_fit` is. Only the fit of people's judgments on all contexts moves
    the plan: it is people who are asked.
    """
    is_done = run_fit(fit_id=fit_id, clock=clock)
    fit = Fit.objects.select_related("study").filter(
        pk=fit_id, pool=EvaluatorPool.HUMAN, context_set=ContextSet.ALL
    )
    if is_done and (found := fit.first()) is not None:
        adapt_plan(study=found.study, now=clock())
    return is_done


def adapt_plan(*, study: Study, now: dt.datetime) -> int:
    """Weigh the open comparisons of an adaptive study anew; return how many changed.

    A pair of systems weighs what one more judgment on it would take from the variance of all
    differences between systems, given the newest strengths and the judgments there are; systems
    without a strength yet stand at 0, under a wide prior. Studies that are balanced or closed
    are left alone.
    """
    if study.plan != PlanKind.ADAPTIVE or study.state == StudyState.CLOSED:
        return 0
    return annotation.weigh_comparisons(study=study, weights=_weights(study, now=now))


def _weights(study: Study, *, now: dt.datetime) -> PairWeights:
    pairs = study.comparisons.filter(purpose=Purpose.MAIN, second__isnull=False)
    slugs = pairs.values_list("first__system__slug", "second__system__slug").distinct()
    systems = sorted({slug for pair in slugs for slug in pair})
    if len(systems) < FEWEST_SYSTEMS:
        return {}
    judged = read_verdicts(Selection(study, EvaluatorPool.HUMAN, ContextSet.ALL, now))
    theta = _strengths(study, systems)
    reduction = expected_reduction(theta, strength_covariance(theta, _counts(judged, systems)))
    places = list(combinations(range(len(systems)), 2))
    weights = sampling_weights(np.array([reduction[place] for place in places]))
    return {
        frozenset((systems[i], systems[j])): float(weight)
        for (i, j), weight in zip(places, weights, strict=True)
    }


def _strengths(study: Study, systems: list[str]) -> Floats:
    fit = queries.latest_fit(study=study, pool=EvaluatorPool.HUMAN, context_set=ContextSet.ALL)
    known: dict[str, float] = {}
    if fit is not None and fit.state == FitState.DONE:
        known = dict(fit.ratings.values_list("system__slug", "theta"))
    return np.array([known.get(slug, 0.0) for slug in systems])


def _counts(judged: GroupedJudgments, systems: list[str]) -> Floats:
    """Return how many judgments there are of each pair of the systems, in a symmetric matrix."""
    place = {slug: index for index, slug in enumerate(systems)}
    places = np.array([place[slug] for slug in judged.systems], dtype=np.int64)
    counts = np.zeros((len(systems), len(systems)))
    first, second = places[judged.counts.first], places[judged.counts.second]
    np.add.at(counts, (first, second), judged.counts.n)
    return counts + counts.T
