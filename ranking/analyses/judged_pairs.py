"""Pairs as people and LLM judges judged them, and a judge calibrated by people."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ranking.analyses import AnalysisInputs
from ranking.analyses.common import (
    P_VALUE,
    adjusted_tests,
    decimal,
    end_cells,
    estimate_cells,
    family_of,
    means_by,
    relative,
)
from ranking.findings import AnalysisRefusedError, Cell, Column, ColumnKind, Picture, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.calibrated_judge import (
    N_FOLDS,
    clustered_wilson,
    cross_validated,
    hits,
    squared_errors,
    turned_correlation,
    verdict_figures,
)
from ranking.numerics.clustered_means import ClusteredMean, clustered_mean
from ranking.numerics.strength import STRONGEST, Shares, shares


@dataclass(frozen=True)
class JudgedPairs:
    """What was said of each pair; arrays of shape (n_items,).

    Attributes
    ----------
    unit, first, second : integer arrays
        As in `JudgmentColumns`.
    by_people, by_judges : float arrays
        Share (0 to 1) given to the first completion, by the strength mode of the fit; NaN where
        nobody of that kind judged.
    people_lean, judges_lean : integer arrays
        1 where more of them preferred the first, -1 the second, 0 where neither.
    """

    unit: Integers
    first: Integers
    second: Integers
    by_people: Floats
    by_judges: Floats
    people_lean: Integers
    judges_lean: Integers

    @property
    def by_both(self) -> Booleans:
        """Say which pairs both people and judges judged."""
        both: Booleans = ~np.isnan(self.by_people + self.by_judges)
        return both


def judged_pairs(inputs: AnalysisInputs) -> JudgedPairs:
    """Put the judgments of each pair together, those of people and of judges apart."""
    columns = inputs.columns
    _, row = np.unique(columns.item, return_index=True)
    by_judge = columns.is_judge[columns.evaluator]
    split = shares(columns.strength, inputs.method.strength)
    return JudgedPairs(
        columns.unit[row],
        columns.first[row],
        columns.second[row],
        _share(columns, split, ~by_judge),
        _share(columns, split, by_judge),
        _lean(columns, ~by_judge),
        _lean(columns, by_judge),
    )


def figures(inputs: AnalysisInputs) -> Floats:
    """Return what the calibrated judge learns from, shape (n_items, n_figures).

    The verdicts of each judge, the judges' own probabilities, how the two texts differ in style,
    and where people saw the first; each changes its sign when the pair is turned round, and is
    0 where it is not known. What is 0 throughout is left out.
    """
    parts = [
        verdict_figures(_verdicts(inputs.columns)),
        _probabilities(inputs),
        _style(inputs.columns),
        _position(inputs.columns),
    ]
    found = np.hstack(parts)
    kept: Floats = found[:, found.any(axis=0)]
    return kept


def _share(columns: JudgmentColumns, split: Shares, rows: Booleans) -> Floats:
    first, second = (_sums(columns, part, rows) for part in (split.first, split.second))
    total = first + second
    share: Floats = np.full(total.shape, np.nan)
    np.divide(first, total, out=share, where=total > 0.0)
    return share


def _lean(columns: JudgmentColumns, rows: Booleans) -> Integers:
    ahead = _sums(columns, np.sign(columns.strength).astype(np.float64), rows)
    return np.sign(ahead).astype(np.int64)


def _sums(columns: JudgmentColumns, values: Floats, rows: Booleans) -> Floats:
    sums = np.bincount(columns.item[rows], values[rows], minlength=columns.n_items)
    return sums.astype(np.float64)


def _means(columns: JudgmentColumns, values: Floats, rows: Booleans) -> Floats:
    """Return the mean over some judgments of each pair, NaN where there are none."""
    return means_by(columns.item[rows], values[rows], columns.n_items)


def _verdicts(columns: JudgmentColumns) -> Floats:
    """Return each judge's mean signed strength, -1 to 1, shape (n_items, n_judges)."""
    strength = columns.strength / STRONGEST
    judges = np.flatnonzero(columns.is_judge)
    said = [_means(columns, strength, columns.evaluator == judge) for judge in judges]
    return np.column_stack(said)


def _probabilities(inputs: AnalysisInputs) -> Floats:
    """Return the mean of the judges' own probabilities, -1 to 1, shape (n_items, 1)."""
    columns = inputs.columns
    try:
        probability = inputs.sources.judgments().probability
    except AnalysisRefusedError:
        return np.zeros((columns.n_items, 1))
    is_known = np.isfinite(probability) & columns.is_judge[columns.evaluator]
    known = _means(columns, np.nan_to_num(2.0 * probability - 1.0), is_known)
    return np.nan_to_num(known)[:, None]


def _style(columns: JudgmentColumns) -> Floats:
    """Return (a - b) / (a + b) of each figure of style, shape (n_items, n_features)."""
    if columns.features is None:
        return np.zeros((columns.n_items, 0))
    return np.nan_to_num(relative(columns.features[:, 0], columns.features[:, 1]))


def _position(columns: JudgmentColumns) -> Floats:
    """Return where people saw the first completion, -1 to 1, shape (n_items, 1)."""
    by_people = ~columns.is_judge[columns.evaluator]
    shown = _means(columns, columns.shown.astype(np.float64), by_people)
    return np.nan_to_num(shown)[:, None]


MOST_PAIRS = 20_000
FEWEST_FORETOLD = 50
N_BINS = 10
SHARE = ColumnKind.SHARE
ACCURACY_COLUMNS = (
    Column("judge", "Who foretells", ColumnKind.TEXT),
    Column("n", "Pairs", ColumnKind.COUNT),
    Column("accuracy", "Right", SHARE),
    Column("low", "From", SHARE),
    Column("high", "To", SHARE),
    Column("brier", "Brier score", ColumnKind.NUMBER),
    Column("brier_low", "From", ColumnKind.NUMBER),
    Column("brier_high", "To", ColumnKind.NUMBER),
    Column("correlation", "Correlation with people's shares", ColumnKind.NUMBER),
    Column("correlation_low", "From", ColumnKind.NUMBER),
    Column("correlation_high", "To", ColumnKind.NUMBER),
)
GAIN_COLUMNS = (
    Column("figure", "Figure", ColumnKind.TEXT),
    Column("gain", "Calibrated less majority", ColumnKind.NUMBER),
    Column("low", "From", ColumnKind.NUMBER),
    Column("high", "To", ColumnKind.NUMBER),
    P_VALUE,
)
CALIBRATION_COLUMNS = (
    Column("bin", "Part", ColumnKind.TEXT),
    Column("n", "Pairs", ColumnKind.COUNT),
    Column("x", "Foretold", SHARE),
    Column("y", "Came true", SHARE),
    Column("low", "From", SHARE),
    Column("high", "To", SHARE),
)


@dataclass(frozen=True)
class Foretold:
    """Pairs with a majority of people, and what is foretold of each; shape (n_pairs,).

    ``calibrated`` and ``plain`` are probabilities of the first completion, ``majority`` is 1, 0
    or 0.5 as most LLM judges have it, ``share`` is what people gave the first.
    ``n_without_majority`` counts pairs left out, ``n_left`` those beyond `MOST_PAIRS`.
    """

    unit: Integers
    won: Booleans
    share: Floats
    calibrated: Floats
    plain: Floats
    majority: Floats
    n_without_majority: int
    n_left: int


def foretell(inputs: AnalysisInputs, pairs: JudgedPairs) -> Foretold | None:
    """Learn from people, and foretell what they say of dialogues that were not learned from.

    None where there are fewer than `FEWEST_FORETOLD` pairs with a majority, or fewer dialogues
    with any than parts to learn from.
    """
    known = np.flatnonzero(pairs.by_both & (pairs.people_lean != 0))
    if len(known) < FEWEST_FORETOLD or len(np.unique(pairs.unit[known])) < N_FOLDS:
        return None
    rng = np.random.default_rng(inputs.method.seed)
    rows = np.sort(rng.permutation(known)[:MOST_PAIRS])
    unit, won = pairs.unit[rows], pairs.people_lean[rows] > 0
    return Foretold(
        unit,
        won,
        pairs.by_people[rows],
        cross_validated(figures(inputs)[rows], won, unit),
        pairs.by_judges[rows],
        (1.0 + pairs.judges_lean[rows]) / 2.0,
        int(pairs.by_both.sum()) - len(known),
        len(known) - len(rows),
    )


def accuracy_table(found: Foretold, level: float) -> Table:
    """Return how often each is right, and how far off."""
    rows = (
        ("Judge calibrated by people", *_scores(found, found.calibrated, found.calibrated, level)),
        ("Majority of LLM judges", *_scores(found, found.majority, found.plain, level)),
    )
    return Table(
        "accuracy",
        "Who foretells the majority of people?",
        "Pairs on which people have a majority; ties are left out. Even odds, and a tie of the "
        "judges, are right half the time. The Brier score is the mean squared distance of "
        "probability and outcome: 0 is perfect, 0.25 a coin. For the judges it takes the share "
        "that they give to a completion for its probability.",
        ACCURACY_COLUMNS,
        rows,
    )


def gain_table(found: Foretold, level: float) -> Table:
    """Return how much better the calibrated judge is, pair by pair."""
    right = hits(found.calibrated, found.won) - hits(found.majority, found.won)
    errors = (squared_errors(one, found.won) for one in (found.calibrated, found.plain))
    calibrated, plain = errors
    gains = [clustered_mean(one, found.unit) for one in (right, calibrated - plain)]
    names = ("Right, share of pairs", "Brier score")
    rows = tuple(
        (name, *_range(one, level), None if p is None else float(f"{p:.3g}"))
        for name, one, p in zip(names, gains, adjusted_tests(gains), strict=True)
    )
    return Table(
        "gain",
        "What calibration gains",
        "The same pairs, calibrated less plain majority. More pairs right is better, and so is a "
        "lower Brier score. Where judges say nothing of people, some 9 in 100 studies show a gain "
        "or a loss in pairs right at 0.05: pairs share what was learned. "
        f"{family_of('the gain in each row')}",
        GAIN_COLUMNS,
        rows,
    )


def calibration_table(found: Foretold, level: float) -> Table:
    """Return how often what is foretold with some probability comes true."""
    sure = np.maximum(found.calibrated, 1.0 - found.calibrated)
    right = hits(found.calibrated, found.won)
    parts = np.array_split(np.argsort(sure, kind="stable"), N_BINS)
    rows = tuple(
        (
            f"{number} of {N_BINS}",
            len(part),
            decimal(sure[part].mean()),
            *estimate_cells(clustered_wilson(right[part], found.unit[part], level=level)),
        )
        for number, part in enumerate(parts, start=1)
    )
    return Table(
        "calibration",
        "Are its probabilities right?",
        "Pairs from the least to the most certain, in ten parts of one size. Foretold is the mean "
        "probability of the likelier completion; on the diagonal it comes true as often as that.",
        CALIBRATION_COLUMNS,
        rows,
        Picture.POINTS,
    )


def _scores(found: Foretold, choice: Floats, probability: Floats, level: float) -> Sequence[Cell]:
    right = clustered_wilson(hits(choice, found.won), found.unit, level=level)
    brier = clustered_mean(squared_errors(probability, found.won), found.unit)
    together = turned_correlation(probability, found.share, found.unit, level=level)
    return (
        len(found.won),
        *estimate_cells(right),
        *_range(brier, level),
        *estimate_cells(together),
    )


def _range(mean: ClusteredMean, level: float) -> tuple[Cell, ...]:
    return decimal(mean.mean), *end_cells(mean, level)
