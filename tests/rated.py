"""Fits with ratings as pages of results show them, without computing any."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from annotation.choices import Protocol, Side, StudyState
from annotation.models import Comparison, DimensionMark, Judge, JudgeCall, Judgment, Rater, Study
from completions.choices import CallState
from completions.models import System
from ranking.analyses import AnalysisInputs
from ranking.choices import AnalysisKind, FitState
from ranking.findings import Column, ColumnKind, Findings, Picture, Table
from ranking.fits import analysis_queries
from ranking.judgments.scores import ScoreColumns
from ranking.models import Fit
from ranking.report.services import analysing
from tests.factories import (
    NOW,
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
from tests.factories_written_once import make_fit, make_rating

METHOD = {"slightly": 2, "much": 4, "replicates": 100, "seed": 7, "strength": "soft"}
DIAGNOSTICS = {
    "stamp": "0:0:0",
    "n_raters": 1,
    "judges": [],
    "has_simulated_evaluators": False,
}


def close(study: Study) -> Study:
    """Close a study, so that everybody may read its results."""
    study.state = StudyState.CLOSED
    study.save(update_fields=["state"])
    return study


def make_rated_fit(
    systems: Sequence[System] = (), *, study: Study | None = None, **fields: Any
) -> Fit:
    """A published fit that rates the systems, the first highest, each in its own tier."""
    known = {"diagnostics": DIAGNOSTICS, "method": METHOD, "state": FitState.DONE}
    ended = {"as_of": NOW, "ended_at": fields.get("as_of", NOW), "published_at": NOW}
    fit = make_fit(study=study or make_study(), **known | ended | fields)
    for place, system in enumerate(systems or [make_system() for _ in range(2)]):
        make_rated_system(fit, system, elo=1540.0 - 40.0 * place, rank=place + 1)
    return fit


def make_rated_system(fit: Fit, system: System, *, elo: float, rank: int, **fields: Any) -> None:
    """A rating with all that new fits have."""
    ends = {
        "elo_low": elo - 20,
        "elo_high": elo + 20,
        "joint_low": elo - 30,
        "joint_high": elo + 30,
    }
    ranks = {"rank": rank, "rank_low": max(1, rank - 1), "rank_high": rank + 1, "tier": rank}
    errors = {"elo_se": 10.0, "sandwich_se": 9.0}
    make_rating(fit=fit, system=system, elo=elo, **ends | ranks | errors | fields)


SYSTEM = Column("system", "System", ColumnKind.SYSTEM)


def make_findings(systems=("ash", "beech"), evaluators=(), **fields) -> Findings:
    """Findings with a heat map, intervals, points, lines, and a table of evaluators."""
    tables = (
        heat_map(systems),
        intervals(systems),
        points(systems),
        over_time(systems),
        around(systems),
        funnel(systems),
        of_evaluators(evaluators),
    )
    words = {"method": "By hand, for a test.", "warnings": ("Only a test.",)}
    return Findings(**words | {"tables": tables} | fields)


def heat_map(systems):
    columns = [Column(slug, slug, ColumnKind.SHARE) for slug in systems]
    rows = [
        (one, *(None if one == other else 0.25 + 0.5 * (one < other) for other in systems))
        for one in systems
    ]
    return _table("matrix", Picture.HEAT, SYSTEM, *columns, rows=rows)


def intervals(systems):
    ends = (Column(key, key, ColumnKind.ELO) for key in ("value", "low", "high"))
    rows = [(slug, -12.0, -40.0, 15.0) for slug in systems]
    return _table("differences", Picture.WHISKERS, SYSTEM, *ends, rows=rows)


def points(systems):
    axes = (Column(key, label, ColumnKind.SHARE) for key, label in (("x", "Told"), ("y", "Seen")))
    rows = [(slug, 0.1 * n, 0.1 * n + 0.05) for n, slug in enumerate(systems, start=1)]
    return _table("told-and-seen", Picture.POINTS, SYSTEM, *axes, rows=rows)


def over_time(systems):
    columns = [Column(slug, slug, ColumnKind.ELO) for slug in systems]
    rows = [(n, *(1500.0 + n * place for place in range(len(systems)))) for n in (10, 20, 30)]
    return _table(
        "growth", Picture.LINES, Column("x", "Judgments", ColumnKind.COUNT), *columns, rows=rows
    )


def around(systems):
    axes = (Column(key, key.upper(), ColumnKind.ELO, mark=1500.0) for key in ("h", "e", "a"))
    rows = [(slug, *(1500.0 + 10 * n * m for m in range(3))) for n, slug in enumerate(systems)]
    return _table("radar", Picture.RADAR, SYSTEM, *axes, rows=rows)


def funnel(systems):
    keys = ("y", "centre", "low", "high", "outer_low", "outer_high")
    columns = (Column(key, key, ColumnKind.SHARE) for key in keys)
    x = Column("x", "Judgments", ColumnKind.COUNT)
    rows = [
        (slug, 10 * n, 0.9, 0.5, *(0.5 + end / n for end in (-0.2, 0.2, -0.3, 0.3)))
        for n, slug in enumerate(systems, start=1)
    ]
    return _table("funnel", Picture.FUNNEL, SYSTEM, x, *columns, rows=rows)


def of_evaluators(evaluators):
    who = Column("evaluator", "Evaluator", ColumnKind.EVALUATOR)
    rows = [(code, 0.5 + n / 100, f"note on {code}") for n, code in enumerate(evaluators)]
    weight = Column("reliability", "Reliability", ColumnKind.SHARE)
    return _table(
        "evaluators", Picture.NONE, who, weight, Column("note", "Note", ColumnKind.TEXT), rows=rows
    )


def _table(key, picture, *columns, rows):
    title = key.replace("-", " ").capitalize()
    return Table(key, title, f"How to read {key}.", columns, tuple(rows), picture)


def findings_of(ground: AnalysisInputs) -> Findings:
    """Say how many judgments there were."""
    columns = (Column("n", "Judgments", ColumnKind.COUNT),)
    rows = ((ground.columns.n_judgments,),)
    return Findings("Counted.", (Table("judgments", "Judgments", "One line.", columns, rows),))


def know_kinds(monkeypatch: pytest.MonkeyPatch, kinds: Iterable[AnalysisKind]) -> None:
    """Let there be these kinds of analyses, each of which counts the judgments."""
    found = tuple(kinds)
    monkeypatch.setattr(analysis_queries, "known_kinds", lambda: found)
    monkeypatch.setattr(analysing, "analyse", lambda _kind, ground: findings_of(ground))


KEYS = ("H", "E", "A", "R", "T")
Points = Callable[[int, int, int], int]


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
    points: Points | None = None,
    with_judge: bool = False,
    study: Study | None = None,
) -> Study:
    """Let every rater, and one judge if wanted, rate each system's message of each dialogue."""
    study = study or make_study(protocol=Protocol.LIKERT)
    systems = systems or [make_system() for _ in range(3)]
    points = points or by_place
    raters = [make_rater(study=study) for _ in range(n_raters)]
    judge = make_judge() if with_judge else None
    for dialogue in range(n_dialogues):
        context = make_context(dialogue=make_dialogue(dataset=study.dataset))
        for place, system in enumerate(systems):
            message = make_completion(context=context, system=system)
            alone = make_comparison(study=study, first=message)
            for number, rater in enumerate(raters):
                rate(alone, rater, points(dialogue, place, number))
            if judge:
                rate(alone, judge, points(dialogue, place, 0))
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
