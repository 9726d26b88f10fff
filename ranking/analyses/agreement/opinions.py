"""Each evaluator's one opinion of each pair, and the samples of dialogues for intervals."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ranking.columns import JudgmentColumns
from ranking.findings import Cell
from ranking.numerics.agreement.counts import count_values
from ranking.numerics.agreement.resampled import Estimate, draw_times, estimated
from ranking.numerics.arrays import Booleans, Floats, Integers

VALUES = np.array([-1.0, 0.0, 1.0])
"""What opinions are: the second was better, a tie, the first was better."""
TIE = 1
N_VALUES = len(VALUES)


@dataclass(frozen=True)
class Opinions:
    """One entry for each evaluator of each pair, shape (n_opinions,).

    ``value`` is an index of `VALUES`, ``strength`` the mean of the evaluator's answers, rounded.
    ``unit`` is the source dialogue of each pair, shape (n_items,).
    """

    evaluators: tuple[str, ...]
    is_judge: Booleans
    item: Integers
    evaluator: Integers
    value: Integers
    strength: Integers
    unit: Integers
    n_repeated: int

    @property
    def n_items(self) -> int:
        """Return how many pairs there are, whoever judged them."""
        return len(self.unit)

    @property
    def judges(self) -> list[int]:
        """Return the indices of the LLM judges."""
        return [int(one) for one in np.flatnonzero(self.is_judge)]

    def of(self, kept: Booleans) -> "Opinions":
        """Return the opinions that are kept; pairs and evaluators keep their numbers."""
        return replace(
            self,
            item=self.item[kept],
            evaluator=self.evaluator[kept],
            value=self.value[kept],
            strength=self.strength[kept],
        )

    def on(self, items: Booleans) -> "Opinions":
        """Return the opinions of some pairs."""
        return self.of(items[self.item])

    def people(self) -> "Opinions":
        """Return the opinions of people."""
        return self.of(~self.is_judge[self.evaluator])

    def by_judges(self) -> "Opinions":
        """Return the opinions of LLM judges."""
        return self.of(self.is_judge[self.evaluator])

    def counts(self) -> Integers:
        """Return how often each pair was given each value, shape (n_items, 3)."""
        return count_values(self.item, self.value, n_items=self.n_items, n_values=N_VALUES)

    def by_evaluator(self, evaluator: int) -> Integers:
        """Return an evaluator's value of each pair, -1 where there is none."""
        found = np.full(self.n_items, -1, dtype=np.int64)
        own = self.evaluator == evaluator
        found[self.item[own]] = self.value[own]
        return found


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

    def of(self, coefficient: Callable[[Floats], Floats]) -> Estimate:
        """Return the coefficient of all dialogues with its interval."""
        return estimated(coefficient, self.n_units, self.times, level=self.level)

    def cells(self, coefficient: Callable[[Floats], Floats]) -> tuple[Cell, Cell, Cell]:
        """Return the same as three cells."""
        found = self.of(coefficient)
        return known(found.value), known(found.low), known(found.high)


def opinions(columns: JudgmentColumns) -> Opinions:
    """Find each evaluator's opinion of each pair.

    Of several answers of one evaluator (both orders, samples) the side that came out ahead more
    often counts, and evenly is a tie; nobody is then ever compared with himself.
    """
    n_evaluators = len(columns.evaluators)
    key = columns.item * n_evaluators + columns.evaluator
    _, row, place = np.unique(key, return_index=True, return_inverse=True)
    ahead = np.sign(np.bincount(place, np.sign(columns.strength))).astype(np.int64)
    strength = np.bincount(place, columns.strength) / np.bincount(place)
    unit = np.zeros(columns.n_items, dtype=np.int64)
    unit[columns.item] = columns.unit
    return Opinions(
        evaluators=columns.evaluators,
        is_judge=columns.is_judge,
        item=columns.item[row],
        evaluator=columns.evaluator[row],
        value=ahead + TIE,
        strength=np.rint(strength).astype(np.int64),
        unit=unit,
        n_repeated=columns.n_judgments - len(row),
    )


def panels(held: Opinions) -> Mapping[str, Opinions]:
    """Return the kinds of evaluators of which two or more judged, by their words."""
    kinds = {"people": held.people(), "LLM judges": held.by_judges()}
    return {name: one for name, one in kinds.items() if len(np.unique(one.evaluator)) > 1}


def known(value: float) -> float | None:
    """Return a figure as a cell keeps it."""
    return round(float(value), 4) if np.isfinite(value) else None
