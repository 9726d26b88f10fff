"""How severe people and judges are, and what becomes of it over their judgments."""

from dataclasses import dataclass

import numpy as np

from ranking.analyses.bias.cells import P_VALUE, PEOPLE, adjusted, kinds
from ranking.analyses.common import difference_of, ends, family_of, interval_cells
from ranking.findings import Cell, Column, ColumnKind, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.sources import JudgmentFacts
from ranking.numerics.agreement.majority import NO_MAJORITY, majorities
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.clustered_means import ClusteredMean, TooFewDialoguesError
from ranking.numerics.partial import NothingLeftError, partial_slope

FEWEST_PLACES = 6  # judgments that make a first and a last third
STEP = 100  # judgments
FIGURE = Column("figure", "Figure", ColumnKind.TEXT)


@dataclass(frozen=True)
class JudgmentFigure:
    """A figure of each judgment, shape (n_judgments,), NaN where there is none."""

    label: str
    values: Floats


def severity_table(columns: JudgmentColumns, level: float) -> Table | None:
    """Compare how often and how strongly people and judges prefer; None without both."""
    is_judge = columns.is_judge[columns.evaluator]
    if not is_judge.any() or is_judge.all():
        return None
    figures = (_ties(columns), _strength(columns))
    found, means = [], []
    for figure in figures:
        rows = np.flatnonzero(np.isfinite(figure.values))
        values = figure.values[rows]
        found.append(difference_of(values, columns.unit[rows], is_judge[rows]))
        means.append([_mean(values[chosen]) for chosen in (~is_judge[rows], is_judge[rows])])
    parts = zip(figures, means, found, adjusted(found), strict=True)
    return Table(
        "severity",
        "How severe people and judges are",
        "Who ties often sees no difference where others see one; who gives high strengths sees "
        "large ones. Single evaluators are compared by the analysis of evaluators in the model. "
        f"{family_of('the difference in each row')}",
        (
            FIGURE,
            Column("people", "People"),
            Column("judges", "LLM judges"),
            Column("value", "Judges less people"),
            *ends(level),
            P_VALUE,
        ),
        tuple((one.label, *m, *interval_cells(gap, level), p) for one, m, gap, p in parts),
    )


def drift_table(columns: JudgmentColumns, facts: JudgmentFacts, level: float) -> Table | None:
    """Compare the first third of each evaluator's judgments with the last; None if too few."""
    third = _thirds(columns, facts.place)
    figures = all_figures(columns, facts)
    heads, found = list[tuple[Cell, ...]](), []
    for name, chosen in kinds(columns):
        for figure in figures:
            rows = np.flatnonzero(chosen & np.isin(third, (0, 2)) & np.isfinite(figure.values))
            values, is_last = figure.values[rows], third[rows] == 2  # noqa: PLR2004 - the third
            gap = difference_of(values, columns.unit[rows], is_last) if len(rows) else None
            if gap is not None:
                parts = (_mean(values[~is_last]), _mean(values[is_last]))
                heads.append((name, figure.label, len(rows), *parts))
                found.append(gap)
    if not found:
        return None
    parts_of = zip(heads, found, adjusted(found), strict=True)
    return Table(
        "drift",
        "From the first third to the last",
        "Each evaluator's judgments in the order in which they were given. Agreement is with what "
        "most of the other answers to the same pair say, where most say one thing. "
        f"{family_of('the difference in each row')}",
        (
            Column("kind", "Evaluators", ColumnKind.TEXT),
            FIGURE,
            Column("judgments", "Judgments", ColumnKind.COUNT),
            Column("first", "First third"),
            Column("last", "Last third"),
            Column("value", "Difference"),
            *ends(level),
            P_VALUE,
        ),
        tuple((*head, *interval_cells(gap, level), p) for head, gap, p in parts_of),
    )


def fatigue_table(columns: JudgmentColumns, facts: JudgmentFacts, level: float) -> Table | None:
    """Return what changes with each further judgment of a person; None if nothing can."""
    is_person = ~columns.is_judge[columns.evaluator]
    heads, found = list[tuple[Cell, ...]](), []
    for figure in all_figures(columns, facts):
        rows = np.flatnonzero(is_person & np.isfinite(figure.values))
        slope = _slope(columns, figure.values, facts.place, rows)
        if slope is not None:
            n_people = len(np.unique(columns.evaluator[rows]))
            heads.append((figure.label, len(rows), n_people))
            found.append(slope)
    if not found:
        return None
    parts = zip(heads, found, adjusted(found), strict=True)
    return Table(
        "fatigue",
        f"What changes with {STEP} judgments more",
        f"{PEOPLE} alone, each compared with himself or herself. Tired people may agree less, tie "
        "more and take less time; those who learn the task take less time, too, and agree more. "
        f"{family_of('the change in each row')}",
        (
            FIGURE,
            Column("judgments", "Judgments", ColumnKind.COUNT),
            Column("people", PEOPLE, ColumnKind.COUNT),
            Column("value", f"Change with {STEP} judgments"),
            *ends(level),
            P_VALUE,
        ),
        tuple((*h, *interval_cells(one, level, times=STEP), p) for h, one, p in parts),
    )


def all_figures(columns: JudgmentColumns, facts: JudgmentFacts) -> tuple[JudgmentFigure, ...]:
    """Return agreement, ties, strength and time of each judgment."""
    seconds = np.where(facts.seconds > 0.0, facts.seconds, np.nan)
    return (
        JudgmentFigure("Agreement with the majority, share", agreement(columns)),
        _ties(columns),
        _strength(columns),
        JudgmentFigure("Seconds, natural logarithm", np.log(seconds)),
    )


def agreement(columns: JudgmentColumns) -> Floats:
    """Return 1 where a judgment says what most others say of its pair, else 0.

    NaN where most others say nothing in particular. An evaluator's other answers to the pair, as
    in the other order, are not among the others. Cost O(n log n).
    """
    side = np.sign(columns.strength) + 1
    counts = np.zeros((columns.n_items, 3), dtype=np.int64)
    np.add.at(counts, (columns.item, side), 1)
    key = columns.item * len(columns.evaluators) + columns.evaluator
    keys, place = np.unique(key, return_inverse=True)
    own = np.zeros((len(keys), 3), dtype=np.int64)
    np.add.at(own, (place, side), 1)
    most = majorities(counts[columns.item] - own[place])
    agrees: Floats = np.where(most == NO_MAJORITY, np.nan, (most == side).astype(np.float64))
    return agrees


def _ties(columns: JudgmentColumns) -> JudgmentFigure:
    return JudgmentFigure("Ties, share", (columns.strength == 0).astype(np.float64))


def _strength(columns: JudgmentColumns) -> JudgmentFigure:
    size = np.abs(columns.strength).astype(np.float64)
    return JudgmentFigure(
        "Strength where there is a winner, 1 to 5", np.where(size > 0, size, np.nan)
    )


def _thirds(columns: JudgmentColumns, place: Integers) -> Integers:
    """Return the third of its evaluator's judgments that each is in; -1 where they are too few."""
    n = np.bincount(columns.evaluator, minlength=len(columns.evaluators))[columns.evaluator]
    return np.where(n >= FEWEST_PLACES, 3 * place // n, -1)


def _slope(
    columns: JudgmentColumns, values: Floats, place: Integers, rows: Integers
) -> ClusteredMean | None:
    """Return the slope of a figure on the place, each person with a level of their own."""
    if not len(rows):
        return None
    who = columns.evaluator[rows]
    y, x = (_within(one, who) for one in (values[rows], place[rows].astype(np.float64)))
    try:
        return partial_slope(y, x, np.empty((len(rows), 0)), columns.unit[rows])
    except (NothingLeftError, TooFewDialoguesError):
        return None


def _within(values: Floats, group: Integers) -> Floats:
    """Take the mean of its group from each value."""
    n = np.maximum(np.bincount(group), 1)
    return values - (np.bincount(group, weights=values) / n)[group]


def _mean(values: Floats) -> float | None:
    return round(float(values.mean()), 4) if len(values) else None
