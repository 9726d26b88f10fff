"""Ratings of judgments given one by one, as the fit behind an analysis has them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ranking.analyses.common import best_first, check_enough, few_dialogues, tabulated
from ranking.findings import AnalysisRefusedError
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.method import Method
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.bootstrap import BootstrapReplicates, bootstrap_strengths
from ranking.numerics.bradley_terry import NotConvergedError, fit_bradley_terry
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.elo import to_elo
from ranking.numerics.simultaneous import effective_units

FEWEST = 2


@dataclass(frozen=True)
class AnalysisBoard:
    """Ratings in Elo points, with their resamples, of ``systems`` in the order of the columns.

    ``elo`` has shape (n_systems,), ``resampled`` (n_replicates, n_systems); replicates without a
    maximum are left out and counted. ``units_of_systems`` says what the dialogues of each system
    are worth (`effective_units`).
    """

    systems: tuple[str, ...]
    elo: Floats
    resampled: Floats
    n_units: int
    units_of_systems: Integers
    n_without_maximum: int

    @cached_property
    def best_first(self) -> list[int]:
        """Return the indices of the systems from the best to the last."""
        return best_first(self.elo)


def rated(columns: JudgmentColumns, method: Method) -> AnalysisBoard:
    """Rate the systems, and resample the dialogues, as the fit of that method does.

    Raises
    ------
    AnalysisRefusedError
        If there are too few systems or dialogues, or the judgments do not connect the systems.
    """
    log_strengths, drawn = resampled(columns, method)
    return AnalysisBoard(
        columns.systems,
        to_elo(log_strengths),
        to_elo(drawn.fitted()),
        len(columns.units),
        effective_units(tabulated(columns, method).unit_weights()),
        drawn.n_without_maximum,
    )


def resampled(columns: JudgmentColumns, method: Method) -> tuple[Floats, BootstrapReplicates]:
    """Return the log strengths that `rated` rests on, and their resamples; it has its errors.

    Columns with as many dialogues draw the same ones, replicate by replicate.
    """
    check_enough(columns, for_intervals=True)
    tables = tabulated(columns, method)
    try:
        start = fit_bradley_terry(tables.total()).log_strengths
        drawn = bootstrap_strengths(
            tables,
            start,
            n_replicates=method.replicates,
            rng=np.random.default_rng(method.seed),
        )
    except NotConnectedError as error:
        msg = f"No judgments place {len(error.components)} groups of systems on one scale."
        raise AnalysisRefusedError(msg) from error
    except NotConvergedError as error:
        msg = f"The search for the ratings did not end: {error}."
        raise AnalysisRefusedError(msg) from error
    if len(drawn.fitted()) < FEWEST:
        msg = "Hardly any resample of the dialogues connects the systems: there is no interval."
        raise AnalysisRefusedError(msg)
    return start, drawn


def board_warnings(board: AnalysisBoard) -> tuple[str, ...]:
    """Say how few dialogues there are, and how many resamples have no ratings, if any."""
    return few_dialogues(board.n_units) + few_resamples_warning(board)


def few_resamples_warning(board: AnalysisBoard) -> tuple[str, ...]:
    """Say how many resamples have no ratings, if any."""
    if not board.n_without_maximum:
        return ()
    n = board.n_without_maximum + len(board.resampled)
    warning = (
        f"{board.n_without_maximum} of {n} resamples leave systems unconnected: what is shown "
        "rests on the others."
    )
    return (warning,)
