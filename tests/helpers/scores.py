"""Ratings of messages read alone, made up: a few written out, and whole planted studies."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from annotation.choices import Protocol, Side
from annotation.models import Comparison, DimensionMark, Judge, JudgeCall, Judgment, Rater, Study
from completions.choices import CallState
from completions.models import System
from ranking.judgments.scores import ScoreColumns
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_completion,
    make_context,
    make_judge,
    make_judgment,
    make_llm_judgment,
    make_rater,
    make_study,
    make_system,
)

KEYS = ("H", "E", "A", "R", "T")


def make_scores(rows, *, judges=(), labels=("Warmth", "Sense")):
    """Write ratings out: (unit, context, system, evaluator, points on each dimension)."""
    unit, context, system, evaluator, points = zip(*rows, strict=True)
    systems, units = tuple(sorted(set(system))), tuple(sorted(set(unit)))
    evaluators = tuple(sorted(set(evaluator)))
    messages = sorted(set(zip(context, system, strict=True)))
    pairs = zip(context, system, strict=True)
    return ScoreColumns(
        systems=systems,
        units=units,
        evaluators=evaluators,
        dimensions=tuple(label[0] for label in labels),
        labels=labels,
        is_judge=np.array([name in judges for name in evaluators]),
        unit=np.array([units.index(one) for one in unit]),
        context=np.array(context),
        message=np.array([messages.index(one) for one in pairs]),
        system=np.array([systems.index(one) for one in system]),
        evaluator=np.array([evaluators.index(one) for one in evaluator]),
        points=np.array(points),
    )


def simulate_scores(rng, *, quality, n_dialogues=40, n_raters=8, each=3, strict=0.6, n_judges=0):
    """Rate every system in every dialogue: ``each`` raters drawn for each message, all judges.

    A message is its system's quality and a little of its own, shared by the dialogue; raters add
    how mild they are and a little noise. Points are rounded to 1 to 5 on two dimensions.
    """
    n_systems = len(quality)
    mild = strict * rng.normal(size=n_raters + n_judges)
    names = [f"r{n}" for n in range(n_raters)] + [f"judge-{n}" for n in range(n_judges)]
    rows = []
    for dialogue in range(n_dialogues):
        hard = 0.3 * rng.normal()
        for system in range(n_systems):
            own = quality[system] + hard + 0.3 * rng.normal()
            who = [*rng.choice(n_raters, each, replace=False), *range(n_raters, len(names))]
            for one in who:
                said = own + mild[one] + 0.4 * rng.normal(size=2)
                points = np.clip(np.rint(said), 1, 5).astype(int)
                rows.append((f"d{dialogue:03}", dialogue, f"s{system}", names[one], tuple(points)))
    return make_scores(rows, judges=[name for name in names if name.startswith("judge")])


def make_rated_study(
    *,
    systems: Sequence[System] | None = None,
    n_dialogues: int = 4,
    n_raters: int = 3,
    with_judge: bool = False,
    study: Study | None = None,
) -> Study:
    """Let every rater, and one judge if wanted, rate each system's message of each dialogue."""
    study = study or make_study(protocol=Protocol.LIKERT)
    systems = systems or [make_system() for _ in range(3)]
    raters = [make_rater(study=study) for _ in range(n_raters)]
    judge = make_judge() if with_judge else None
    for dialogue in range(n_dialogues):
        context = make_context(dataset=study.dataset)
        for place, system in enumerate(systems):
            message = make_completion(context=context, system=system)
            alone = make_comparison(study=study, first=message)
            for number, rater in enumerate(raters):
                rate(alone, rater, by_place(dialogue, place, number))
            if judge:
                rate(alone, judge, by_place(dialogue, place, 0))
    return study


def by_place(dialogue: int, place: int, rater: int) -> int:
    """Give the earlier system more points, but now and then turn about."""
    return 2 + rater % 2 + (place if (dialogue + rater) % 4 == 0 else 2 - place) // 2


def rate(
    comparison: Comparison, who: Rater | Judge, points: int | Sequence[int], **fields: Any
) -> Judgment:
    """Give a message points, the same on each dimension unless they are given one by one."""
    fields |= {"comparison": comparison, "protocol": Protocol.LIKERT, "verdict": None}
    if isinstance(who, Judge):
        call = _judge_call(comparison, who)
        judgment = make_llm_judgment(judge=who, judge_call=call, **fields)
    else:
        judgment = make_judgment(rater=who, **fields)
    given = [points] * len(KEYS) if isinstance(points, int) else points
    DimensionMark.objects.bulk_create(
        DimensionMark(judgment=judgment, dimension=key, advantage=one)
        for key, one in zip(KEYS, given, strict=False)
    )
    return judgment


def _judge_call(comparison: Comparison, judge: Judge) -> JudgeCall:
    return JudgeCall.objects.create(
        comparison=comparison,
        judge=judge,
        first_side=Side.A,
        judge_family=judge.family,
        first_family=comparison.first.system.family,
        created_at=NOW,
        state=CallState.DONE,
        ended_at=NOW,
        raw_answer="{}",
    )
