"""The ranking under weights of the dimensions, from what is stored of their boards."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ranking.analyses.common import RATED
from ranking.analyses.joint_boards import JointBoards
from ranking.findings import AnalysisRefusedError, Column, ColumnKind, Picture, Table
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.composites import Composite, composite, normalised
from ranking.numerics.few_units import expanded_intervals
from ranking.numerics.ranks import rank_intervals

FEWEST_REPLICATES = 2
BESIDE = (
    Column("equal", "Elo, equal weights", ColumnKind.ELO),
    Column("equal_rank_low", "Best rank, equal weights", ColumnKind.COUNT),
    Column("equal_rank_high", "Worst rank, equal weights", ColumnKind.COUNT),
    Column("places", "Places gained", ColumnKind.COUNT),
    Column("change", "Elo gained", ColumnKind.ELO),
    Column("change_low", "gained, from", ColumnKind.ELO),
    Column("change_high", "gained, to", ColumnKind.ELO),
)
SHOWN = ("system", "value", "low", "high", "rank_low", "rank_high", "equal", "places")
GAINED = ("system", "change", "change_low", "change_high", "equal_rank_low", "equal_rank_high")
ENDS = {"change": "value", "change_low": "low", "change_high": "high"}
BOARD_CAPTION = (
    "Weighted mean of Elo over the dimensions. Each interval holds for one system; the best and "
    "worst ranks hold for all systems together."
)
PLACES_CAPTION = (
    "Beside it Elo with equal weights. Places gained are of the order shown, below 0 where a "
    "system falls."
)
GAINED_CAPTION = (
    "What each system gains over equal weights. Where the interval holds 0, other dialogues might "
    "undo it. The ranks are those with equal weights."
)


def weighed_boards(boards: JointBoards, weights: Mapping[str, float]) -> Table:
    """Return the board under these weights with that under equal weights beside it, best first.

    Parameters
    ----------
    boards : JointBoards
        Of the dimensions.
    weights : mapping of str to float
        By dimension, at least 0; a dimension that is not named has none. Only ratios matter.

    Raises
    ------
    ValueError
        If a weight is negative or not finite, or all are 0.
    AnalysisRefusedError
        If hardly any resample has ratings on every dimension that counts.
    """
    given = np.array([weights.get(name, 0.0) for name in boards.dimensions])
    chosen, equal = (_Board(boards, each) for each in (given, np.ones_like(given)))
    change = _change(boards, given)
    rows = (
        (
            *chosen.cells(n),
            *equal.cells(n)[1:2],
            *equal.cells(n)[4:],
            int(equal.place[n] - chosen.place[n]),
            *(_points(one[n]) for one in change),
        )
        for n in chosen.best_first
    )
    caption = f"{BOARD_CAPTION} {PLACES_CAPTION}"
    title = "The ranking under these weights"
    return Table("weighted", title, caption, RATED + BESIDE, tuple(rows), Picture.WHISKERS)


def in_two(whole: Table) -> tuple[Table, Table]:
    """Return the board under weights, and what they change, as two tables of fewer columns."""
    board = _columns_of(whole, SHOWN)
    gained = _columns_of(whole, GAINED)
    columns = tuple(replace(one, key=ENDS.get(one.key, one.key)) for one in gained.columns)
    title = "What these weights change"
    return board, Table("gained", title, GAINED_CAPTION, columns, gained.rows, gained.picture)


def _columns_of(table: Table, keys: Sequence[str]) -> Table:
    known = [column.key for column in table.columns]
    places = [known.index(key) for key in keys]
    rows = tuple(tuple(row[n] for n in places) for row in table.rows)
    return replace(table, columns=tuple(table.columns[n] for n in places), rows=rows)


def equal_board(boards: JointBoards) -> Table:
    """Return the board under equal weights, best first; it has the refusal of the others."""
    board = _Board(boards, np.ones(len(boards.dimensions)))
    rows = tuple(board.cells(n) for n in board.best_first)
    return Table(
        "equal", "Every dimension weighs the same", BOARD_CAPTION, RATED, rows, Picture.WHISKERS
    )


def _change(boards: JointBoards, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Return what each system gains over equal weights, and its interval, from the same draws."""
    ratings = boards.ratings
    moved = normalised(weights) - 1.0 / ratings.n_scales
    gained = np.einsum("d,rdk->rk", moved, ratings.replicates)
    gained = gained[np.isfinite(gained).all(axis=1)]
    estimate = moved @ ratings.estimate
    few = int(ratings.n_units.min())
    interval = expanded_intervals(estimate, gained, n_units=few, level=boards.level)
    return estimate, interval.low, interval.high


class _Board:
    """One composite with its intervals and ranks."""

    def __init__(self, boards: JointBoards, weights: Floats) -> None:
        found = composite(boards.ratings, weights)
        _check_enough(found)
        self.systems = boards.systems
        self.elo = found.estimate
        n_units, level = found.n_units, boards.level
        self.interval = expanded_intervals(
            found.estimate, found.replicates, n_units=n_units, level=level
        )
        self.ranks = rank_intervals(found.estimate, found.replicates, n_units=n_units, level=level)
        self.best_first = [int(n) for n in np.argsort(-found.estimate, kind="stable")]
        self.place: Integers = np.argsort(self.best_first)

    def cells(self, n: int) -> tuple[str | float | int, ...]:
        """Return the cells of the system at that place of the stored order."""
        points = (self.elo[n], self.interval.low[n], self.interval.high[n])
        ranks = (int(self.ranks.best[n]), int(self.ranks.worst[n]))
        return (self.systems[n], *map(_points, points), *ranks)


def _check_enough(found: Composite) -> None:
    if len(found.replicates) < FEWEST_REPLICATES:
        msg = "Hardly any resample of the dialogues has ratings on every dimension that counts."
        raise AnalysisRefusedError(msg)


def _points(points: float) -> float:
    return round(float(points), 2)
