"""Whole studies with judgments, for what is computed from them."""

import datetime as dt
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations

from annotation.models import Comparison, DimensionMark, Judge, Rater, Study
from completions.models import Context, System
from ranking.choices import ContextSet, EvaluatorPool
from ranking.fits import services
from ranking.models import Fit
from tests.factories import (
    make_comparison,
    make_completion,
    make_context,
    make_dialogue,
    make_judge,
    make_judgment,
    make_llm_judgment,
    make_rater,
    make_study,
    make_system,
)

Verdict = Callable[[int, int, int], int]


def by_place(dialogue: int, first: int, second: int) -> int:
    """Prefer the earlier system slightly, but the later one in every third dialogue."""
    return -1 if (dialogue + first + second) % 3 == 0 else 1


def make_judged_study(
    *,
    systems: Sequence[System] | None = None,
    n_dialogues: int = 4,
    verdict: Verdict = by_place,
    with_llm: bool = False,
    study: Study | None = None,
) -> Study:
    """Let one rater, and one judge if wanted, judge all pairs of systems in each dialogue."""
    study = study or make_study()
    systems = systems or [make_system() for _ in range(3)]
    rater, judge = make_rater(study=study), make_judge() if with_llm else None
    for dialogue in range(n_dialogues):
        context = make_context(dialogue=make_dialogue(dataset=study.dataset))
        judge_all_pairs(study, context, systems, partial(verdict, dialogue), rater, judge)
    return study


def fit_one(study: Study, at: dt.datetime, pool: EvaluatorPool = EvaluatorPool.COMBINED) -> Fit:
    """Compute the ratings of one pool in all contexts; a refit takes four times as long."""
    every = ContextSet.ALL
    fit = services.claim_fit(study=study, pool=pool, context_set=every, now=at)
    if fit is not None:
        services.run_fit(fit_id=fit.pk, clock=lambda: at)
    return Fit.objects.filter(study=study, pool=pool, context_set=every).latest("as_of")


def judge_all_pairs(
    study: Study,
    context: Context,
    systems: Sequence[System],
    verdict: Callable[[int, int], int],
    rater: Rater,
    judge: Judge | None = None,
) -> None:
    """Judge every pair of the systems' completions of one context."""
    completions = [make_completion(context=context, system=system) for system in systems]
    for i, j in combinations(range(len(systems)), 2):
        comparison = make_comparison(study=study, first=completions[i], second=completions[j])
        make_judgment(comparison=comparison, rater=rater, verdict=verdict(i, j))
        if judge:
            make_marked_judgment(comparison, judge, verdict(i, j) or 1)


def make_marked_judgment(comparison: Comparison, judge: Judge, verdict: int) -> None:
    """A judge's verdict with a mark on two dimensions: one for the winner, one for neither."""
    judgment = make_llm_judgment(comparison=comparison, judge=judge, verdict=verdict)
    for dimension, advantage in (("H", verdict), ("E", 0)):
        DimensionMark.objects.create(judgment=judgment, dimension=dimension, advantage=advantage)
