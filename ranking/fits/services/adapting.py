"""Let an adaptive plan ask first for what would tell most about the strengths (ADR-0027)."""

import datetime as dt
from collections.abc import Callable
from itertools import combinations

import numpy as np

from annotation.choices import PlanKind, Purpose, StudyState
from annotation.models import Study
from annotation.planning import services as annotation
from annotation.planning.services import PairWeights
from ranking.choices import ContextSet, EvaluatorPool, FitState
from ranking.fits import selectors
from ranking.fits.services.running import run_fit
from ranking.judgments import frames
from ranking.judgments.frames import Selection
from ranking.judgments.groups import GroupedJudgments
from ranking.models import Fit
from ranking.numerics.arrays import Floats
from ranking.numerics.information import expected_reduction, sampling_weights, strength_covariance

Clock = Callable[[], dt.datetime]
FEWEST_SYSTEMS = 2


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
    judged = frames.read_verdicts(Selection(study, EvaluatorPool.HUMAN, ContextSet.ALL, now))
    theta = _strengths(study, systems)
    reduction = expected_reduction(theta, strength_covariance(theta, _counts(judged, systems)))
    places = list(combinations(range(len(systems)), 2))
    weights = sampling_weights(np.array([reduction[place] for place in places]))
    return {
        frozenset((systems[i], systems[j])): float(weight)
        for (i, j), weight in zip(places, weights, strict=True)
    }


def _strengths(study: Study, systems: list[str]) -> Floats:
    fit = selectors.latest_fit(study=study, pool=EvaluatorPool.HUMAN, context_set=ContextSet.ALL)
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
