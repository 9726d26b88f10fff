"""A judge calibrated by people, and boards from people, from LLM judges, and from both."""

from dataclasses import dataclass

import numpy as np

from ranking.analyses import AnalysisInputs
from ranking.analyses.common import (
    check_enough,
    decimal,
    difference_of,
    few_dialogues,
)
from ranking.analyses.judged_pairs import (
    Foretold,
    JudgedPairs,
    accuracy_table,
    calibration_table,
    foretell,
    gain_table,
    judged_pairs,
)
from ranking.findings import (
    AnalysisRefusedError,
    Cell,
    Column,
    ColumnKind,
    Findings,
    Picture,
    Table,
)
from ranking.numerics.arrays import Floats
from ranking.numerics.bradley_terry import NotConvergedError
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.elo import CENTRE, ELO_PER_LOG_UNIT, ranks_of, to_elo
from ranking.numerics.prediction_powered import (
    PredictionPowered,
    prediction_powered,
    variance_ratio,
)
from ranking.numerics.tables import WeightedPairs

BOARD_COLUMNS = (
    Column("system", "System", ColumnKind.SYSTEM),
    Column("value", "Elo, people and judges", ColumnKind.ELO),
    Column("low", "From", ColumnKind.ELO),
    Column("high", "To", ColumnKind.ELO),
    Column("rank", "Rank", ColumnKind.COUNT),
    Column("people", "Elo, people alone", ColumnKind.ELO),
    Column("people_low", "From", ColumnKind.ELO),
    Column("people_high", "To", ColumnKind.ELO),
    Column("people_rank", "Rank", ColumnKind.COUNT),
    Column("judges", "Elo, judges alone", ColumnKind.ELO),
    Column("judges_low", "From", ColumnKind.ELO),
    Column("judges_high", "To", ColumnKind.ELO),
    Column("judges_rank", "Rank", ColumnKind.COUNT),
)
SAVED_COLUMNS = (
    Column("pairs", "Pairs that judges judged", ColumnKind.COUNT),
    Column("double", "Of these, people judged too", ColumnKind.COUNT),
    Column("dialogues", "Dialogues with pairs judged by both", ColumnKind.COUNT),
    Column("power", "Weight of the judges", ColumnKind.NUMBER),
    Column("times", "Times as many pairs", ColumnKind.NUMBER),
    Column("effective", "Pairs that people alone would need", ColumnKind.COUNT),
    Column("saved", "Pairs saved", ColumnKind.COUNT),
)


@dataclass(frozen=True)
class Boards:
    """The three fits of the pairs that LLM judges judged, of ``systems`` in their order."""

    systems: tuple[str, ...]
    people: PredictionPowered
    judges: PredictionPowered
    powered: PredictionPowered


def boards(pairs: JudgedPairs, systems: tuple[str, ...]) -> Boards:
    """Fit the pairs that LLM judges judged.

    Raises
    ------
    TooFewDialoguesError, NotConnectedError, NotConvergedError
        As in `prediction_powered`.
    """
    rows = np.isfinite(pairs.by_judges)
    _, unit = np.unique(pairs.unit[rows], return_inverse=True)
    judged, n = pairs.by_judges[rows], len(systems)

    def of(share: Floats) -> WeightedPairs:
        return WeightedPairs(unit, pairs.first[rows], pairs.second[rows], share, 1.0 - share)

    by_people, by_judges = of(pairs.by_people[rows]), of(judged)
    return Boards(
        systems,
        prediction_powered(by_people, judged, n_systems=n, power=0.0),
        prediction_powered(by_judges, judged, n_systems=n, power=0.0),
        prediction_powered(by_people, judged, n_systems=n),
    )


def boards_table(found: Boards, level: float) -> Table:
    """Return the ratings side by side, the best first."""
    sides = [_cells(fit, level) for fit in (found.powered, found.people, found.judges)]
    order = np.argsort(-found.powered.log_strengths, kind="stable")
    rows = tuple(
        (found.systems[at], *(one for side in sides for one in side[at])) for at in order.tolist()
    )
    return Table(
        "boards",
        "People and LLM judges together, and each alone",
        "The first rating uses what judges say of all pairs, corrected by the pairs that people "
        "judged too: it means what people's rating means, with a narrower interval. The rating "
        "of judges alone keeps their bias, and its interval knows nothing of it. Every pair "
        "counts once here, however many judged it. Intervals hold for one system each.",
        BOARD_COLUMNS,
        rows,
        Picture.WHISKERS,
    )


def saved_table(found: Boards) -> Table:
    """Return what the LLM judges are worth in pairs judged by people."""
    powered = found.powered
    times = variance_ratio(found.people, powered)
    effective = round(times * powered.n_double) if np.isfinite(times) else None
    row: tuple[Cell, ...] = (
        powered.n_pairs,
        powered.n_double,
        powered.covariance.n_clusters,
        decimal(powered.power),
        decimal(times),
        effective,
        None if effective is None else effective - powered.n_double,
    )
    return Table(
        "saved",
        "How many judgments by people the judges save",
        "A weight of 0 leaves the judges out, a weight of 1 takes their verdicts for as good as "
        "people's once the bias is corrected. People alone would need that many times as many "
        "judged pairs for ratings as sure (ratio of the summed variances).",
        SAVED_COLUMNS,
        (row,),
    )


def _cells(fit: PredictionPowered, level: float) -> list[tuple[Cell, ...]]:
    """Return rating, interval and rank of each system."""
    elo = to_elo(fit.log_strengths)
    ends = fit.covariance.intervals(fit.log_strengths, level=level)
    low, high = (CENTRE + ELO_PER_LOG_UNIT * end for end in (ends.low, ends.high))
    ratings = zip(elo, low, high, ranks_of(elo).tolist(), strict=True)
    return [(*(round(float(one), 2) for one in row[:3]), row[3]) for row in ratings]


FEWEST_PAIRS = 50
FEWEST_DIALOGUES = 20
SURPRISING = 0.01  # chance of a difference between pairs that people judged and the others
METHOD = (
    "Prediction-powered inference (Angelopoulos et al. 2023, doi:10.1126/science.adi6000; tuned "
    "as in PPI++, arXiv:2311.01453): Bradley-Terry of all pairs by LLM judges, corrected by the "
    "pairs that people judged too, clustered by source dialogue, with t quantiles. It takes those "
    "pairs for a random sample of all. The calibrated judge is a ridge logistic regression on "
    "the judges' verdicts and probabilities, differences in style and the position, "
    "cross-validated by source dialogue."
)


def analyse(inputs: AnalysisInputs) -> Findings:
    """Correct LLM judges by people, and learn what their verdicts mean.

    Raises
    ------
    AnalysisRefusedError
        If people or judges are missing, too few pairs were judged by both, or what people said
        does not place the systems on one scale.
    """
    check_enough(inputs.columns)
    _check_both_kinds(inputs)
    pairs = judged_pairs(inputs)
    _check_double(pairs)
    found = _boards(pairs, inputs.columns.systems)
    foretold = foretell(inputs, pairs)
    level = inputs.method.level
    tables: tuple[Table, ...] = (boards_table(found, level), saved_table(found))
    if foretold is not None:
        tables += tuple(
            table(foretold, level) for table in (accuracy_table, gain_table, calibration_table)
        )
    warnings = (*_of_pairs(pairs, found), *_of_learning(foretold), *_of_method(inputs))
    return Findings(METHOD, tables, warnings)


def _check_both_kinds(inputs: AnalysisInputs) -> None:
    by_judge = inputs.columns.is_judge[inputs.columns.evaluator]
    if not by_judge.any():
        msg = "No LLM judge is among these evaluators, so there is none to calibrate."
        raise AnalysisRefusedError(msg)
    if by_judge.all():
        msg = "No person is among these evaluators, so there is nothing to calibrate judges by."
        raise AnalysisRefusedError(msg)


def _check_double(pairs: JudgedPairs) -> None:
    n, n_units = int(pairs.by_both.sum()), len(np.unique(pairs.unit[pairs.by_both]))
    if n < FEWEST_PAIRS or n_units < FEWEST_DIALOGUES:
        msg = (
            f"Both people and LLM judges judged {n} pairs in {n_units} source dialogues; "
            f"{FEWEST_PAIRS} pairs in {FEWEST_DIALOGUES} are needed."
        )
        raise AnalysisRefusedError(msg)


def _boards(pairs: JudgedPairs, systems: tuple[str, ...]) -> Boards:
    try:
        return boards(pairs, systems)
    except NotConnectedError as error:
        msg = "What people said, or what LLM judges said, does not connect all systems."
        raise AnalysisRefusedError(msg) from error
    except NotConvergedError as error:
        msg = "The pairs that people judged are too few to correct the LLM judges by."
        raise AnalysisRefusedError(msg) from error


def _of_pairs(pairs: JudgedPairs, found: Boards) -> list[str]:
    warnings = []
    alone = int(np.isnan(pairs.by_judges).sum())
    if alone:
        warnings.append(f"Left out are {alone} pairs that no LLM judge judged.")
    if found.powered.n_double == found.powered.n_pairs:
        warnings.append(
            "People judged every pair that LLM judges judged: the judges can add nothing, and "
            "the ratings are those of people alone."
        )
    elif _are_others(pairs):
        warnings.append(
            "The judges are more or less decided about the pairs that people judged than about "
            "the others: they may be no random sample, and then the correction is not for all."
        )
    return [*warnings, *few_dialogues(found.powered.covariance.n_clusters)]


def _are_others(pairs: JudgedPairs) -> bool:
    """Say whether judges are surely more, or less, decided where people judged too."""
    known = np.isfinite(pairs.by_judges)
    decided = np.abs(pairs.by_judges[known] - 0.5)
    difference = difference_of(decided, pairs.unit[known], pairs.by_both[known])
    return difference is not None and difference.p_value() < SURPRISING


def _of_learning(foretold: Foretold | None) -> list[str]:
    if foretold is None:
        return ["People agree on too few pairs to learn what the judges' verdicts mean."]
    warnings = []
    if foretold.n_without_majority:
        warnings.append(
            f"{foretold.n_without_majority} pairs on which people have no majority are left out "
            "of calibration."
        )
    if foretold.n_left:
        warnings.append(
            f"The calibrated judge rests on {len(foretold.won)} pairs drawn at random; "
            f"{foretold.n_left} more have a majority."
        )
    return warnings


def _of_method(inputs: AnalysisInputs) -> list[str]:
    if inputs.method.masses is None:
        return []
    return ["The declared masses of people and judges have no part here: each pair counts once."]
