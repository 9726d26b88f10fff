"""Reads of the sample-size planner: what was found of a study's error, and what judgments cost."""

import math
from collections.abc import Mapping
from typing import Any

from django.db.models import Avg, Count, Q

from annotation.choices import Protocol
from annotation.models import JudgeCall, Study
from annotation.planning.queries import texts_of
from completions.choices import CallState
from completions.models import System
from ranking.choices import AnalysisKind, ContextSet, EvaluatorPool, FitState
from ranking.models import Analysis, Fit, Measurement

NEWEST_CALLS = 5_000
BEFORE_DATA: Mapping[str, Any] = {"n_judgments": 0, "n_comparisons": 0, "neighbours": []}
"""What a study without an analysis has kept for plans."""


def pilot_of(study: Study, pool: EvaluatorPool) -> Analysis | None:
    """Return the newest analysis of planning that kept what plans rest on, with its fit, or None.

    One query.
    """
    rows = Analysis.objects.filter(
        fit__study=study,
        fit__pool=pool,
        fit__context_set=ContextSet.ALL,
        kind=AnalysisKind.PLANNING,
        state=FitState.DONE,
        result__has_key="kept",
    )
    return rows.select_related("fit").order_by("-fit__as_of", "-pk").first()


def newest_fit(study: Study, pool: EvaluatorPool) -> Fit | None:
    """Return the newest fit that an analysis of planning can rest on, or None."""
    fits = Fit.objects.filter(study=study, pool=pool, context_set=ContextSet.ALL)
    return fits.filter(state=FitState.DONE).order_by("-as_of", "-pk").first()


def measured_costs(study: Study) -> dict[str, float | None]:
    """Return what a judgment took in this study so far, None where nobody knows; two queries.

    ``seconds`` is the median over people's answers, ``per_person`` the mean number of answers,
    ``call_usd`` the mean cost of the newest calls of judges.
    """
    kept = (
        Measurement.objects.filter(study=study)
        .annotate(n_people=Count("figures", filter=Q(figures__n_answers__gt=0)))
        .first()
    )
    calls = JudgeCall.objects.filter(
        comparison__study=study, state=CallState.DONE, cost_usd__isnull=False
    )
    mean = calls.order_by("-pk")[:NEWEST_CALLS].aggregate(mean=Avg("cost_usd"))["mean"]
    return {
        "seconds": None if kept is None else kept.median_seconds,
        "per_person": kept.n_answers / kept.n_people if kept and kept.n_people else None,
        "call_usd": None if mean is None else float(mean),
    }


def n_systems_of(study: Study) -> int:
    """Count the systems that the study compares; one query."""
    return texts_of(study).order_by().values("system").distinct().count()


def judged_per_context(study: Study, n_systems: int) -> int:
    """Return how many pairs of a context are judged, or messages where each is rated alone."""
    if study.protocol == Protocol.LIKERT:
        return n_systems
    n_pairs = math.comb(n_systems, 2)
    return min(study.pairs_per_context or n_pairs, n_pairs)


def names_of(slugs: set[str]) -> dict[str, str]:
    """Return the names of systems by slug; one query."""
    return dict(System.objects.filter(slug__in=slugs).values_list("slug", "name"))
