"""Ratings of all dimensions from the same resamples of dialogues, and how they are stored.

A page reads them: what rates them, and takes a second to load, is in `joint_rating`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranking.analyses.boards import FEWEST, ResampledStrengths, resampled
from ranking.analyses.common import check_enough, method_of_marks
from ranking.findings import AnalysisRefusedError
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.method import Method
from ranking.numerics.composites import JointRatings
from ranking.numerics.elo import to_elo
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


def jointly_rated(
    dimensions: Mapping[str, JudgmentColumns], method: Method
) -> tuple[JointBoards, list[str]]:
    """Rate the systems on each dimension, replicate r drawing the same dialogues for all.

    Returns
    -------
    tuple of JointBoards and list of str
        Elo points have mean 1500 over the systems that all rated dimensions share. The words
        say which dimensions and which systems are left out, and why.

    Raises
    ------
    AnalysisRefusedError
        If fewer than two dimensions can be rated, or they share fewer than two systems.
    """
    found, notes = _rated(dimensions, method)
    if len(found) < FEWEST:
        msg = "Fewer than two dimensions can be rated: there is nothing to weigh."
        raise AnalysisRefusedError(" ".join([msg, *notes]))
    named = {name: dimensions[name].systems for name in found}
    systems = tuple(sorted(set.intersection(*map(set, named.values()))))
    if len(systems) < FEWEST:
        msg = "The dimensions have fewer than two systems in common."
        raise AnalysisRefusedError(msg)
    left_out = sorted(set().union(*named.values()) - set(systems))
    if left_out:
        notes.append(f"Without marks on every dimension, and so left out: {', '.join(left_out)}.")
    places = {name: np.searchsorted(own, systems) for name, own in named.items()}
    ratings = JointRatings(
        estimate=np.stack([to_elo(one.log_strengths[places[n]]) for n, one in found.items()]),
        replicates=np.stack(
            [to_elo(one.drawn.log_strengths[:, places[n]]) for n, one in found.items()], axis=1
        ),
        n_units=np.array([len(np.unique(dimensions[name].unit)) for name in found]),
    )
    return JointBoards(tuple(found), systems, ratings, method.level), notes


def _rated(
    dimensions: Mapping[str, JudgmentColumns], method: Method
) -> tuple[dict[str, ResampledStrengths], list[str]]:
    """Return the dimensions that can be rated, over one list of dialogues, and why others not."""
    units = tuple(sorted(set().union(*(columns.units for columns in dimensions.values()))))
    found, notes = dict[str, ResampledStrengths](), list[str]()
    for name, columns in dimensions.items():
        try:
            check_enough(columns, for_intervals=True)
            found[name] = resampled(columns.over(units), method_of_marks(columns, method))
        except AnalysisRefusedError as refusal:
            notes.append(f"{name} has no weight, for it is not rated: {refusal}")
    return found, notes
