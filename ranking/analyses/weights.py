"""Dimensions by weight: boards resampled together, their composites, what weights change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ranking.analyses import AnalysisInputs
from ranking.analyses.boards import FEWEST, resampled
from ranking.analyses.common import (
    RATED,
    best_first,
    check_enough,
    few_dialogues,
    method_of_marks,
    points,
    tabulated,
)
from ranking.findings import AnalysisRefusedError, Column, ColumnKind, Findings, Picture, Table
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.method import Method
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.bootstrap import BootstrapReplicates
from ranking.numerics.composites import (
    Composite,
    JointRatings,
    composite,
    normalised,
    packed,
    sensitivity,
    unpacked,
)
from ranking.numerics.elo import to_elo
from ranking.numerics.few_units import expanded_intervals
from ranking.numerics.simultaneous import effective_units, rank_intervals
from ranking.numerics.strength_mode import StrengthMode

DIGITS = 4  # of an Elo point


@dataclass(frozen=True)
class JointBoards:
    """Elo of the systems that every rated dimension has, resampled together.

    ``ratings`` has the dimensions and the systems in the order of their names here; ``level`` is
    that of the fit's intervals.
    """

    dimensions: tuple[str, ...]
    systems: tuple[str, ...]
    ratings: JointRatings
    level: float

    def as_stored(self) -> dict[str, Any]:
        """Return all of it as values that JSON can hold."""
        deviations = self.ratings.replicates - self.ratings.estimate
        text, step = packed(deviations)
        return {
            "dimensions": list(self.dimensions),
            "systems": list(self.systems),
            "level": self.level,
            "n_units": self.ratings.n_units.tolist(),
            "elo": np.round(self.ratings.estimate, DIGITS).tolist(),
            "deviations": text,
            "step": step,
        }

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "JointBoards":
        """Read what ``as_stored`` wrote."""
        elo = np.array(stored["elo"], dtype=np.float64)
        deviations = unpacked(stored["deviations"], stored["step"], (-1, *elo.shape))
        n_units = np.array(stored["n_units"], dtype=np.int64)
        return cls(
            tuple(stored["dimensions"]),
            tuple(stored["systems"]),
            JointRatings(elo, elo + deviations, n_units),
            stored["level"],
        )


def jointly_rated(
    dimensions: Mapping[str, JudgmentColumns], method: Method
) -> tuple[JointBoards, list[str]]:
    """Rate the systems on each dimension, replicate r drawing the same dialogues for all.

    Returns
    -------
    tuple of JointBoards and list of str
        Elo points have mean 1500 over the systems that all rated dimensions share. The words
        say which dimensions and which systems are left out, and why.

    Raises
    ------
    AnalysisRefusedError
        If fewer than two dimensions can be rated, or they share fewer than two systems.
    """
    found, notes = _rated(dimensions, method)
    if len(found) < FEWEST:
        msg = "Fewer than two dimensions can be rated: there is nothing to weigh."
        raise AnalysisRefusedError(" ".join([msg, *notes]))
    named = {name: dimensions[name].systems for name in found}
    systems = tuple(sorted(set.intersection(*map(set, named.values()))))
    if len(systems) < FEWEST:
        msg = "The dimensions have fewer than two systems in common."
        raise AnalysisRefusedError(msg)
    left_out = sorted(set().union(*named.values()) - set(systems))
    if left_out:
        notes.append(f"Without marks on every dimension, and so left out: {', '.join(left_out)}.")
    places = {name: np.searchsorted(own, systems) for name, own in named.items()}
    ratings = JointRatings(
        estimate=np.stack([to_elo(theta[places[n]]) for n, (theta, _) in found.items()]),
        replicates=np.stack(
            [to_elo(drawn.log_strengths[:, places[n]]) for n, (_, drawn) in found.items()], axis=1
        ),
        n_units=np.stack(
            [
                effective_units(tabulated(dimensions[n], method).unit_weights())[places[n]]
                for n in found
            ]
        ),
    )
    return JointBoards(tuple(found), systems, ratings, method.level), notes


def _rated(
    dimensions: Mapping[str, JudgmentColumns], method: Method
) -> tuple[dict[str, tuple[Floats, BootstrapReplicates]], list[str]]:
    """Return the dimensions that can be rated, over one list of dialogues, and why others not."""
    units = tuple(sorted(set().union(*(columns.units for columns in dimensions.values()))))
    found, notes = dict[str, tuple[Floats, BootstrapReplicates]](), list[str]()
    for name, columns in dimensions.items():
        try:
            check_enough(columns, for_intervals=True)
            found[name] = resampled(columns.over(units), method_of_marks(columns, method))
        except AnalysisRefusedError as refusal:
            notes.append(f"{name} has no weight, for it is not rated: {refusal}")
    return found, notes


N_DRAWS = 10_000
METHOD = (
    "Weighted mean of the Elo of each dimension, rated as on the page of the dimensions. All "
    "dimensions are resampled together: a source dialogue brings its marks on each of them, so "
    "that what they have in common is in the intervals. Those are percentiles over the resamples; "
    "ranks hold for all systems at once. Weights act on Elo points: a dimension on which systems "
    "lie farther apart moves the composite more."
)
SENSITIVITY = (
    Column("system", "System", ColumnKind.SYSTEM),
    Column("first", "First place", ColumnKind.SHARE),
    Column("first_resampled", "First place, dialogues drawn anew too", ColumnKind.SHARE),
    Column("best", "Best rank met", ColumnKind.COUNT),
    Column("worst", "Worst rank met", ColumnKind.COUNT),
    Column("least", "Least Elo", ColumnKind.ELO),
    Column("most", "Most Elo", ColumnKind.ELO),
)


def analyse(inputs: AnalysisInputs) -> Findings:
    """Rate the systems under equal weights, and say what other weights could change.

    What any other weights need is kept with the findings.

    Raises
    ------
    AnalysisRefusedError
        If no dimension was marked, or fewer than two dimensions or systems can be compared.
    """
    if not inputs.dimensions:
        msg = "No judgment marks a dimension of the rubric."
        raise AnalysisRefusedError(msg)
    boards, notes = jointly_rated(inputs.dimensions, inputs.method)
    tables = (equal_board(boards), _sensitivity_table(boards, inputs.method.seed))
    warnings = (*_warnings(inputs, boards), *notes)
    return Findings(METHOD, tables, warnings, kept=boards.as_stored())


def _sensitivity_table(boards: JointBoards, seed: int) -> Table:
    """Return what weights drawn at random make of each system, the likeliest first place first."""
    rng = np.random.default_rng(seed)
    found = sensitivity(boards.ratings, n_draws=N_DRAWS, rng=rng)
    elo = boards.ratings.estimate
    leader = int(np.argmax(elo.mean(axis=0)))
    rows = (
        (
            boards.systems[n],
            round(float(found.first[n]), 4),
            round(float(found.first_resampled[n]), 4),
            int(found.best[n]),
            int(found.worst[n]),
            round(float(elo[:, n].min()), 2),
            round(float(elo[:, n].max()), 2),
        )
        for n in np.lexsort((-elo.mean(axis=0), -found.first))
    )
    caption = (
        f"{N_DRAWS:,} weights drawn at random, all alike likely: how often each system comes first "
        "by the ratings as they are, and if each draw meets one resampled set of dialogues. "
        f"The first place of equal weights stays first under {100 * found.first[leader]:.1f} % of "
        "them. Least and most Elo are what any weights at all can make of a system."
    )
    title = "How much the weights matter"
    return Table("sensitivity", title, caption, SENSITIVITY, tuple(rows))


def _warnings(inputs: AnalysisInputs, boards: JointBoards) -> list[str]:
    n_units = min(len(np.unique(inputs.dimensions[name].unit)) for name in boards.dimensions)
    warnings = [*few_dialogues(n_units)]
    replicates = boards.ratings.replicates
    without = int((~np.isfinite(replicates).all(axis=(1, 2))).sum())
    if without:
        warnings.append(
            f"{without} of {len(replicates)} resamples leave systems unconnected on some "
            "dimension: weights that count it rest on the others."
        )
    if _has_two_scales(inputs, boards):
        warnings.append(
            "Marks have sizes on some dimensions alone: Elo lies farther apart where they have "
            "none, so that those dimensions move the composite more than their weights say."
        )
    return warnings


def _has_two_scales(inputs: AnalysisInputs, boards: JointBoards) -> bool:
    """Say whether some dimensions are rated with whole wins and others with strengths."""
    if inputs.method.strength is StrengthMode.IGNORE:
        return False
    marks = (inputs.dimensions[name].strength for name in boards.dimensions)
    return len({bool((np.abs(strength) > 1).any()) for strength in marks}) > 1


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
            *(points(one[n]) for one in change),
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
    few = ratings.n_units.min(axis=0)
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
        self.best_first = best_first(found.estimate)
        self.place: Integers = np.argsort(self.best_first)

    def cells(self, n: int) -> tuple[str | float | int, ...]:
        """Return the cells of the system at that place of the stored order."""
        ends = (self.elo[n], self.interval.low[n], self.interval.high[n])
        ranks = (int(self.ranks.best[n]), int(self.ranks.worst[n]))
        return (self.systems[n], *map(points, ends), *ranks)


def _check_enough(found: Composite) -> None:
    if len(found.replicates) < FEWEST_REPLICATES:
        msg = "Hardly any resample of the dialogues has ratings on every dimension that counts."
        raise AnalysisRefusedError(msg)
