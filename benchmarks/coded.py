"""Judgments made up at the sizes of the goals, as the coded columns that estimators begin with."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.numerics.batches import WeightedPairs
from ranking.numerics.strength import shares
from ranking.numerics.strength_mode import StrengthMode

QUALITY_SD = 0.7  # how far a system strays in a dialogue, the same for all its judgments
CHUNK = 2**20


@dataclass(frozen=True)
class Size:
    """How much is judged: random pairs in random dialogues, in no order."""

    n_judgments: int
    n_systems: int
    n_units: int

    def __str__(self) -> str:
        return f"{self.n_judgments:,} judgments, {self.n_systems} systems, {self.n_units:,} units"


def draw(size: Size, rng: np.random.Generator) -> WeightedPairs:
    """Draw judgments with soft shares that hang together inside a dialogue."""
    spread = np.linspace(0.8, -0.8, size.n_systems)
    quality = spread + rng.normal(0.0, QUALITY_SD, size=(size.n_units, size.n_systems))
    unit, first, second = (np.empty(size.n_judgments, dtype=np.int64) for _ in range(3))
    to_first, to_second = np.empty(size.n_judgments), np.empty(size.n_judgments)
    for start in range(0, size.n_judgments, CHUNK):
        rows = slice(start, start + CHUNK)
        n = len(unit[rows])
        unit[rows] = rng.integers(size.n_units, size=n)
        first[rows] = rng.integers(size.n_systems, size=n)
        second[rows] = (first[rows] + rng.integers(1, size.n_systems, size=n)) % size.n_systems
        seen = quality[unit[rows], first[rows]] - quality[unit[rows], second[rows]]
        won = rng.random(n) < special.expit(seen)
        split = shares(np.where(won, 1, -1) * rng.integers(1, 6, size=n), StrengthMode.SOFT)
        to_first[rows], to_second[rows] = split.first, split.second
    return WeightedPairs(unit, first, second, to_first, to_second)
