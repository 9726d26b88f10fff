"""Boards from people alone, from LLM judges alone, and from both, side by side."""

from dataclasses import dataclass

import numpy as np

from ranking.analyses.cells import decimal
from ranking.analyses.judged_pairs import JudgedPairs
from ranking.analyses.outcomes import ranks_of
from ranking.findings import Cell, Column, ColumnKind, Picture, Table
from ranking.numerics.arrays import Floats
from ranking.numerics.elo import CENTRE, ELO_PER_LOG_UNIT, to_elo
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
    ratings = zip(elo, low, high, ranks_of(elo), strict=True)
    return [(*(round(float(one), 2) for one in row[:3]), row[3]) for row in ratings]
