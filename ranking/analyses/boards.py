"""Ratings of judgments given one by one, as the fit behind an analysis has them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ranking.analyses.common import check_enough, tabulated
from ranking.findings import AnalysisRefusedError
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.method import Method
from ranking.numerics.arrays import Floats
from ranking.numerics.bootstrap import BootstrapReplicates, bootstrap_strengths
from ranking.numerics.bradley_terry import NotConvergedError, fit_bradley_terry
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.elo import to_elo
from ranking.numerics.few_units import few_units_warning

FEWEST = 2


@dataclass(frozen=True)
class AnalysisBoard:
    """Ratings in Elo points, with their resamples, of ``systems`` in the order of the columns.

    ``elo`` has shape (n_systems,), ``resampled`` (n_replicates, n_systems); replicates without a
    maximum are left out and counted.
    """

    systems: tuple[str, ...]
    elo: Floats
    resampled: Floats
    n_units: int
    n_without_maximum: int

    @cached_property
    def best_first(self) -> list[int]:
        """Return the indices of the systems from the best to the last."""
        return [int(index) for index in np.argsort(-self.elo, kind="stable")]


@dataclass(frozen=True)
class ResampledStrengths:
    """Log strengths of the systems of the columns, and their resamples, with or without maximum.

    Columns with as many dialogues draw the same ones, replicate by replicate.
    """

    log_strengths: Floats
    drawn: BootstrapReplicates
    n_units: int


def rated(columns: JudgmentColumns, method: Method) -> AnalysisBoard:
    """Rate the systems, and resample the dialogues, as the fit of that method does.

    Raises
    ------
    AnalysisRefusedError
        If there are too few systems or dialogues, or the judgments do not connect the systems.
    """
    found = resampled(columns, method)
    elo, replicates = to_elo(found.log_strengths), to_elo(found.drawn.fitted())
    without = found.drawn.n_without_maximum
    return AnalysisBoard(columns.systems, elo, replicates, found.n_units, without)


def resampled(columns: JudgmentColumns, method: Method) -> ResampledStrengths:
    """Return what `rated` rests on; it has the same errors."""
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
    return ResampledStrengths(start, drawn, tables.n_units)


def board_warnings(board: AnalysisBoard) -> tuple[str, ...]:
    """Say how few dialogues there are, and how many resamples have no ratings, if any."""
    few = few_units_warning(board.n_units)
    return (() if few is None else (few,)) + few_resamples_warning(board)


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
