"""Cells that the tables of bias have in common."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ranking.analyses import common
from ranking.analyses.common import adjusted_tests, decimal, end_cells, mean_of, rests_on_enough
from ranking.findings import Cell, Column, ColumnKind
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.agreement.position import two_sided_p
from ranking.numerics.arrays import Booleans, Integers
from ranking.numerics.clustered_means import ClusteredMean

PEOPLE, JUDGES = "People", "LLM judges"
P_VALUE = Column("p", "p, Benjamini-Hochberg", ColumnKind.P_VALUE)
EVEN = 0.5


@dataclass(frozen=True)
class Tendency:
    """How often one of two was chosen, and the p-value of either's being as likely."""

    share: float
    interval: tuple[float | None, float | None]
    p_value: float | None

    def cells(self) -> tuple[Cell, ...]:
        """Return the share and the ends of its interval."""
        return (round(self.share, 4), *self.interval)


def tendency(chosen: Booleans, unit: Integers, level: float) -> Tendency:
    """Say how often one of two was chosen, in decided judgments of these dialogues.

    The p-value is the larger of two: the sign test's, which takes judgments as independent, and
    the one clustered by dialogue, which needs many dialogues. Of too few there is neither test
    nor interval, and no interval of what is the same in all.
    """
    found = mean_of(chosen.astype(np.float64), unit)
    if not rests_on_enough(found):
        return Tendency(float(chosen.mean()), (None, None), None)
    ends = end_cells(found, level, least=0.0, most=1.0)
    p_value = two_sided_p(int(chosen.sum()), len(chosen))
    return Tendency(found.mean, ends, max(p_value, found.p_value(EVEN)))


def adjusted(found: Sequence[ClusteredMean | None]) -> list[float | None]:
    """Adjust the p-values of all that were found; what is 0 in every dialogue has none."""
    told = [one if one and (one.varies or one.p_value() < 1.0) else None for one in found]
    return [decimal(p, 6) for p in adjusted_tests(told)]


def adjusted_p(raw: Sequence[float | None]) -> list[float | None]:
    """Adjust the p-values that there are, rounded; the others keep their places."""
    return [decimal(p, 6) for p in common.adjusted(raw)]


def kinds(columns: JudgmentColumns) -> Iterator[tuple[str, Booleans]]:
    """Yield people and LLM judges with their judgments, where there are any."""
    is_judge = columns.is_judge[columns.evaluator]
    for name, chosen in ((PEOPLE, ~is_judge), (JUDGES, is_judge)):
        if chosen.any():
            yield name, chosen


def with_all(columns: JudgmentColumns) -> list[tuple[str, Booleans]]:
    """Return both kinds, and all together where there are both."""
    found = list(kinds(columns))
    everybody = np.ones(columns.n_judgments, dtype=np.bool_)
    return [*found, ("All", everybody)] if len(found) > 1 else found
