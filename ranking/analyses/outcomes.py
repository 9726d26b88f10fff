"""What analyses of models share: judgments as tables of outcomes, and ranks."""

from dataclasses import dataclass

import numpy as np

from ranking.findings import AnalysisRefusedError
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.arrays import Floats
from ranking.numerics.models.grades import Graded


@dataclass(frozen=True)
class Outcomes:
    """Who was preferred to whom with what weight, and neither; shape (n, n) each."""

    wins: Floats
    ties: Floats


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


def outcomes(columns: JudgmentColumns, weights: Floats) -> Outcomes:
    """Add up what wins and ties weigh, whatever their strength."""
    n = len(columns.systems)
    wins, ties = np.zeros((n, n)), np.zeros((n, n))
    ahead, behind = columns.strength > 0, columns.strength < 0
    np.add.at(wins, (columns.first[ahead], columns.second[ahead]), weights[ahead])
    np.add.at(wins, (columns.second[behind], columns.first[behind]), weights[behind])
    tied = ~(ahead | behind)
    np.add.at(ties, (columns.first[tied], columns.second[tied]), weights[tied])
    return Outcomes(wins, ties + ties.T)


def graded(columns: JudgmentColumns, weights: Floats) -> Graded:
    """Return the judgments with the preferred system first."""
    ahead = columns.strength >= 0
    return Graded(
        np.where(ahead, columns.first, columns.second),
        np.where(ahead, columns.second, columns.first),
        np.abs(columns.strength),
        weights,
    )


def ranks_of(ratings: Floats) -> list[int]:
    """Return 1 plus how many are rated higher, equal to the millionth of a point."""
    rounded = np.round(ratings, 6)
    return [int((rounded > rating).sum()) + 1 for rating in rounded]
