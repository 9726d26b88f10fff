"""A study as plans look at it: neighbours in rank, and how its judgments go together."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranking.analyses.common import Fitted
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.planning.correlation import intraclass_correlation
from ranking.numerics.planning.design import Contrast
from ranking.numerics.planning.parts import Judged, error_parts


@dataclass(frozen=True)
class PlannedStudy:
    """The fit with neighbours in rank, best first, and what is known of their differences."""

    columns: JudgmentColumns
    fitted: Fitted
    neighbours: tuple[tuple[int, int], ...]
    contrasts: tuple[Contrast, ...]
    level: float

    @property
    def n_units(self) -> int:
        """How many source dialogues there are."""
        return self.contrasts[0].n_units

    @property
    def per_unit(self) -> float:
        """How many judgments each has in the mean."""
        return self.columns.n_judgments / self.n_units

    @property
    def typical(self) -> Contrast:
        """The neighbours in the middle by the error of their difference."""
        errors = [one.standard_error(self.n_units) for one in self.contrasts]
        return self.contrasts[int(np.argsort(errors, kind="stable")[len(errors) // 2])]

    @property
    def correlation(self) -> float:
        """How far judgments of one pair in one dialogue go together; NaN where not known."""
        taken = self._shares
        turned = self.columns.first > self.columns.second
        values = np.where(turned, 1.0 - taken, taken)
        return intraclass_correlation(values, self._clusters, self._strata)

    @property
    def mean_cluster(self) -> float:
        """How many judgments there are of one pair in one dialogue, in the mean."""
        return float(np.bincount(np.unique(self._clusters, return_inverse=True)[1]).mean())

    def unit_scores(self, a: int, b: int) -> Floats:
        """Return the mean share of a against b in each dialogue, by first judgment."""
        first, second = self.columns.first, self.columns.second
        forwards = (first == a) & (second == b)
        rows = np.flatnonzero(forwards | ((first == b) & (second == a)))
        taken = np.where(forwards[rows], self._shares[rows], 1.0 - self._shares[rows])
        units, begun, place = np.unique(
            self.columns.unit[rows], return_index=True, return_inverse=True
        )
        n = np.bincount(place, minlength=len(units))
        means: Floats = np.clip(np.bincount(place, taken, len(units)) / np.maximum(n, 1), 0.0, 1.0)
        return means[begun.argsort(kind="stable")]

    @property
    def _shares(self) -> Floats:
        """What the first system of each judgment took, 0 to 1."""
        pairs = self.fitted.pairs
        taken: Floats = pairs.to_first / (pairs.to_first + pairs.to_second)
        return taken

    @property
    def _strata(self) -> Integers:
        first, second = self.columns.first, self.columns.second
        n = len(self.columns.systems)
        return np.asarray(np.minimum(first, second) * n + np.maximum(first, second))

    @property
    def _clusters(self) -> Integers:
        return np.asarray(self.columns.unit * len(self.columns.systems) ** 2 + self._strata)


def planned_parts(study: PlannedStudy) -> dict[str, Any]:
    """Return what the planner computes from: the study's size, and its neighbours' error parts.

    Squared errors in natural-log units; ``within`` is None where no comparison was judged twice.
    People stand for others of their kind, judges for themselves.
    """
    columns, found = study.columns, study.fitted
    rater = None if columns.is_judge.any() else columns.evaluator
    judged = Judged(found.pairs, columns.item, rater)
    rows = []
    for a, b in study.neighbours:
        parts = error_parts(judged, found.tables, found.log_strengths, (a, b))
        rows.append(
            {
                "first": columns.systems[a],
                "second": columns.systems[b],
                "difference": float(found.log_strengths[a] - found.log_strengths[b]),
                "n_units": parts.n_units,
                "between": parts.between,
                "within": None if math.isnan(parts.within) else parts.within,
                "raters": parts.raters,
                "freedom": parts.freedom,
            }
        )
    return {
        "n_judgments": columns.n_judgments,
        "n_comparisons": columns.n_items,
        "n_evaluators": len(columns.evaluators),
        "n_systems": len(columns.systems),
        "neighbours": rows,
    }
