"""How well a judge calibrated by people foretells the majority, beside the judges' majority."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ranking.analyses import AnalysisInputs
from ranking.analyses.common import adjusted_tests, decimal, end_cells, family_of
from ranking.analyses.judged_pairs import JudgedPairs, figures
from ranking.findings import Cell, Column, ColumnKind, Picture, Table
from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.calibrated_judge import N_FOLDS, cross_validated
from ranking.numerics.clustered_means import ClusteredMean, clustered_mean
from ranking.numerics.judge_scores import (
    Ranged,
    clustered_wilson,
    hits,
    squared_errors,
    turned_correlation,
)

MOST_PAIRS = 20_000
FEWEST_PAIRS = 50
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
    Column("p", "p, Benjamini-Hochberg", ColumnKind.P_VALUE),
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

    None where there are fewer than `FEWEST_PAIRS` pairs with a majority, or fewer dialogues
    with any than parts to learn from.
    """
    known = np.flatnonzero(pairs.by_both & (pairs.people_lean != 0))
    if len(known) < FEWEST_PAIRS or len(np.unique(pairs.unit[known])) < N_FOLDS:
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
        f"lower Brier score. {family_of('the gain in each row')}",
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
            *_shares(clustered_wilson(right[part], found.unit[part], level=level)),
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
    ends = (together.value, together.low, together.high)
    return len(found.won), *_shares(right), *_range(brier, level), *(decimal(one) for one in ends)


def _range(mean: ClusteredMean, level: float) -> tuple[Cell, ...]:
    return decimal(mean.mean), *end_cells(mean, level)


def _shares(one: Ranged) -> tuple[Cell, ...]:
    return tuple(decimal(end) for end in (one.value, one.low, one.high))
