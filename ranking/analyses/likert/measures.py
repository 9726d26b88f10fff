"""What was rated: the mean over the dimensions and each, in points and without strictness."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ranking.judgments.scores import ScoreColumns
from ranking.numerics.arrays import Booleans, Floats
from ranking.numerics.clustered_means import ClusteredMean, TooFewDialoguesError, clustered_mean
from ranking.numerics.crossed_means import crossed_mean, resampled_means, unit_totals
from ranking.numerics.rater_scales import NoSpreadError, RaterScales, normalise

ALL = "All dimensions"


@dataclass(frozen=True)
class Measure:
    """One figure of each rating: ``points`` of shape (n,), NaN where it is not known."""

    key: str
    label: str
    points: Floats
    scores: ScoreColumns

    @cached_property
    def scales(self) -> RaterScales | None:
        """The scale of each evaluator; None where scores have no spread."""
        known = np.isfinite(self.points)
        rater = self.scores.evaluator[known]
        try:
            return normalise(self.points[known], rater, n_raters=len(self.scores.evaluators))
        except NoSpreadError:
            return None

    @cached_property
    def normalised(self) -> Floats:
        """The same in standard deviations from the mean of the evaluator, shape (n,)."""
        found = np.full(len(self.points), np.nan)
        if self.scales is not None:
            found[np.isfinite(self.points)] = self.scales.z
        return found

    def means(self, values: Floats) -> Floats:
        """Return the mean of each system, shape (n_systems,), NaN where there is none."""
        n_systems, known = len(self.scores.systems), np.isfinite(values)
        system = self.scores.system[known]
        n = np.bincount(system, minlength=n_systems)
        sums = np.bincount(system, weights=values[known], minlength=n_systems)
        return np.where(n > 0, sums / np.maximum(n, 1), np.nan)

    def resampled(self, values: Floats, *, n_replicates: int, seed: int) -> Floats:
        """Return the means in samples of dialogues, shape (n_replicates, n_systems)."""
        known = np.isfinite(values)
        totals = unit_totals(
            values[known],
            self.scores.system[known],
            self.scores.unit[known],
            n_systems=len(self.scores.systems),
            n_units=len(self.scores.units),
        )
        return resampled_means(totals, n_replicates=n_replicates, rng=np.random.default_rng(seed))

    def by_dialogue(self, values: Floats, system: int) -> ClusteredMean | None:
        """Return the mean of a system with its error by dialogue, if there is one."""
        rows = self._of(values, system)
        return _mean(lambda: clustered_mean(values[rows], self.scores.unit[rows]))

    def by_both(self, values: Floats, system: int) -> ClusteredMean | None:
        """Return the same with its error by dialogue and evaluator."""
        rows = self._of(values, system)
        unit, who = self.scores.unit[rows], self.scores.evaluator[rows]
        return _mean(lambda: crossed_mean(values[rows], unit, who))

    def n_evaluators(self, system: int) -> int:
        """Return how many evaluators rated the system."""
        return len(np.unique(self.scores.evaluator[self._of(self.points, system)]))

    def n(self, system: int) -> int:
        """Return how many ratings of the system there are."""
        return int(self._of(self.points, system).sum())

    def _of(self, values: Floats, system: int) -> Booleans:
        rows: Booleans = np.isfinite(values) & (self.scores.system == system)
        return rows


def measures(scores: ScoreColumns) -> tuple[Measure, ...]:
    """Return the mean over the dimensions, and each of them where there is more than one."""
    return tuple(_measures(scores))


def _measures(scores: ScoreColumns) -> Iterator[Measure]:
    yield Measure("all", ALL, scores.composite, scores)
    for place, (key, label) in enumerate(zip(scores.dimensions, scores.labels, strict=True)):
        yield Measure(f"on_{key}", label, scores.on(place), scores)


def _mean(compute: Callable[[], ClusteredMean]) -> ClusteredMean | None:
    try:
        return compute()
    except TooFewDialoguesError:
        return None
