"""From grouped judgments to ratings: which estimators run, in what order, on what terms."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ranking.groups import GroupedJudgments
from ranking.method import Method
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.bootstrap import BootstrapReplicates, bootstrap_strengths
from ranking.numerics.bradley_terry import (
    BradleyTerryFit,
    NotConvergedError,
    fit_bradley_terry,
)
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.elo import to_elo
from ranking.numerics.intervals import percentile_intervals
from ranking.numerics.ranks import RankIntervals, rank_intervals
from ranking.tallies import Outcomes, outcomes, win_tables

FEWEST_DIALOGUES = 2
FEW_DIALOGUES = 20
MUCH_WITHOUT_MAXIMUM = 0.05


class EstimateRefusedError(Exception):
    """The judgments do not determine the ratings.

    Attributes
    ----------
    components : list of lists of str
        Groups of systems inside which ratings could be given, if that was the trouble.
    """

    def __init__(self, reason: str, components: list[list[str]] | None = None) -> None:
        super().__init__(reason)
        self.components = components or []


@dataclass(frozen=True)
class Estimate:
    """Ratings of ``systems``; every array has shape (n_systems,), Elo figures are in points.

    ``replicates`` are the resamples behind the intervals, for what else is rated with them.
    """

    systems: tuple[str, ...]
    theta: Floats
    elo: Floats
    elo_se: Floats
    elo_low: Floats
    elo_high: Floats
    rank: Integers
    rank_low: Integers
    rank_high: Integers
    outcomes: Outcomes
    replicates: BootstrapReplicates
    diagnostics: dict[str, Any]


def estimate_ratings(judgments: GroupedJudgments, method: Method) -> Estimate:
    """Rate the systems of the grouped judgments.

    Raises
    ------
    EstimateRefusedError
        If the judgments cannot determine the ratings or their intervals, with the reason.
    """
    if len(judgments.dialogues) < FEWEST_DIALOGUES:
        msg = "All judgments are on one source dialogue; an interval needs two or more."
        raise EstimateRefusedError(msg)
    tables = win_tables(judgments, mode=method.strength, slightly=method.slightly, much=method.much)
    try:
        fit = fit_bradley_terry(tables.total())
        replicates = bootstrap_strengths(
            tables,
            fit.log_strengths,
            n_replicates=method.replicates,
            rng=np.random.default_rng(method.seed),
        )
    except NotConnectedError as error:
        raise _not_connected(error, judgments.systems) from error
    except NotConvergedError as error:
        msg = f"The search for the ratings did not end: {error}."
        raise EstimateRefusedError(msg) from error
    return _assemble(judgments, method, fit, replicates)


def point_ratings(judgments: GroupedJudgments, method: Method) -> dict[str, float]:
    """Rate the systems without intervals, as `estimate_ratings` would: Elo points by slug.

    Raises
    ------
    EstimateRefusedError
        If the judgments cannot determine the ratings, with the reason.
    """
    tables = win_tables(judgments, mode=method.strength, slightly=method.slightly, much=method.much)
    try:
        fit = fit_bradley_terry(tables.total())
    except NotConnectedError as error:
        raise _not_connected(error, judgments.systems) from error
    except NotConvergedError as error:
        msg = f"The search for the ratings did not end: {error}."
        raise EstimateRefusedError(msg) from error
    return dict(zip(judgments.systems, map(float, to_elo(fit.log_strengths)), strict=True))


def _not_connected(error: NotConnectedError, systems: tuple[str, ...]) -> EstimateRefusedError:
    components = [[systems[index] for index in group] for group in error.components]
    reason = f"No judgments place these {len(components)} groups of systems on one scale."
    return EstimateRefusedError(reason, components)


def _assemble(
    judgments: GroupedJudgments,
    method: Method,
    fit: BradleyTerryFit,
    replicates: BootstrapReplicates,
) -> Estimate:
    if len(replicates.fitted()) < FEWEST_DIALOGUES:
        msg = "Hardly any resample of the dialogues connects the systems: there is no interval."
        raise EstimateRefusedError(msg)
    elo, resampled = to_elo(fit.log_strengths), to_elo(replicates.fitted())
    interval = percentile_intervals(resampled, level=method.level)
    ranks = rank_intervals(fit.log_strengths, replicates.fitted(), level=method.level)
    return Estimate(
        systems=judgments.systems,
        theta=fit.log_strengths,
        elo=elo,
        elo_se=resampled.std(axis=0, ddof=1),
        # A percentile interval may miss its estimate by a hair; it is never shown so.
        elo_low=np.minimum(interval.low, elo),
        elo_high=np.maximum(interval.high, elo),
        rank=1 + (elo[None, :] > elo[:, None]).sum(axis=1),
        rank_low=ranks.best,
        rank_high=ranks.worst,
        outcomes=outcomes(judgments),
        replicates=replicates,
        diagnostics=_diagnose(judgments, fit, replicates, ranks),
    )


def _diagnose(
    judgments: GroupedJudgments,
    fit: BradleyTerryFit,
    replicates: BootstrapReplicates,
    ranks: RankIntervals,
) -> dict[str, Any]:
    """Say how the computation went, and what a reader should be warned of."""
    warnings = []
    if len(judgments.dialogues) < FEW_DIALOGUES:
        warnings.append(
            f"Only {len(judgments.dialogues)} source dialogues: with fewer than {FEW_DIALOGUES}, "
            "intervals tend to be too narrow."
        )
    if replicates.n_without_maximum > MUCH_WITHOUT_MAXIMUM * replicates.n_replicates:
        warnings.append(
            f"{replicates.n_without_maximum} of {replicates.n_replicates} resamples leave systems "
            "unconnected: intervals rest on the others."
        )
    return {
        "iterations": fit.iterations,
        "replicates": replicates.n_replicates,
        "replicates_without_maximum": replicates.n_without_maximum,
        "rank_critical_value": ranks.critical_value,
        "warnings": warnings,
    }
