"""Compute claimed fits and store what comes of them, once."""

import datetime as dt
import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from access.choices import HookEvent
from access.nudges import SOON_S, Work, nudge
from access.webhooks.services.events import Event, announce
from annotation.models import Study
from completions.models import System
from ranking.choices import ContextSet, EvaluatorPool, FitState
from ranking.fits import people
from ranking.fits.estimate import Estimate, EstimateRefusedError, estimate_ratings
from ranking.fits.people import RatedPeople
from ranking.fits.services.claiming import claim_changed_fits
from ranking.judgments import frames
from ranking.judgments.frames import Selection
from ranking.judgments.groups import GroupedJudgments
from ranking.judgments.method import Method
from ranking.models import DimensionRate, Fit, HumanRating, Rating
from ranking.numerics.strength_mode import StrengthMode

Clock = Callable[[], dt.datetime]


@dataclass(frozen=True)
class _Found:
    """What came of a computation, and what it was made from."""

    judgments: GroupedJudgments
    estimate: Estimate
    people: RatedPeople


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
    the claim is given up, and what is there now is to be claimed.
    """
    fit = Fit.objects.select_related("study").filter(pk=fit_id, state=FitState.RUNNING).first()
    if fit is None:
        return False
    frames.keep_counts(study=fit.study, now=fit.as_of)
    judgments = frames.read_judgments(_selection(fit))
    if str(judgments.stamp) != fit.diagnostics["stamp"]:
        Fit.objects.filter(pk=fit_id, state=FitState.RUNNING).delete()
        nudge(Work.REFIT)
        return False
    facts = _facts(judgments, _selection(fit))
    try:
        estimate = estimate_ratings(judgments, _method(fit))
    except EstimateRefusedError as refusal:
        return _refuse(fit, facts, refusal, now=clock())
    rated = people.rate_people(judgments, estimate, _method(fit))
    return _complete(fit, facts, _Found(judgments, estimate, rated), now=clock())


def _selection(fit: Fit) -> Selection:
    return Selection(fit.study, EvaluatorPool(fit.pool), ContextSet(fit.context_set), fit.as_of)


def _method(fit: Fit) -> Method:
    return Method(**fit.method | {"strength": StrengthMode(fit.method["strength"])})


def _facts(judgments: GroupedJudgments, selection: Selection) -> dict[str, Any]:
    """Return what the fit rests on, whatever comes of it."""
    evaluators = frames.read_evaluators(selection)
    systems = System.objects.filter(slug__in=judgments.systems, is_simulated=True)
    return {
        "inputs_hash": judgments.inputs_hash(),
        "n_units": len(judgments.dialogues),
        "is_simulated": evaluators.has_simulated
        or judgments.has_simulated_context
        or systems.exists(),
        "diagnostics": {
            "stamp": str(judgments.stamp),
            "n_raters": evaluators.n_raters,
            "judges": list(evaluators.judges),
            "has_simulated_evaluators": evaluators.has_simulated,
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
def _complete(fit: Fit, facts: dict[str, Any], found: _Found, *, now: dt.datetime) -> bool:
    """Store the ratings, unless somebody else did."""
    estimate = found.estimate
    refused = {kind.value: reason for kind, reason in found.people.refusals}
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
        for mark in found.judgments.marks
    )
    HumanRating.objects.bulk_create(
        HumanRating(fit=fit, **vars(one)) for one in found.people.ratings
    )
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
