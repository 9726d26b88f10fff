"""Cells that the tables of bias have in common."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ranking.analyses import common
from ranking.analyses.common import decimal
from ranking.findings import Cell, Column, ColumnKind
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.agreement.position import two_sided_p
from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.clustered_means import (
    ClusteredMean,
    TooFewDialoguesError,
    clustered_difference,
    clustered_mean,
)

PEOPLE, JUDGES = "People", "LLM judges"
P_VALUE = Column("p", "p, Benjamini-Hochberg", ColumnKind.P_VALUE)
EVEN = 0.5


@dataclass(frozen=True)
class Tendency:
    """How often one of two was chosen, and the p-value of either's being as likely."""

    share: float
    interval: tuple[float | None, float | None]
    p_value: float

    def cells(self) -> tuple[Cell, ...]:
        """Return the share and the ends of its interval."""
        return (round(self.share, 4), *self.interval)


def tendency(chosen: Booleans, unit: Integers, level: float) -> Tendency:
    """Say how often one of two was chosen, in decided judgments of these dialogues.

    The p-value is the larger of two: the sign test's, which takes judgments as independent, and
    the one clustered by dialogue, which needs many dialogues.
    """
    p_value = two_sided_p(int(chosen.sum()), len(chosen))
    found = mean_of(chosen.astype(np.float64), unit)
    if found is None:
        return Tendency(float(chosen.mean()), (None, None), p_value)
    low, high = (round(min(1.0, max(0.0, end)), 4) for end in found.interval(level))
    return Tendency(found.mean, (low, high), max(p_value, found.p_value(EVEN)))


def mean_of(values: Floats, unit: Integers) -> ClusteredMean | None:
    """Return a mean clustered by dialogue, or None where there are too few dialogues."""
    try:
        return clustered_mean(values, unit)
    except TooFewDialoguesError:
        return None


def difference_of(values: Floats, unit: Integers, is_second: Booleans) -> ClusteredMean | None:
    """Return the second part's mean less the first's, or None where one is missing."""
    try:
        return clustered_difference(values, unit, is_second)
    except TooFewDialoguesError:
        return None


def adjusted(found: Sequence[ClusteredMean | None]) -> list[float | None]:
    """Adjust the p-values of all that were found; what does not vary has none."""
    raw = [one.p_value() if one is not None and one.error > 0.0 else None for one in found]
    return adjusted_p(raw)


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
