"""What analyses of models share: judgments as tables of outcomes, and cells without NaN."""

import math
from dataclasses import dataclass

import numpy as np

from ranking.columns import JudgmentColumns
from ranking.findings import AnalysisRefusedError
from ranking.numerics.arrays import Floats
from ranking.numerics.models.grades import Graded
from ranking.numerics.strength import StrengthMode, shares


@dataclass(frozen=True)
class Outcomes:
    """Who was preferred to whom how often, and how often neither was; shape (n, n) each."""

    wins: Floats
    ties: Floats

    @property
    def tie_share(self) -> float:
        """Return the share of judgments that prefer neither."""
        ties = float(self.ties.sum()) / 2
        return ties / (ties + float(self.wins.sum()))


def check_enough(columns: JudgmentColumns) -> None:
    """Refuse judgments that no model can be fitted to.

    Raises
    ------
    AnalysisRefusedError
        If there are no judgments, or of fewer than two systems.
    """
    if not columns.n_judgments:
        msg = "There are no judgments yet."
        raise AnalysisRefusedError(msg)
    if len(columns.systems) <= 1:
        msg = "There is only one system, and nothing to compare it with."
        raise AnalysisRefusedError(msg)


def outcomes(columns: JudgmentColumns) -> Outcomes:
    """Count wins and ties, whatever their strength."""
    n = len(columns.systems)
    wins, ties = np.zeros((n, n)), np.zeros((n, n))
    ahead, behind = columns.strength > 0, columns.strength < 0
    np.add.at(wins, (columns.first[ahead], columns.second[ahead]), 1.0)
    np.add.at(wins, (columns.second[behind], columns.first[behind]), 1.0)
    tied = ~(ahead | behind)
    np.add.at(ties, (columns.first[tied], columns.second[tied]), 1.0)
    return Outcomes(wins, ties + ties.T)


def win_matrix(columns: JudgmentColumns, mode: StrengthMode) -> Floats:
    """Add up the shares that judgments give, ties half to each side."""
    n = len(columns.systems)
    split = shares(columns.strength, mode)
    wins = np.zeros((n, n))
    np.add.at(wins, (columns.first, columns.second), split.first)
    np.add.at(wins, (columns.second, columns.first), split.second)
    return wins


def graded(columns: JudgmentColumns) -> Graded:
    """Return the judgments with the preferred system first."""
    ahead = columns.strength >= 0
    return Graded(
        np.where(ahead, columns.first, columns.second),
        np.where(ahead, columns.second, columns.first),
        np.abs(columns.strength),
        np.ones(columns.n_judgments),
    )


def ranks_of(ratings: Floats) -> list[int]:
    """Return 1 plus how many are rated higher, equal to the millionth of a point."""
    rounded = np.round(ratings, 6)
    return [int((rounded > rating).sum()) + 1 for rating in rounded]


def cell(value: float | None, digits: int = 2) -> float | None:
    """Return a number as a cell keeps it: rounded, and None where it is no number."""
    return None if value is None or not math.isfinite(value) else round(float(value), digits)
