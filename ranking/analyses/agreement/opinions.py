"""Each evaluator's one opinion of each pair, and the samples of dialogues for intervals."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ranking.analyses.common import decimal
from ranking.findings import Cell
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.agreement.opinions import Answers, Opinions, opinions_of
from ranking.numerics.agreement.resampled import IntervalEstimate, draw_times, estimated
from ranking.numerics.arrays import Floats


@dataclass(frozen=True)
class Samples:
    """Dialogues drawn anew: how often each is in each sample, and the level of intervals."""

    times: Floats
    level: float

    @classmethod
    def drawn(cls, n_units: int, n: int, *, seed: int, level: float) -> "Samples":
        """Draw the samples."""
        return cls(draw_times(n_units, n, np.random.default_rng(seed)), level)

    @property
    def n_units(self) -> int:
        """Return how many dialogues there are."""
        return int(self.times.shape[1])

    def of(self, coefficient: Callable[[Floats], Floats]) -> IntervalEstimate:
        """Return the coefficient of all dialogues with its interval."""
        return estimated(coefficient, self.n_units, self.times, level=self.level)

    def cells(self, coefficient: Callable[[Floats], Floats]) -> tuple[Cell, Cell, Cell]:
        """Return the same as three cells."""
        found = self.of(coefficient)
        return decimal(found.value), decimal(found.low), decimal(found.high)


def opinions(columns: JudgmentColumns) -> Opinions:
    """Find each evaluator's opinion of each pair; its dialogue is the unit."""
    unit = np.zeros(columns.n_items, dtype=np.int64)
    unit[columns.item] = columns.unit
    return opinions_of(
        Answers(
            evaluators=columns.evaluators,
            is_judge=columns.is_judge,
            item=columns.item,
            evaluator=columns.evaluator,
            side=np.sign(columns.strength),
            strength=columns.strength,
            unit=unit,
        )
    )


def panels(held: Opinions) -> Mapping[str, Opinions]:
    """Return the kinds of evaluators of which two or more judged, by their words."""
    kinds = {"people": held.people(), "LLM judges": held.by_judges()}
    return {name: one for name, one in kinds.items() if len(np.unique(one.evaluator)) > 1}
