"""Analyses that take no time, in place of those that are computed."""

from collections.abc import Iterable

import pytest

from ranking.analyses import AnalysisInputs
from ranking.choices import AnalysisKind
from ranking.findings import Column, ColumnKind, Findings, Table
from ranking.fits import analysis_queries


def findings_of(inputs: AnalysisInputs) -> Findings:
    """Say how many judgments there were."""
    columns = (Column("n", "Judgments", ColumnKind.COUNT),)
    rows = ((inputs.columns.n_judgments,),)
    return Findings("Counted.", (Table("judgments", "Judgments", "One line.", columns, rows),))


def know_kinds(monkeypatch: pytest.MonkeyPatch, kinds: Iterable[AnalysisKind]) -> None:
    """Let there be these kinds of analyses, each of which counts the judgments."""
    found = tuple(kinds)
    monkeypatch.setattr(analysis_queries, "known_kinds", lambda: found)
    monkeypatch.setattr("ranking.analyses.analyse", lambda _kind, inputs: findings_of(inputs))
