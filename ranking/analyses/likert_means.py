"""Messages rated alone: mean points as a leaderboard, on each dimension, and every mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ranking.analyses.common import decimal, mean_of, means_by
from ranking.findings import Cell, Column, ColumnKind, Picture, Table
from ranking.judgments.method import Method
from ranking.judgments.scores import ScoreColumns
from ranking.numerics.arrays import Booleans, Floats
from ranking.numerics.clustered_means import (
    ClusteredMean,
    TooFewDialoguesError,
    crossed_mean,
    resampled_means,
)
from ranking.numerics.rater_scales import NoSpreadError, RaterScales, normalise
from ranking.numerics.simultaneous import effective_units, rank_intervals

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
        known = np.isfinite(values)
        return means_by(self.scores.system[known], values[known], len(self.scores.systems))

    def resampled(self, values: Floats, *, n_replicates: int, seed: int) -> Floats:
        """Return the means in samples of dialogues, shape (n_replicates, n_systems)."""
        known = np.isfinite(values)
        return resampled_means(
            values[known],
            self.scores.system[known],
            self.scores.unit[known],
            shape=(len(self.scores.units), len(self.scores.systems)),
            n_replicates=n_replicates,
            rng=np.random.default_rng(seed),
        )

    def by_dialogue(self, values: Floats, system: int) -> ClusteredMean | None:
        """Return the mean of a system with its error by dialogue, if there is one."""
        rows = self._of(values, system)
        return mean_of(values[rows], self.scores.unit[rows])

    def by_both(self, values: Floats, system: int) -> ClusteredMean | None:
        """Return the same with its error by dialogue and evaluator."""
        rows = self._of(values, system)
        unit, who = self.scores.unit[rows], self.scores.evaluator[rows]
        try:
            return crossed_mean(values[rows], unit, who)
        except TooFewDialoguesError:
            return None

    def n_evaluators(self, system: int) -> int:
        """Return how many evaluators rated the system."""
        return len(np.unique(self.scores.evaluator[self._of(self.points, system)]))

    def n_units(self, system: int) -> int:
        """Return what the dialogues on which the system was rated are worth."""
        return int(effective_units(np.bincount(self.scores.unit[self._of(self.points, system)])))

    def n(self, system: int) -> int:
        """Return how many ratings of the system there are."""
        return int(self._of(self.points, system).sum())

    def _of(self, values: Floats, system: int) -> Booleans:
        rows: Booleans = np.isfinite(values) & (self.scores.system == system)
        return rows


def measures(scores: ScoreColumns) -> tuple[Measure, ...]:
    """Return the mean over the dimensions, and each of them where there is more than one."""
    named = zip(scores.dimensions, scores.labels, strict=True)
    return (
        Measure("all", ALL, scores.composite, scores),
        *(
            Measure(f"on_{key}", label, scores.on(place), scores)
            for place, (key, label) in enumerate(named)
        ),
    )


LEAST, MOST = 1.0, 5.0
FEWEST = 2
FINE = 2  # decimals of normalised scores
SYSTEM = Column("system", "System", ColumnKind.SYSTEM)
SCORES = (
    SYSTEM,
    Column("value", "Mean points"),
    Column("low", "95 % from"),
    Column("high", "to"),
    Column("rank_low", "Best rank", ColumnKind.COUNT),
    Column("rank_high", "Worst rank", ColumnKind.COUNT),
    Column("normalised", "Normalised"),
    Column("normalised_low", "from"),
    Column("normalised_high", "to"),
    Column("n", "Ratings", ColumnKind.COUNT),
    Column("evaluators", "Evaluators", ColumnKind.COUNT),
)
EVERY = (
    SYSTEM,
    Column("dimension", "Dimension", ColumnKind.TEXT),
    Column("mean", "Mean points"),
    Column("low", "95 % from"),
    Column("high", "to"),
    Column("crossed_low", "by dialogue and evaluator, from"),
    Column("crossed_high", "to"),
    Column("normalised", "Normalised"),
    Column("normalised_low", "95 % from"),
    Column("normalised_high", "to"),
    Column("n", "Ratings", ColumnKind.COUNT),
    Column("dialogues", "Dialogues", ColumnKind.COUNT),
)


def best_first(measure: Measure) -> list[int]:
    """Return the systems with a mean from the highest to the lowest, equal ones by name."""
    means = measure.means(measure.points)
    known = np.flatnonzero(np.isfinite(means)).tolist()
    return sorted(known, key=lambda one: (-means[one], one))


def scores_table(measure: Measure, method: Method) -> Table:
    """Return the mean over all dimensions of each system, the highest first."""
    ranks = _ranks(measure, method)
    names, level = measure.scores.systems, method.level
    rows = (
        (
            names[one],
            *_points(measure.by_dialogue(measure.points, one), measure, one, level),
            *ranks.get(one, (None, None)),
            *_normalised(measure, one, level),
            measure.n(one),
            measure.n_evaluators(one),
        )
        for one in best_first(measure)
    )
    return Table(
        "scores",
        "Mean points",
        "Points from 1 to 5, the mean over all dimensions, with an interval for each system by "
        "itself; the ranks hold for all systems together. Normalised scores are in standard "
        "deviations from each evaluator's own mean, so that it matters less who is strict.",
        SCORES,
        tuple(rows),
        Picture.WHISKERS,
    )


def dimensions_table(found: Sequence[Measure]) -> Table:
    """Return mean points by system and dimension; the first measure gives the order."""
    return _heat(
        found,
        [measure.points for measure in found],
        ("dimensions", "Mean points on each dimension"),
        "Points from 1 to 5. Some dimensions are rated more mildly than others by everybody: "
        "compare systems within a column.",
    )


def normalised_table(found: Sequence[Measure]) -> Table:
    """Return the same without who is strict."""
    return _heat(
        found,
        [measure.normalised for measure in found],
        ("normalised", "Normalised scores on each dimension"),
        "In standard deviations from each evaluator's own mean on the dimension: 0 is as that "
        "evaluator rates on average.",
    )


def every_mean_table(found: Sequence[Measure], level: float) -> Table:
    """Return each mean of each system on each dimension, with its intervals."""
    rows = tuple(
        (
            measure.scores.systems[one],
            measure.label,
            *_points(by_dialogue, measure, one, level),
            *_points(measure.by_both(measure.points, one), measure, one, level)[1:],
            *_normalised(measure, one, level),
            measure.n(one),
            by_dialogue.n_clusters if by_dialogue else 1,
        )
        for one in best_first(found[0])
        for measure in found
        if measure.n(one)
        for by_dialogue in [measure.by_dialogue(measure.points, one)]
    )
    return Table(
        "means",
        "Every mean with its intervals",
        "The first interval holds for other dialogues rated by these evaluators, the second for "
        "other dialogues and other evaluators; with few evaluators it is a rough guide.",
        EVERY,
        rows,
    )


def _heat(
    found: Sequence[Measure], values: Sequence[Floats], name: tuple[str, str], caption: str
) -> Table:
    first = found[0]
    means = [measure.means(one) for measure, one in zip(found, values, strict=True)]
    labels = (Column(one.key, one.label) for one in found)
    rows = (
        (first.scores.systems[one], *(decimal(mean[one], FINE) for mean in means))
        for one in best_first(first)
    )
    return Table(*name, caption, (SYSTEM, *labels), tuple(rows), Picture.HEAT)


def _ranks(measure: Measure, method: Method) -> dict[int, tuple[int, int]]:
    """Return best and worst rank of each system, if the resamples of dialogues tell."""
    order = best_first(measure)
    means = measure.means(measure.points)[order]
    drawn = measure.resampled(measure.points, n_replicates=method.replicates, seed=method.seed)[
        :, order
    ]
    drawn = drawn[np.isfinite(drawn).all(axis=1)]
    if len(drawn) < FEWEST or len(measure.scores.units) < FEWEST:
        return {}
    n_units = np.array([measure.n_units(one) for one in order])
    found = rank_intervals(means, drawn, level=method.level, n_units=n_units)
    ends = zip(found.best.tolist(), found.worst.tolist(), strict=True)
    return dict(zip(order, ends, strict=True))


def _points(
    found: ClusteredMean | None, measure: Measure, system: int, level: float
) -> tuple[Cell, Cell, Cell]:
    """Return mean points with the ends of the interval; without ends where nothing varies."""
    mean = decimal(float(measure.means(measure.points)[system]))
    if found is None or not found.varies:
        return mean, None, None
    low, high = found.interval(level)
    return mean, decimal(max(low, LEAST)), decimal(min(high, MOST))


def _normalised(measure: Measure, system: int, level: float) -> tuple[Cell, Cell, Cell]:
    values = measure.normalised
    mean = decimal(float(measure.means(values)[system]), FINE)
    found = measure.by_dialogue(values, system)
    if found is None or not found.varies:
        return mean, None, None
    low, high = found.interval(level)
    return mean, decimal(low, FINE), decimal(high, FINE)
