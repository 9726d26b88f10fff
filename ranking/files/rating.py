"""Ratings of the systems in a file of judgments: from options to rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ranking.files.choosing import ChosenJudgments, RatingRefusedError, choose, inside
from ranking.files.fitting import PointFit, Spread, counted, fit_judgments
from ranking.files.judgments import FileJudgments
from ranking.files.options import LEVEL, Options, Ties
from ranking.numerics.arrays import Integers
from ranking.numerics.bradley_terry import NotConvergedError
from ranking.numerics.connectivity import JoiningPair, NotConnectedError
from ranking.numerics.elo import ELO_PER_LOG_UNIT, ranks_of, to_elo
from ranking.numerics.few_units import few_units_warning
from ranking.numerics.models.maximum import NoMaximumError
from ranking.numerics.simultaneous import rank_intervals, tiers

FIGURES = ("theta", "elo", "se", "ci_low", "ci_high", "rank", "rank_low", "rank_high", "tier")


@dataclass(frozen=True)
class SystemRow:
    """One system of the table: Elo points but for ``theta``, None where nothing can be said."""

    system: str
    theta: float | None
    elo: float | None
    se: float | None
    ci_low: float | None
    ci_high: float | None
    rank: int | None
    rank_low: int | None
    rank_high: int | None
    tier: int | None
    n: int
    wins: int
    losses: int
    ties: int
    win_rate: float | None


@dataclass(frozen=True)
class Rated:
    """What came of the judgments: rows sorted by rank, or the reason why there are none.

    ``components`` are the groups inside which systems can be compared, one if all is well;
    ``joining`` says in words which judgments would make one of them.
    """

    chosen: ChosenJudgments
    rows: tuple[SystemRow, ...]
    components: tuple[tuple[str, ...], ...]
    warnings: tuple[str, ...]
    refusal: str | None = None
    joining: tuple[str, ...] = ()
    draw_parameter: float | None = None
    n_units: int = 0
    n_without_maximum: int = 0


def rate(judgments: FileJudgments, options: Options) -> Rated:
    """Rate the systems that the judgments are about.

    Raises
    ------
    RatingRefusedError
        If the judgments do not have what the options ask for.
    """
    return _fitted(choose(judgments, options), options)


def rate_by(judgments: FileJudgments, options: Options) -> dict[str, Rated]:
    """Rate the systems once for each value of the column to rank by, in its order.

    A value whose judgments do not connect its systems comes with groups instead of rows.

    Raises
    ------
    RatingRefusedError
        If the judgments do not have what the options ask for.
    """
    group = judgments.group
    if group is None:
        return {}
    found = {}
    for index, value in enumerate(group.values):
        part = judgments.where(group.codes == index)
        try:
            found[value] = rate(part, options)
        except RatingRefusedError as error:
            msg = f"{value}: {error}"
            raise RatingRefusedError(msg) from error
    return found


def _fitted(chosen: ChosenJudgments, options: Options) -> Rated:
    try:
        fitted = fit_judgments(chosen, options)
    except NotConnectedError as error:
        if options.per_component:
            return _per_component(chosen, options, error)
        return _unconnected(chosen, options, error)
    except NoMaximumError as error:
        return _refused(chosen, options, f"The model of ties has no finite answer here: {error}.")
    except NotConvergedError as error:
        return _refused(chosen, options, f"The search for the ratings did not end: {error}.")
    return _rated(chosen, options, fitted)


def _rated(chosen: ChosenJudgments, options: Options, fitted: PointFit) -> Rated:
    spread = fitted.spread
    rows = _rows(chosen.judgments, options.ties, fitted)
    return Rated(
        chosen=chosen,
        rows=tuple(sorted(rows, key=lambda row: (row.rank, row.system))),
        components=(chosen.judgments.systems,),
        warnings=(*chosen.warnings, *_warnings(chosen, options, spread)),
        draw_parameter=fitted.parameter,
        n_units=_n_units(chosen, options),
        n_without_maximum=spread.n_without_maximum if spread else 0,
    )


def _n_units(chosen: ChosenJudgments, options: Options) -> int:
    """Return how many units have a judgment with a part in the fit."""
    codes = chosen.judgments.unit.codes
    return int(np.count_nonzero(np.bincount(codes[counted(chosen.judgments, options.ties)])))


def _refused(chosen: ChosenJudgments, options: Options, reason: str) -> Rated:
    return Rated(
        chosen=chosen,
        rows=(),
        components=(chosen.judgments.systems,),
        warnings=(*chosen.warnings, reason),
        refusal=reason,
        n_units=_n_units(chosen, options),
    )


def _unconnected(chosen: ChosenJudgments, options: Options, error: NotConnectedError) -> Rated:
    names = chosen.judgments.systems
    reason = f"No judgments place these {len(error.components)} groups of systems on one scale."
    return replace(
        _refused(chosen, options, reason),
        components=_named(error, names),
        joining=tuple(_joining(pair, names) for pair in error.joining),
    )


def _per_component(chosen: ChosenJudgments, options: Options, error: NotConnectedError) -> Rated:
    """Rate each group of systems by the judgments inside it, as if there were no other."""
    parts = [
        _component(chosen, options, np.array(group, dtype=np.int64)) for group in error.components
    ]
    note = (
        "Ratings and ranks hold inside each group of systems; those of two groups do not compare."
    )
    told = [warning for part in parts for warning in part.warnings]
    return Rated(
        chosen=chosen,
        rows=tuple(row for part in parts for row in part.rows),
        components=_named(error, chosen.judgments.systems),
        warnings=tuple(dict.fromkeys([*chosen.warnings, note, *told])),
        joining=tuple(_joining(pair, chosen.judgments.systems) for pair in error.joining),
        n_units=_n_units(chosen, options),
        n_without_maximum=max(part.n_without_maximum for part in parts),
    )


def _component(chosen: ChosenJudgments, options: Options, group: Integers) -> Rated:
    """Rate one group; where it has no ratings its rows have no figures, and a warning says why."""
    if len(group) == 1:
        rows = _rows(chosen.judgments, options.ties, None)
        return Rated(chosen, (rows[group[0]],), (), ())
    part = replace(chosen, judgments=inside(chosen.judgments, group), warnings=())
    found = _fitted(part, options)
    if found.refusal is None:
        return found
    told = f"{', '.join(part.judgments.systems)}: {found.refusal}"
    return replace(found, rows=tuple(_rows(part.judgments, options.ties, None)), warnings=(told,))


def _named(error: NotConnectedError, systems: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(systems[index] for index in group) for group in error.components)


def _joining(pair: JoiningPair, systems: tuple[str, ...]) -> str:
    one, other = systems[pair.winner], systems[pair.loser]
    if pair.is_either_way:
        return f"{one} against {other}, with a share for each"
    return f"{one} against {other}, with a share for {one}"


def _rows(judgments: FileJudgments, ties: Ties, fitted: PointFit | None) -> list[SystemRow]:
    """Return a row per system in the order of names; without a fit, of its judgments alone."""
    won, lost, tied = _outcomes(judgments)
    known = _known(fitted, len(won))
    weight = 0.0 if ties is Ties.DROP else 0.5
    return [
        SystemRow(
            system=system,
            **{name: column[index] for name, column in known.items()},
            n=int(won[index] + lost[index] + tied[index]),
            wins=int(won[index]),
            losses=int(lost[index]),
            ties=int(tied[index]),
            win_rate=_share(won[index] + weight * tied[index], lost[index] + weight * tied[index]),
        )
        for index, system in enumerate(judgments.systems)
    ]


def _known(fitted: PointFit | None, n_systems: int) -> dict[str, list[Any]]:
    """Return the figures of each column of the fit, None where there are none."""
    figures = _figures(fitted) if fitted else {}
    spread = _spread_figures(fitted, fitted.spread) if fitted and fitted.spread else {}
    return dict.fromkeys(FIGURES, [None] * n_systems) | figures | spread


def _figures(fitted: PointFit) -> dict[str, list[Any]]:
    elo = to_elo(fitted.log_strengths)
    return {
        "theta": fitted.log_strengths.tolist(),
        "elo": elo.tolist(),
        "rank": ranks_of(elo).tolist(),
    }


def _spread_figures(fitted: PointFit, spread: Spread) -> dict[str, list[Any]]:
    elo = to_elo(fitted.log_strengths)
    low = elo - (fitted.log_strengths - spread.interval.low) * ELO_PER_LOG_UNIT
    high = elo + (spread.interval.high - fitted.log_strengths) * ELO_PER_LOG_UNIT
    ranks = rank_intervals(
        fitted.log_strengths, spread.replicates, level=LEVEL, n_units=spread.n_units
    )
    return {
        "se": (spread.errors * ELO_PER_LOG_UNIT).tolist(),
        "ci_low": low.tolist(),
        "ci_high": high.tolist(),
        "rank_low": ranks.best.tolist(),
        "rank_high": ranks.worst.tolist(),
        "tier": tiers(elo, low, high).tolist(),
    }


def _outcomes(judgments: FileJudgments) -> tuple[Integers, Integers, Integers]:
    """Return how many judgments each system won, lost and tied, (n_systems,) each."""
    n = len(judgments.systems)
    is_tie = judgments.verdict == 0
    winner = np.where(judgments.verdict > 0, judgments.first, judgments.second)
    loser = np.where(judgments.verdict > 0, judgments.second, judgments.first)
    tied = np.bincount(judgments.first[is_tie], minlength=n)
    return (
        np.bincount(winner[~is_tie], minlength=n),
        np.bincount(loser[~is_tie], minlength=n),
        tied + np.bincount(judgments.second[is_tie], minlength=n),
    )


def _share(won: float, lost: float) -> float | None:
    return float(won / (won + lost)) if won + lost else None


def _warnings(chosen: ChosenJudgments, options: Options, spread: Spread | None) -> list[str]:
    """Say what a reader of the table should be warned of."""
    n_units, units = _n_units(chosen, options), f"different {options.unit}"
    n_dropped = chosen.judgments.n_judgments - int(counted(chosen.judgments, options.ties).sum())
    told = []
    if n_dropped:
        told.append(f"{n_dropped} ties were left out of the fit.")
    if spread is None:
        told.append(
            f"There are no errors or intervals: {n_units} {options.unit} "
            "is too little to tell how far another sample would differ."
        )
    elif options.interval.needs_units and (few := few_units_warning(n_units, units)):
        told.append(few)
    if not options.interval.needs_units:
        told.append(NAIVE)
    if spread and spread.n_without_maximum:
        told.append(
            f"{spread.n_without_maximum} of {options.replicates} resamples leave systems "
            "unconnected: intervals rest on the others."
        )
    if options.ties.has_model and chosen.strength != "ignore":
        told.append(
            "A model of ties is a likelihood of whole wins: with weighted ones its figures are "
            "rough, and --strength ignore is what it was made for."
        )
    return told


NAIVE = (
    "These intervals take every judgment for independent, which judgments of one dialogue are "
    "not: they are too narrow, and here for comparison alone."
)
