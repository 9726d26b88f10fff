"""From grouped judgments to ratings: which estimators run, in what order, on what terms."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ranking.judgments.groups import NO_PAIRS, GroupedJudgments
from ranking.judgments.method import Method
from ranking.judgments.tallies import Outcomes, outcomes, win_tables
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.bootstrap import BootstrapReplicates, bootstrap_strengths
from ranking.numerics.bradley_terry import BradleyTerryFit, NotConvergedError, fit_bradley_terry
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.elo import ELO_PER_LOG_UNIT, ranks_of, to_elo
from ranking.numerics.few_units import (
    FEW_UNITS,
    TOO_FEW_UNITS,
    expanded_intervals,
    robust_covariance,
)
from ranking.numerics.simultaneous import (
    RankIntervals,
    effective_units,
    joint_intervals,
    rank_intervals,
    tiers,
)
from ranking.numerics.tables import WinTables

FEWEST_DIALOGUES = 2
FEW_OF_A_SYSTEM = 10
"""Dialogues: resamples of fewer hardly vary, so that their spread says too little."""
MUCH_WITHOUT_MAXIMUM = 0.05


class EstimateRefusedError(Exception):
    """The judgments do not determine the ratings.

    Attributes
    ----------
    components : list of lists of str
        Groups of systems inside which ratings could be given, if that was the trouble.
    joining : list of dicts
        Judgments that would make one group of them: the slug of the ``winner`` of a share, that
        of the ``loser``, and ``is_either_way`` where each needs a share from the other.
    """

    def __init__(
        self,
        reason: str,
        components: list[list[str]] | None = None,
        joining: list[dict[str, Any]] | None = None,
    ) -> None:
        super().__init__(reason)
        self.components = components or []
        self.joining = joining or []


@dataclass(frozen=True)
class Estimate:
    """Ratings of ``systems``; every array has shape (n_systems,), Elo figures are in points.

    ``elo_low`` and ``elo_high`` hold system by system, ``joint_low`` and ``joint_high`` for all
    at once; ``tier`` follows from the latter. ``sandwich_se`` is the error in closed form beside
    that of the resamples; not a number where there is none. ``replicates`` are the resamples
    behind the intervals, for what else is rated with them.
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
    joint_low: Floats
    joint_high: Floats
    tier: Integers
    sandwich_se: Floats
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
    _check_pairs(judgments)
    tables = win_tables(judgments, method)
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
    return _assemble(judgments, method, tables, fit, replicates)


def point_ratings(judgments: GroupedJudgments, method: Method) -> dict[str, float]:
    """Rate the systems without intervals, as `estimate_ratings` would: Elo points by slug.

    Raises
    ------
    EstimateRefusedError
        If the judgments cannot determine the ratings, with the reason.
    """
    _check_pairs(judgments)
    tables = win_tables(judgments, method)
    try:
        fit = fit_bradley_terry(tables.total())
    except NotConnectedError as error:
        raise _not_connected(error, judgments.systems) from error
    except NotConvergedError as error:
        msg = f"The search for the ratings did not end: {error}."
        raise EstimateRefusedError(msg) from error
    return dict(zip(judgments.systems, map(float, to_elo(fit.log_strengths)), strict=True))


def _check_pairs(judgments: GroupedJudgments) -> None:
    if judgments.alone is not None and not len(judgments.counts.n):
        raise EstimateRefusedError(NO_PAIRS)


def _not_connected(error: NotConnectedError, systems: tuple[str, ...]) -> EstimateRefusedError:
    components = [[systems[index] for index in group] for group in error.components]
    reason = f"No judgments place these {len(components)} groups of systems on one scale."
    joining = [
        {
            "winner": systems[pair.winner],
            "loser": systems[pair.loser],
            "is_either_way": pair.is_either_way,
        }
        for pair in error.joining
    ]
    return EstimateRefusedError(reason, components, joining)


def _assemble(
    judgments: GroupedJudgments,
    method: Method,
    tables: WinTables,
    fit: BradleyTerryFit,
    replicates: BootstrapReplicates,
) -> Estimate:
    if len(replicates.fitted()) < FEWEST_DIALOGUES:
        msg = "Hardly any resample of the dialogues connects the systems: there is no interval."
        raise EstimateRefusedError(msg)
    elo, resampled = to_elo(fit.log_strengths), to_elo(replicates.fitted())
    level, weights = method.level, tables.unit_weights()
    n_units = effective_units(weights)
    single = expanded_intervals(elo, resampled, level=level, n_units=n_units)
    joint = joint_intervals(elo, resampled, level=level, n_units=n_units)
    ranks = rank_intervals(fit.log_strengths, replicates.fitted(), level=level, n_units=n_units)
    errors = robust_covariance(tables, fit.log_strengths).standard_errors
    return Estimate(
        systems=judgments.systems,
        theta=fit.log_strengths,
        elo=elo,
        elo_se=resampled.std(axis=0, ddof=1),
        elo_low=single.low,
        elo_high=single.high,
        rank=ranks_of(elo),
        rank_low=ranks.best,
        rank_high=ranks.worst,
        joint_low=joint.low,
        joint_high=joint.high,
        tier=tiers(elo, joint.low, joint.high),
        sandwich_se=ELO_PER_LOG_UNIT * errors,
        outcomes=outcomes(judgments),
        replicates=replicates,
        diagnostics=_diagnose(fit, replicates, ranks)
        | {
            "joint_critical_value": joint.critical_value,
            "is_corrected_for_few_units": bool((n_units < FEW_UNITS).any()),
            "warnings": [
                *(_few(tables) or _few_of_some(judgments.systems, n_units, weights)),
                *_unconnected(replicates),
            ],
        },
    )


def _diagnose(
    fit: BradleyTerryFit, replicates: BootstrapReplicates, ranks: RankIntervals
) -> dict[str, Any]:
    """Say how the computation went."""
    return {
        "iterations": fit.iterations,
        "replicates": replicates.n_replicates,
        "replicates_without_maximum": replicates.n_without_maximum,
        "rank_critical_value": ranks.critical_value,
    }


def _few(tables: WinTables) -> list[str]:
    """Warn of few units, and say how many systems rest on them."""
    if tables.n_units >= TOO_FEW_UNITS:
        return []
    warning = (
        f"Only {tables.n_units} source dialogues for {tables.n_systems} systems: intervals carry "
        f"a correction for few dialogues, but with fewer than {TOO_FEW_UNITS} none can be relied "
        "on."
    )
    return [warning]


def _few_of_some(
    systems: tuple[str, ...], n_units: Integers, weights: sparse.csr_array
) -> list[str]:
    """Name the systems that were judged on few of the dialogues, and what these are worth."""
    n_of = zip(systems, np.minimum(n_units, (weights > 0.0).sum(axis=0)), strict=True)
    few = [f"{slug} ({n})" for slug, n in n_of if n < FEW_OF_A_SYSTEM]
    if not few:
        return []
    warning = (
        f"All or most judgments are on fewer than {FEW_OF_A_SYSTEM} source dialogues: "
        f"{', '.join(few)}. Intervals and ranks of these cannot be relied on."
    )
    return [warning]


def _unconnected(replicates: BootstrapReplicates) -> list[str]:
    if replicates.n_without_maximum <= MUCH_WITHOUT_MAXIMUM * replicates.n_replicates:
        return []
    warning = (
        f"{replicates.n_without_maximum} of {replicates.n_replicates} resamples leave systems "
        "unconnected: intervals rest on the others."
    )
    return [warning]
