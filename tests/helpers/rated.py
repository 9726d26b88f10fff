"""Fits with ratings, findings of every kind, and analyses that take no time: none is computed."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from annotation.choices import StudyState
from annotation.models import Study
from completions.models import System
from ranking.choices import AnalysisKind, FitState
from ranking.findings import Column, ColumnKind, Findings, Picture, Table
from ranking.fits import analysis_queries
from ranking.models import Fit
from tests.helpers.factories import NOW, make_study, make_system
from tests.helpers.factories_written_once import make_fit, make_rating

if TYPE_CHECKING:
    from ranking.analyses import AnalysisInputs

METHOD = {"slightly": 2, "much": 4, "replicates": 100, "seed": 7, "strength": "soft"}
DIAGNOSTICS = {
    "stamp": "0:0:0",
    "n_raters": 5,
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


def findings_of(inputs: "AnalysisInputs") -> Findings:
    """Say how many judgments there were."""
    columns = (Column("n", "Judgments", ColumnKind.COUNT),)
    rows = ((inputs.columns.n_judgments,),)
    return Findings("Counted.", (Table("judgments", "Judgments", "One line.", columns, rows),))


def know_kinds(monkeypatch: pytest.MonkeyPatch, kinds: Iterable[AnalysisKind]) -> None:
    """Let there be these kinds of analyses, each of which counts the judgments."""
    found = tuple(kinds)
    monkeypatch.setattr(analysis_queries, "known_kinds", lambda: found)
    monkeypatch.setattr("ranking.analyses.analyse", lambda _kind, inputs: findings_of(inputs))
