"""Maximum-likelihood Bradley-Terry strengths from weighted pairwise wins."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.connectivity import check_connected, strongly_connected

LONGEST_STEP = 1.0  # natural-log units; keeps Newton from leaping past the optimum
TOLERANCE = 1e-8  # Newton step, in natural-log units, below which the search ends
MAX_ITERATIONS = 100


class NotConvergedError(RuntimeError):
    """Newton's method did not settle within the steps allowed."""


@dataclass(frozen=True)
class BradleyTerryFit:
    """Log strengths (natural log), their model covariance, and the steps taken.

    Strengths have mean 0 unless anchors hold the scale.
    """

    log_strengths: Floats
    covariance: Floats
    iterations: int


@dataclass(frozen=True)
class _Terms:
    """What beside the wins decides a fit: which systems may move, and the prior's precision."""

    free: Integers
    is_anchored: bool = False
    ridge: float = 0.0


def fit_bradley_terry(
    wins: Floats,
    *,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
    ridge: float = 0.0,
    anchors: Mapping[int, float] | None = None,
) -> BradleyTerryFit:
    """Fit Bradley-Terry strengths by maximum likelihood.

    Parameters
    ----------
    wins : array of shape (n_systems, n_systems)
        ``wins[i, j]`` is the total weight of judgments that prefer ``i`` to ``j``
        (dimensionless, at least 0). A tie adds half its weight to each side; soft scores add
        each side's share. The diagonal is ignored.
    tolerance : float
        Newton step, in natural-log units, below which the search ends. Convergence is
        quadratic, so the error left is of the order of its square.
    max_iterations : int
        Newton steps allowed before giving up.
    ridge : float
        Precision of an independent normal prior of mean 0 on each free log strength, at least
        0. Above 0 it is no longer maximum likelihood: strengths shrink towards 0 and exist
        whatever the wins. Declare it wherever the strengths are shown.
    anchors : mapping from index to float, optional
        Log strengths (natural log) that are given and not fitted.

    Returns
    -------
    BradleyTerryFit
        Log strengths of shape (n_systems,), with mean 0 if there are no anchors and on the
        anchors' scale if there are; and their covariance of shape (n_systems, n_systems): the
        pseudo-inverse of the observed information (plus the prior's precision), with rows and
        columns of zeros for anchors.

    Raises
    ------
    ValueError
        If ``wins`` is not square, has fewer than two systems, or has a negative or
        non-finite entry; if the ridge is negative or not finite; if an anchor is no system's
        or not finite.
    NotConnectedError
        If no maximum exists because the wins do not connect every system both ways; no
        judgments at all is one such case. Anchored systems count as connected. Its
        ``components`` name the groups, its ``joining`` the judgments that would join them.
    NotConvergedError
        If the optimum is not reached within ``max_iterations``.

    Notes
    -----
    The covariance takes judgments as independent and weights as counts: with soft scores, or
    several judgments in one dialogue, it is wrong, and the bootstrap is to be used instead.
    Section 9.8 of the paper takes ``1 / sqrt(n_i)`` as the standard error; see
    `ranking.numerics.elo`. One anchor only moves the scale: differences stay as they are. Cost
    is O(n_systems**3) per step whatever the number of judgments.

    References
    ----------
    .. [1] Bradley & Terry (1952), Biometrika 39:324-345. doi:10.2307/2334029
    .. [2] Hunter (2004), Ann. Statist. 32:384-406. doi:10.1214/aos/1079120141
    """
    stacked = _checked(np.asarray(wins, dtype=np.float64)[None])
    start, terms = _terms(stacked.shape[1], ridge, anchors or {})
    if not ridge:
        check_connected(stacked[0], held=tuple(anchors or ()))
    theta, iterations = _climb(stacked, start, tolerance, max_iterations, terms)
    return BradleyTerryFit(theta[0], _covariance(stacked, theta, terms), iterations)


def fit_replicates(wins: Floats, start: Floats) -> Floats:
    """Fit Bradley-Terry strengths to many win matrices at once.

    Parameters
    ----------
    wins : array of shape (n_replicates, n_systems, n_systems)
        One matrix of weighted wins per replicate, as in `fit_bradley_terry`.
    start : array of shape (n_systems,)
        Log strengths (natural log) to start from: those of the fit that is replicated.

    Returns
    -------
    array of shape (n_replicates, n_systems)
        Log strengths, each row with mean 0. A replicate whose wins do not connect every system
        has no maximum, and its row is NaN. None is left out.

    Raises
    ------
    ValueError
        If the shapes do not fit, there are fewer than two systems, or an entry is negative
        or non-finite.
    NotConvergedError
        If a replicate that has a maximum does not reach it within `MAX_ITERATIONS`.

    Notes
    -----
    Cost is O(n_replicates * n_systems**3) per step, four or five steps from a warm start;
    memory is a few arrays of the size of ``wins``, so long runs are cut into blocks by the
    caller. No replicates give empty arrays.
    """
    wins = _checked(np.asarray(wins, dtype=np.float64))
    start = np.asarray(start, dtype=np.float64)
    if start.shape != wins.shape[1:2]:
        msg = f"start must be of shape {wins.shape[1:2]}, not {start.shape}"
        raise ValueError(msg)
    has_maximum = strongly_connected(wins)
    theta = np.full(wins.shape[:2], np.nan)
    terms = _Terms(np.arange(len(start)))
    theta[has_maximum], _ = _climb(
        wins[has_maximum], start - start.mean(), TOLERANCE, MAX_ITERATIONS, terms
    )
    return theta


def _checked(wins: Floats) -> Floats:
    """Return a copy with zero diagonals, or raise ValueError."""
    if wins.shape[1:] != 2 * wins.shape[1:2]:
        msg = f"wins must be square, not of shape {wins.shape[1:]}"
        raise ValueError(msg)
    if wins.shape[1] <= 1:
        msg = f"at least two systems are needed, not {wins.shape[1]}"
        raise ValueError(msg)
    if not np.isfinite(wins).all() or (wins < 0).any():
        msg = "wins must be finite and not negative"
        raise ValueError(msg)
    off_diagonal: Floats = np.where(np.eye(wins.shape[1], dtype=np.bool_), 0.0, wins)
    return off_diagonal


def _terms(n_systems: int, ridge: float, anchors: Mapping[int, float]) -> tuple[Floats, _Terms]:
    """Return where to start and what is free, or raise ValueError."""
    if not (np.isfinite(ridge) and ridge >= 0.0):
        msg = f"the ridge must be finite and not negative, not {ridge}"
        raise ValueError(msg)
    start = np.zeros(n_systems)
    free = np.ones(n_systems, dtype=np.bool_)
    for index, strength in anchors.items():
        if not (0 <= index < n_systems and np.isfinite(strength)):
            msg = f"an anchor at {strength} for system {index} of {n_systems}"
            raise ValueError(msg)
        start[index], free[index] = strength, False
    if anchors:
        start[free] = np.mean(start[~free])
    return start, _Terms(np.flatnonzero(free), bool(anchors), ridge)


def _climb(
    wins: Floats, start: Floats, tolerance: float, max_iterations: int, terms: _Terms
) -> tuple[Floats, int]:
    """Return the maximum of each stacked problem and the most steps one took."""
    theta = np.tile(start, (len(wins), 1))
    moving = np.arange(len(wins) if terms.free.size else 0)
    for iteration in range(max_iterations):
        if not moving.size:
            return _in_gauge(theta, terms), iteration
        gradient, information = _slopes(wins[moving], theta[moving])
        gradient = gradient[:, terms.free] - terms.ridge * theta[np.ix_(moving, terms.free)]
        step = np.linalg.solve(_grounded(information, terms), gradient[..., None])[..., 0]
        length = np.abs(step).max(axis=1)
        theta[np.ix_(moving, terms.free)] += step / np.maximum(1.0, length / LONGEST_STEP)[:, None]
        moving = moving[length > tolerance]
    if moving.size:
        msg = f"{moving.size} of {len(wins)} fits found no optimum within {max_iterations} steps"
        raise NotConvergedError(msg)
    return _in_gauge(theta, terms), max_iterations


def _in_gauge(theta: Floats, terms: _Terms) -> Floats:
    """Move each row to mean 0, unless anchors hold it."""
    return theta if terms.is_anchored else theta - theta.mean(axis=1, keepdims=True)


def _slopes(wins: Floats, theta: Floats) -> tuple[Floats, Floats]:
    """Return gradient (r, n) and information (r, n, n) of the log likelihood."""
    p = special.expit(theta[:, :, None] - theta[:, None, :])
    expected = (wins + wins.swapaxes(1, 2)) * p
    gradient = wins.sum(axis=2) - expected.sum(axis=2)
    weight = expected * (1.0 - p)
    information = -weight  # its diagonal is zero, as that of the wins is
    diagonal = np.arange(wins.shape[1])
    information[:, diagonal, diagonal] = weight.sum(axis=2)
    return gradient, information


def _gauge(information: Floats) -> Floats:
    """Return a positive number per problem on the scale of its information, shape (r,)."""
    scale: Floats = information.diagonal(axis1=1, axis2=2).mean(axis=1) / information.shape[1]
    return scale


def _grounded(information: Floats, terms: _Terms) -> Floats:
    """Return the free systems' information, with the prior's, so that it inverts.

    Without anchors the null direction (all strengths moved alike) is filled in.
    """
    filled = 0.0 if terms.is_anchored else _gauge(information)[:, None, None]
    free: Floats = information[:, terms.free[:, None], terms.free] + filled
    return free + terms.ridge * np.eye(len(terms.free))


def _covariance(wins: Floats, theta: Floats, terms: _Terms) -> Floats:
    """Return the covariance of the one problem, zero for anchors, in the gauge of ``theta``."""
    _, information = _slopes(wins, theta)
    n = wins.shape[1]
    covariance = np.zeros((n, n))
    covariance[np.ix_(terms.free, terms.free)] = np.linalg.inv(_grounded(information, terms))[0]
    if terms.is_anchored:
        return covariance
    level: float = n * (n * _gauge(information)[0] + terms.ridge)
    return covariance - 1.0 / level


def strengths_without_each(wins: Floats) -> Floats:
    """Fit Bradley-Terry strengths once per rater, from the answers of all the others.

    Parameters
    ----------
    wins : array of shape (n_raters, n_systems, n_systems)
        ``wins[r, i, j]`` is how often rater r preferred ``i`` to ``j`` (dimensionless, at least
        0); a tie adds half to each side. The diagonal is ignored.

    Returns
    -------
    array of shape (n_raters, n_systems)
        Log strengths (natural log, mean 0 in each row). Row r is NaN when the answers of the
        others have no maximum.

    Raises
    ------
    ValueError
        If the shape is another, there are fewer than two systems, or an entry is negative or
        not finite.
    NotConnectedError
        If not even all answers together have a maximum.
    NotConvergedError
        If an optimum is not reached.

    Notes
    -----
    What a rater is held against must not contain the rater: with r of n answers to a pair the
    own share in the prediction is 1/n, which hides who answers at random. No raters give an
    empty array. Cost O(n_raters * n_systems**3) per Newton step.
    """
    wins = np.asarray(wins, dtype=np.float64)
    if wins.ndim != 3:  # noqa: PLR2004 (raters, winners, losers)
        msg = f"wins must be of shape (n_raters, n_systems, n_systems), not {wins.shape}"
        raise ValueError(msg)
    if not len(wins):
        return np.empty(wins.shape[:2])
    total = wins.sum(axis=0)
    start = fit_bradley_terry(total).log_strengths
    return fit_replicates(total[None] - wins, start)


def place_among(wins: Floats, losses: Floats, strengths: Floats) -> Floats:
    """Find the Bradley-Terry strength of one system, the others' strengths being given.

    Parameters
    ----------
    wins, losses : arrays of shape (n_replicates, n_systems)
        Weight with which the placed system was preferred to system j, and j to it
        (dimensionless, at least 0). A tie adds half its weight to each.
    strengths : array of shape (n_replicates, n_systems)
        Log strengths (natural log) of the others, in any gauge; a row of NaN has none.

    Returns
    -------
    array of shape (n_replicates,)
        Log strength in the gauge of ``strengths``. NaN where there is no finite maximum: the
        placed system took nothing, or yielded nothing, or the others have no strengths.

    Raises
    ------
    ValueError
        If the shapes differ, or a weight is negative or not finite.
    NotConvergedError
        If a maximum is not reached within `MAX_ITERATIONS`.

    Notes
    -----
    This solves sum_j (w_j + l_j) expit(theta - theta_j) = sum_j w_j, the placed system's own
    equation of the joint fit. A system whose judgments are already in that fit is therefore
    placed where the fit has it. Cost O(n_replicates * n_systems) per step.

    References
    ----------
    .. [1] Bradley & Terry (1952), Biometrika 39:324-345. doi:10.2307/2334029
    """
    _check_among(wins, losses, strengths)
    n, won = wins + losses, wins.sum(axis=1)
    exists = (won > 0) & (losses.sum(axis=1) > 0) & np.isfinite(strengths).all(axis=1)
    theta = np.full(len(wins), np.nan)
    theta[exists] = 0.0
    moving = np.flatnonzero(exists)
    for _ in range(MAX_ITERATIONS):
        if not moving.size:
            return theta
        p = special.expit(theta[moving, None] - strengths[moving])
        gradient = won[moving] - (n[moving] * p).sum(axis=1)
        step = gradient / (n[moving] * p * (1.0 - p)).sum(axis=1)
        theta[moving] += np.clip(step, -LONGEST_STEP, LONGEST_STEP)
        moving = moving[np.abs(step) > TOLERANCE]
    if moving.size:
        msg = f"{moving.size} of {len(wins)} places were not found in {MAX_ITERATIONS} steps"
        raise NotConvergedError(msg)
    return theta


def _check_among(wins: Floats, losses: Floats, strengths: Floats) -> None:
    """Raise ValueError unless the three fit each other and the weights are weights."""
    shapes = {wins.shape, losses.shape, strengths.shape}
    if len(shapes) > 1 or wins.ndim != 2:  # noqa: PLR2004 (replicates, systems)
        msg = f"all must be of one shape (n_replicates, n_systems), not {sorted(shapes)}"
        raise ValueError(msg)
    if not all(np.isfinite(one).all() and (one >= 0).all() for one in (wins, losses)):
        msg = "wins and losses must be finite and not negative"
        raise ValueError(msg)
