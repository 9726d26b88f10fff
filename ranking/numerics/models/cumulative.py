"""Bradley-Terry for graded answers: a cumulative logit, its likelihood and slopes."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse, special

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.bradley_terry import NotConvergedError
from ranking.numerics.connectivity import NotConnectedError, strong_components
from ranking.numerics.models.maximum import (
    NoMaximumError,
    Slopes,
    covariance,
    grows_without_end,
    maximise,
)


@dataclass(frozen=True)
class Graded:
    """Graded judgments, or counts of alike ones, as columns of shape (n_rows,).

    ``winner`` and ``loser`` are indices of systems from 0, in any order for a tie; ``level`` is
    0 for a tie and grows with the preference; ``weight`` is at least 0.
    """

    winner: Integers
    loser: Integers
    level: Integers
    weight: Floats


@dataclass(frozen=True)
class GradeScale:
    """How thresholds bound the levels: P(level at least k, for the winner) = F(d - tau_k).

    A row of level k ends at d + above[k] @ tau on the upper side and d + below[k] @ tau on the
    lower one; the highest level has no lower end. Shapes (n_levels, n_thresholds).
    """

    above: Floats
    below: Floats

    @property
    def highest(self) -> int:
        """Return the highest level."""
        return len(self.above) - 1

    @classmethod
    def of(cls, n_levels: int, *, with_ties: bool) -> "GradeScale":
        """Return the symmetric scale with levels 0 to n_levels - 1.

        Without ties the threshold between the two sides is 0, and no parameter.
        """
        steps = np.eye(n_levels)[:, 1:] if with_ties else np.eye(n_levels)[:, 2:]
        below = np.vstack([-steps[1:], np.zeros((1, steps.shape[1]))])
        above = -steps
        above[0] = steps[1] if n_levels > 1 else 0.0
        return cls(above, below)


@dataclass(frozen=True)
class RowSlopes:
    """Slopes of the log likelihood of each row by its two ends, shape (n_rows,) each.

    ``upper`` and ``lower`` are first derivatives; ``curved_upper``, ``curved_lower`` and
    ``mixed`` the second ones with their signs turned (the mixed one is not positive).
    """

    value: Floats
    upper: Floats
    lower: Floats
    curved_upper: Floats
    curved_lower: Floats
    mixed: Floats


def row_slopes(upper: Floats, lower: Floats) -> RowSlopes:
    """Return log(F(upper) - F(lower)) and its derivatives, F being the logistic function.

    Notes
    -----
    F(a) - F(b) = F(a) F(-b) (1 - exp(b - a)), which loses no digits however small it is.
    ``lower`` may be minus infinity. Where upper <= lower the value is minus infinity.
    """
    width = upper - lower
    allowed = width > 0
    width = np.where(allowed, width, 1.0)
    value = special.log_expit(upper) + special.log_expit(-lower) + np.log(-np.expm1(-width))
    near = np.exp(-width)
    pull = near / -np.expm1(-width)
    bend = near / np.expm1(-width) ** 2
    return RowSlopes(
        value=np.where(allowed, value, -np.inf),
        upper=special.expit(-upper) + pull,
        lower=-special.expit(lower) - pull,
        curved_upper=special.expit(upper) * special.expit(-upper) + bend,
        curved_lower=special.expit(lower) * special.expit(-lower) + bend,
        mixed=-bend,
    )


def at_ends(
    judgments: Graded, scale: GradeScale, strengths: Floats, thresholds: Floats
) -> RowSlopes:
    """Return the slopes of each judgment at the given log strengths and thresholds."""
    d = strengths[judgments.winner] - strengths[judgments.loser]
    upper = d + (scale.above @ thresholds)[judgments.level]
    lower = d + (scale.below @ thresholds)[judgments.level]
    return row_slopes(upper, np.where(judgments.level == scale.highest, -np.inf, lower))


@dataclass(frozen=True)
class CumulativeFit:
    """What the cumulative logit finds.

    Attributes
    ----------
    log_strengths : array of shape (n_systems,)
        Natural log, mean 0.
    thresholds : array of shape (n_levels - 1,)
        How far ahead, in natural-log units, a preference of level 1, 2, ... begins; the first
        is 0 where there are no ties.
    levels : tuple of int
        What the levels from 0 on were called; those that nobody gave are merged with the one
        below, and 0 is there whether given or not.
    covariance : array of shape (n_parameters, n_parameters)
        Of the log strengths, then of the thresholds that were estimated; judgments taken as
        independent.
    log_likelihood : float
        Natural log, of the grades.
    """

    log_strengths: Floats
    thresholds: Floats
    levels: tuple[int, ...]
    covariance: Floats
    log_likelihood: float

    @property
    def n_systems(self) -> int:
        """Return how many systems there are."""
        return len(self.log_strengths)


def fit_cumulative(judgments: Graded, *, n_systems: int) -> CumulativeFit:
    """Fit strengths and thresholds to graded preferences by maximum likelihood.

    Parameters
    ----------
    judgments : Graded
        Who was preferred to whom, and by how much; levels need not be consecutive.
    n_systems : int
        How many systems there are, judged or not.

    Raises
    ------
    ValueError
        If there are fewer than two systems.
    NotConnectedError
        If judgments leave groups of systems that were never compared.
    NoMaximumError
        If the likelihood grows without end: a system that was never less than much better, say,
        or nothing but ties.
    NotConvergedError
        If the optimum is not reached for another reason.

    Notes
    -----
    logit P(grade >= k) = theta_i - theta_j - tau_k, tau_{1-k} = -tau_k, so that exchanging the
    two sides changes nothing. With levels 0 and 1 it is the model of Rao and Kupper, with
    level 1 alone Bradley-Terry. Judgments alike are counted together first: cost
    O(n_judgments log n_judgments) once and O(n_systems**3) per step.

    References
    ----------
    .. [1] Tutz (1986), J. Math. Psychol. 30:306-316. doi:10.1016/0022-2496(86)90034-9
    .. [2] Agresti (1992), Appl. Statist. 41:287-297. doi:10.2307/2347562
    """
    if n_systems <= 1:
        msg = f"at least two systems are needed, not {n_systems}"
        raise ValueError(msg)
    levels, coded = _coded(judgments)
    cells = _counted(coded, n_systems, len(levels))
    _check_connected(cells, n_systems)
    scale = GradeScale.of(len(levels), with_ties=bool((cells.level == 0).any()))
    start = np.concatenate([np.zeros(n_systems), _start(cells, scale)])
    try:
        found = maximise(
            lambda at: _slopes(cells, scale, at, n_systems), start, n_strengths=n_systems
        )
        spread = covariance(found.slopes.information, n_strengths=n_systems)
    except NotConvergedError as error:
        _explain(cells, scale, n_systems, error)
        raise
    thresholds = -(scale.above @ found.at[n_systems:])[1:]
    return CumulativeFit(found.at[:n_systems], thresholds, levels, spread, found.slopes.value)


def _coded(judgments: Graded) -> tuple[tuple[int, ...], Graded]:
    """Give each level that occurs its place, from 0; a tie has place 0, given or not."""
    given = sorted({0, *np.unique(judgments.level[judgments.weight > 0]).tolist()})
    level = np.searchsorted(given, judgments.level)
    coded = Graded(judgments.winner, judgments.loser, level, judgments.weight)
    return tuple(given), coded


def _counted(judgments: Graded, n_systems: int, n_levels: int) -> Graded:
    """Count judgments alike in systems and level together."""
    tie = judgments.level == 0
    low = np.where(tie, np.minimum(judgments.winner, judgments.loser), judgments.winner)
    high = np.where(tie, np.maximum(judgments.winner, judgments.loser), judgments.loser)
    code = (low * n_systems + high) * n_levels + judgments.level
    size = n_systems * n_systems * n_levels
    weight = np.asarray(np.bincount(code, judgments.weight, size), dtype=np.float64)
    cells = np.flatnonzero(weight)
    pair, level = np.divmod(cells, n_levels)
    winner, loser = np.divmod(pair, n_systems)
    return Graded(winner, loser, level, weight[cells])


def _check_connected(cells: Graded, n_systems: int) -> None:
    met = np.zeros((n_systems, n_systems))
    met[cells.winner, cells.loser] = met[cells.loser, cells.winner] = 1.0
    components = strong_components(met)
    if len(components) > 1:
        raise NotConnectedError(components)
    if not cells.level.any():
        msg = "nothing but ties: how far apart systems are cannot be told"
        raise NoMaximumError(msg)


def _start(cells: Graded, scale: GradeScale) -> Floats:
    """Return the thresholds that fit the levels if all systems are equal."""
    by_level = np.bincount(cells.level, cells.weight, scale.highest + 1)
    at_least = by_level[::-1].cumsum()[::-1] / by_level.sum()
    thresholds: Floats = -special.logit(at_least / 2)[-scale.above.shape[1] :]
    return thresholds if scale.above.shape[1] else np.empty(0)


def _slopes(cells: Graded, scale: GradeScale, at: Floats, n_systems: int) -> Slopes:
    rows = at_ends(cells, scale, at[:n_systems], at[n_systems:])
    value = float(cells.weight @ rows.value)
    if not np.isfinite(value):
        return Slopes(-np.inf, np.zeros(len(at)), np.eye(len(at)))
    along = cells.weight * (rows.upper + rows.lower)
    towards = cells.weight[:, None] * _by_threshold(cells, scale, rows.upper, rows.lower)
    pulled = np.bincount(cells.winner, along, n_systems) - np.bincount(
        cells.loser, along, n_systems
    )
    gradient = np.concatenate([pulled, towards.sum(axis=0)])
    return Slopes(value, gradient, _information(cells, scale, rows, n_systems))


def _information(cells: Graded, scale: GradeScale, rows: RowSlopes, n_systems: int) -> Floats:
    """Return the observed information of strengths and thresholds."""
    upper, lower = rows.curved_upper + rows.mixed, rows.curved_lower + rows.mixed
    size = n_systems + scale.above.shape[1]
    information = np.zeros((size, size))
    weight = cells.weight * (upper + lower)
    for one, other, sign in ((0, 0, 1), (1, 1, 1), (0, 1, -1), (1, 0, -1)):
        ends = (cells.winner, cells.loser)
        np.add.at(information, (ends[one], ends[other]), sign * weight)
    cross = cells.weight[:, None] * _by_threshold(cells, scale, upper, lower)
    np.add.at(information[:, n_systems:], cells.winner, cross)
    np.add.at(information[:, n_systems:], cells.loser, -cross)
    information[n_systems:, :n_systems] = information[:n_systems, n_systems:].T
    information[n_systems:, n_systems:] = _of_thresholds(cells, scale, rows)
    return information


def _of_thresholds(cells: Graded, scale: GradeScale, rows: RowSlopes) -> Floats:
    """Return the block of the information that belongs to the thresholds."""
    n_levels = scale.highest + 1
    upper, mixed, lower = (
        np.bincount(cells.level, cells.weight * curve, n_levels)[:, None]
        for curve in (rows.curved_upper, rows.mixed, rows.curved_lower)
    )
    above, below = scale.above, scale.below
    block: Floats = above.T @ (upper * above + mixed * below)
    block += below.T @ (mixed * above + lower * below)
    return block


def _by_threshold(cells: Graded, scale: GradeScale, upper: Floats, lower: Floats) -> Floats:
    """Turn derivatives by the two ends into derivatives by the thresholds."""
    by_threshold: Floats = (
        upper[:, None] * scale.above[cells.level] + lower[:, None] * scale.below[cells.level]
    )
    return by_threshold


def _explain(cells: Graded, scale: GradeScale, n_systems: int, error: Exception) -> None:
    """Raise NoMaximumError if the search did not end because there is no end."""
    apart = np.zeros((len(cells.level), n_systems))
    every = np.arange(len(cells.level))
    apart[every, cells.winner] = 1.0
    apart[every, cells.loser] = -1.0
    is_bounded = cells.level < scale.highest
    upper = np.hstack([apart, scale.above[cells.level]])
    lower = -np.hstack([apart, scale.below[cells.level]])[is_bounded]
    if grows_without_end(sparse.csr_array(np.vstack([upper, lower]))):
        msg = "the likelihood of the grades grows without end"
        raise NoMaximumError(msg) from error
