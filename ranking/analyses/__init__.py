"""The analyses of a fit: one module each, found by its kind."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import NoReturn, Protocol

from ranking.findings import AnalysisRefusedError, ColumnKind, Findings, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.method import Method
from ranking.judgments.scores import ScoreColumns
from ranking.judgments.sources import OtherOrder, Sources


class NoSources:
    """Judgments about which nothing else is known, such as those of a file."""

    def systems(self) -> NoReturn:
        """Refuse."""
        self._refuse("systems")

    def judge_families(self) -> NoReturn:
        """Refuse."""
        self._refuse("judges")

    def items(self) -> NoReturn:
        """Refuse."""
        self._refuse("contexts and messages")

    def judgments(self) -> NoReturn:
        """Refuse."""
        self._refuse("reasons and times")

    def strategies(self) -> NoReturn:
        """Refuse."""
        self._refuse("strategies")

    def themes(self) -> NoReturn:
        """Refuse."""
        self._refuse("themes")

    def chips(self) -> NoReturn:
        """Refuse."""
        self._refuse("reasons")

    def _refuse(self, what: str) -> NoReturn:
        msg = f"Nothing is known of the {what} behind these judgments."
        raise AnalysisRefusedError(msg)


@dataclass(frozen=True)
class AnalysisInputs:
    """What an analysis may rest on: the judgments of one fit, and how it was computed.

    ``dimensions`` are the marks on each dimension of the rubric as judgments of their own, by
    the dimension's name, in the rubric's order. ``sources`` are read when they are asked for.
    In a likert study ``scores`` are the ratings that the judgments of ``columns`` are implied by,
    and ``others`` the orders of other studies of the same messages.
    """

    columns: JudgmentColumns
    method: Method
    dimensions: Mapping[str, JudgmentColumns]
    sources: Sources = field(default_factory=NoSources)
    scores: ScoreColumns | None = None
    others: tuple[OtherOrder, ...] = ()


class Analyst(Protocol):
    """A module of this package."""

    @staticmethod
    def analyse(inputs: AnalysisInputs) -> Findings:
        """Return what the judgments show.

        Raises
        ------
        AnalysisRefusedError
            If they do not allow it, with the reason in words for readers.
        """


FEWEST_DIALOGUES = 10
"""Source dialogues that a test rests on; of fewer no p-value is told."""
MINIMUM = f"A test that would rest on fewer than {FEWEST_DIALOGUES} source dialogues is left out."


def analyse(kind: str, inputs: AnalysisInputs) -> Findings:
    """Run the analysis of that kind (a value of `AnalysisKind`).

    Each table with p-values says what they need, and has none where there is less.
    """
    module: Analyst = import_module(f"ranking.analyses.{kind.lower()}")  # type: ignore[assignment]
    found = module.analyse(inputs)
    if not any(map(_has_tests, found.tables)):
        return found
    n_dialogues = len(inputs.columns.units)
    tables = tuple(
        replace(one, caption=f"{one.caption} {MINIMUM}") if _has_tests(one) else one
        for one in found.tables
    )
    if n_dialogues >= FEWEST_DIALOGUES:
        return replace(found, tables=tables)
    tables = tuple(one.blanked(ColumnKind.P_VALUE) for one in tables)
    told = (
        f"Tests need {FEWEST_DIALOGUES} source dialogues, and there are {n_dialogues}: no p-values."
    )
    return replace(found, tables=tables, warnings=(*found.warnings, told))


def _has_tests(table: Table) -> bool:
    return any(column.kind is ColumnKind.P_VALUE for column in table.columns)
