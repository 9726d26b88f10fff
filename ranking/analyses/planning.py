"""How many more judgments: the study as a plan sees it, and what telling neighbours apart takes."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import special

from ranking.analyses import AnalysisInputs
from ranking.analyses.common import (
    FittedBoard,
    best_first,
    check_enough,
    decimal,
    few_dialogues,
    fitted,
)
from ranking.findings import Cell, Column, ColumnKind, Findings, Picture, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.elo import ELO_PER_LOG_UNIT
from ranking.numerics.intervals import confidence_sequence
from ranking.numerics.planning.design import (
    MOST_UNITS,
    Contrast,
    contrast,
    design_effect,
    detectable_difference,
    intraclass_correlation,
    judgments_per_pair,
    needed_units,
    predicted_power,
    simulated_power,
)
from ranking.numerics.planning.parts import WeightedJudgments, error_parts


@dataclass(frozen=True)
class PlannedStudy:
    """The fit with neighbours in rank, best first, and what is known of their differences."""

    columns: JudgmentColumns
    fitted: FittedBoard
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
        """How many judgments of its pair in its dialogue a judgment is among, in the mean.

        With dialogues of any size it is this mean that the variance grows with (Kish 1965).
        """
        n = np.unique(self._clusters, return_counts=True)[1]
        return float((n**2).sum() / n.sum())

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
    judged = WeightedJudgments(found.pairs, columns.item, rater)
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


METHOD = (
    "The clustered covariance of this study's own ratings, which falls as one over the number of "
    "source dialogues; a normal approximation for single pairs, with the design effect of Kish "
    "(1965); betting confidence sequences (Waudby-Smith and Ramdas 2024). Assumes that further "
    "dialogues are of the same kind and judged in the same way."
)
DIFFERENCES = (5.0, 10.0, 20.0, 35.0, 50.0, 100.0)  # Elo points; 35 are 55 to 45
SHARES = (0.52, 0.55, 0.6, 0.65, 0.7)
STUDIES = 1_000
MOST_NEIGHBOURS = 30
STILL = 1e-9  # natural log: what rounding alone leaves of a difference or of an error


def analyse(inputs: AnalysisInputs) -> Findings:
    """Say how many judgments and dialogues tell systems apart.

    Raises
    ------
    AnalysisRefusedError
        If there are no ratings, or all judgments are on one source dialogue.
    """
    check_enough(inputs.columns, for_intervals=True)
    found, columns = fitted(inputs), inputs.columns
    order = best_first(found.log_strengths)
    neighbours = tuple(pairwise(order))[:MOST_NEIGHBOURS]
    contrasts = tuple(contrast(found.tables, found.log_strengths, pair) for pair in neighbours)
    study = PlannedStudy(columns, found, neighbours, contrasts, inputs.method.level)
    tables = (
        _apart(study, np.random.default_rng(inputs.method.seed)),
        _neighbours(study),
        _single_pairs(study),
        _any_time(study),
    )
    few = few_dialogues(study.n_units)
    return Findings(METHOD, tables, few, kept=planned_parts(study))


def _apart(study: PlannedStudy, rng: np.random.Generator) -> Table:
    of, n_units, level = study.typical, study.n_units, study.level
    rows, varies = [], _varies(of)
    for points in DIFFERENCES:
        difference = points / ELO_PER_LOG_UNIT
        units = _needed(of, difference, level)
        power = predicted_power(of, difference, n_units, level=level)
        simulated = simulated_power(
            of, difference, n_units, n_studies=STUDIES, rng=rng, level=level
        )
        row: tuple[Cell, ...] = (
            points,
            units,
            None if units is None else round(units * study.per_unit),
            decimal(power) if varies else None,
            decimal(simulated) if varies else None,
        )
        rows.append(row)
    return Table(
        "apart",
        "What tells neighbours apart",
        "For two neighbours that truly differ by so many points: how many source dialogues, each "
        "judged as those of this study, tell them apart in 80 of 100 studies; and in what share of "
        "studies of the present size they would be told apart, by formula and by simulation; "
        "nothing where all dialogues came out alike. Dialogues count, not judgments: more raters "
        "for the same dialogues help less.",
        (
            Column("x", "Difference", ColumnKind.ELO),
            Column("dialogues", "Source dialogues", ColumnKind.COUNT),
            Column("judgments", "Judgments", ColumnKind.COUNT),
            Column("power", "Told apart now", ColumnKind.SHARE),
            Column("simulated", "Told apart now, simulated", ColumnKind.SHARE),
        ),
        tuple(rows),
    )


def _needed(of: Contrast, difference: float, level: float) -> int | None:
    """Return how many dialogues tell the two apart, or None where none or too many do."""
    if not _varies(of):
        return None
    units = needed_units(of, difference, level=level)
    return units if units < MOST_UNITS else None


def _varies(of: Contrast) -> bool:
    """Say whether dialogues differ by more than rounding: if not, they tell of no error."""
    return of.standard_error(1.0) > STILL


def _neighbours(study: PlannedStudy) -> Table:
    theta, n_units = study.fitted.log_strengths, study.n_units
    rows = []
    for (a, b), of in zip(study.neighbours, study.contrasts, strict=True):
        difference = float(theta[a] - theta[b])
        least = detectable_difference(of, n_units, level=study.level)
        known = difference > STILL
        row: tuple[Cell, ...] = (
            study.columns.systems[a],
            study.columns.systems[b],
            decimal(difference * ELO_PER_LOG_UNIT, 2),
            decimal(of.standard_error(n_units) * ELO_PER_LOG_UNIT, 2),
            decimal(of.design_effect, 2),
            decimal(least * ELO_PER_LOG_UNIT, 1) if _varies(of) else None,
            _needed(of, difference, study.level) if known else None,
        )
        rows.append(row)
    return Table(
        "neighbours",
        "Neighbours in rank",
        "The smallest true difference that this study finds in 80 of 100 cases, and how many "
        "source dialogues it would take if the true difference were the one seen, which is a "
        "guess at best. The design effect compares the variance with that of as many unrelated "
        "whole wins: agreement inside dialogues raises it, and soft scores, which vary far less "
        "than whole wins, lower it, even to a tenth. Below 1 it does not say that judgments are "
        f"unrelated. At most {MOST_NEIGHBOURS} neighbours, the best ones.",
        (
            Column("first", "System", ColumnKind.SYSTEM),
            Column("second", "Next", ColumnKind.SYSTEM),
            Column("difference", "Difference", ColumnKind.ELO),
            Column("error", "Standard error", ColumnKind.ELO),
            Column("design_effect", "Design effect"),
            Column("detectable", "Detectable", ColumnKind.ELO),
            Column("dialogues", "Source dialogues needed", ColumnKind.COUNT),
        ),
        tuple(rows),
    )


def _single_pairs(study: PlannedStudy) -> Table:
    rho, size = study.correlation, study.mean_cluster
    usable = np.isfinite(rho) and 1.0 + (size - 1.0) * rho > 0.0
    effect = design_effect(size, min(rho, 1.0)) if usable else None
    rows = []
    for share in SHARES:
        with_effect = None if effect is None else judgments_per_pair(share, design_effect=effect)
        points = decimal(float(special.logit(share)) * ELO_PER_LOG_UNIT, 1)
        rows.append((share, points, judgments_per_pair(share), with_effect))
    known = (
        "The correlation of judgments of one pair in one dialogue is not known."
        if effect is None
        else f"Judgments of one pair in one dialogue are correlated by {rho:.2f}, and each is "
        f"one of {size:.1f} in the mean: a design effect of {effect:.2f}."
    )
    return Table(
        "pair",
        "A single pair by itself",
        "How many judgments tell a win probability from one half in 80 of 100 studies, were they "
        f"unrelated, and as they are here. {known} Points are those of whole wins.",
        (
            Column("share", "Win probability", ColumnKind.SHARE),
            Column("elo", "Difference", ColumnKind.ELO),
            Column("independent", "Judgments, unrelated", ColumnKind.COUNT),
            Column("here", "Judgments, as here", ColumnKind.COUNT),
        ),
        tuple(rows),
    )


def _any_time(study: PlannedStudy) -> Table:
    rows = []
    for a, b in study.neighbours:
        scores = study.unit_scores(a, b)
        if not scores.size:
            continue
        found = confidence_sequence(scores, level=study.level)
        low, high = float(found.low[-1]), float(found.high[-1])
        told = low > 0.5 or high < 0.5  # noqa: PLR2004 - one half
        row: tuple[Cell, ...] = (
            study.columns.systems[a],
            study.columns.systems[b],
            len(scores),
            decimal(float(scores.mean())),
            decimal(low),
            decimal(high),
            "yes" if told else "no",
        )
        rows.append(row)
    return Table(
        "any_time",
        "May be looked at any time",
        "The share that a system takes against the next, dialogue by dialogue, where the two were "
        "compared. These intervals hold however often one looks and whenever one stops; those of "
        "the board hold for one look. Dialogues come in the order of their first judgment, and "
        "should have all their judgments before one looks.",
        (
            Column("system", "System", ColumnKind.SYSTEM),
            Column("against", "Against", ColumnKind.SYSTEM),
            Column("n", "Source dialogues", ColumnKind.COUNT),
            Column("value", "Share", ColumnKind.SHARE),
            Column("low", "From", ColumnKind.SHARE),
            Column("high", "To", ColumnKind.SHARE),
            Column("told", "Told apart", ColumnKind.TEXT),
        ),
        tuple(rows),
        Picture.WHISKERS,
    )
