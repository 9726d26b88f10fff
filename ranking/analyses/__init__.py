"""The analyses of a fit: one module each, found by its kind."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

from ranking.columns import JudgmentColumns
from ranking.findings import Findings
from ranking.method import Method


@dataclass(frozen=True)
class Ground:
    """What an analysis may rest on: the judgments of one fit, and how it was computed.

    ``dimensions`` are the marks on each dimension of the rubric as judgments of their own, by
    the dimension's name, in the rubric's order.
    """

    columns: JudgmentColumns
    method: Method
    dimensions: Mapping[str, JudgmentColumns]


class Analyst(Protocol):
    """A module of this package."""

    @staticmethod
    def analyse(ground: Ground) -> Findings:
        """Return what the judgments show.

        Raises
        ------
        AnalysisRefusedError
            If they do not allow it, with the reason in words for readers.
        """


def analyse(kind: str, ground: Ground) -> Findings:
    """Run the analysis of that kind (a value of `AnalysisKind`)."""
    module: Analyst = import_module(f"ranking.analyses.{kind.lower()}")  # type: ignore[assignment]
    return module.analyse(ground)
