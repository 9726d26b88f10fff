"""Boards of all dimensions from the same resamples of dialogues, as they are stored.

A page reads them: what rates them, and takes a second to load, is in `joint_rating`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranking.numerics.composites import JointRatings
from ranking.numerics.packing import packed, unpacked

DIGITS = 4  # of an Elo point


@dataclass(frozen=True)
class JointBoards:
    """Elo of the systems that every rated dimension has, resampled together.

    ``ratings`` has the dimensions and the systems in the order of their names here; ``level`` is
    that of the fit's intervals.
    """

    dimensions: tuple[str, ...]
    systems: tuple[str, ...]
    ratings: JointRatings
    level: float

    def as_stored(self) -> dict[str, Any]:
        """Return all of it as values that JSON can hold."""
        deviations = self.ratings.replicates - self.ratings.estimate
        text, step = packed(deviations)
        return {
            "dimensions": list(self.dimensions),
            "systems": list(self.systems),
            "level": self.level,
            "n_units": self.ratings.n_units.tolist(),
            "elo": np.round(self.ratings.estimate, DIGITS).tolist(),
            "deviations": text,
            "step": step,
        }

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "JointBoards":
        """Read what ``as_stored`` wrote."""
        elo = np.array(stored["elo"], dtype=np.float64)
        deviations = unpacked(stored["deviations"], stored["step"], (-1, *elo.shape))
        n_units = np.array(stored["n_units"], dtype=np.int64)
        return cls(
            tuple(stored["dimensions"]),
            tuple(stored["systems"]),
            JointRatings(elo, elo + deviations, n_units),
            stored["level"],
        )
