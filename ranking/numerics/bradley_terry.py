"""Maximum-likelihood Bradley-Terry strengths from weighted pairwise wins."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.numerics.arrays import Booleans, Floats
from ranking.numerics.connectivity import NotConnectedError, strong_components, strongly_connected

LONGEST_STEP = 1.0  # natural-log units; keeps Newton from leaping past the optimum


class NotConvergedError(RuntimeError):
    """Newton's method did not settle within the steps allowed."""


@dataclass(frozen=True)
class BradleyTerryFit:
    """Log strengths (natural log, mean 0), their model covariance, and the steps taken."""

    log_strengths: Floats
    covariance: Floats
    iterations: int


@dataclass(frozen=True)
class ReplicateFits:
    """Log strengths per replicate (rows of NaN without a maximum), and which have one."""

    log_strengths: Floats
    has_maximum: Booleans


def fit_bradley_terry(
    wins: Floats, *, tolerance: float = 1e-8, max_iterations: int = 100
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

    Returns
    -------
    BradleyTerryFit
        Log strengths of shape (n_systems,) with mean 0, and their covariance of shape
        (n_systems, n_systems): the pseudo-inverse of the observed information.

    Raises
    ------
    ValueError
        If ``wins`` is not square, has fewer than two systems, or has a negative or
        non-finite entry.
    NotConnectedError
        If no maximum exists because the wins do not connect every system both ways; no
        judgments at all is one such case. Its ``components`` name the groups.
    NotConvergedError
        If the optimum is not reached within ``max_iterations``.

    Notes
    -----
    The covariance takes judgments as independent and weights as counts: with soft scores, or
    several judgments in one dialogue, it is wrong, and the bootstrap is to be used instead.
    Section 9.8 of the paper takes ``1 / sqrt(n_i)`` as the standard error; see
    `ranking.numerics.elo`. Cost is O(n_systems**3) per step whatever the number of judgments.

    References
    ----------
    .. [1] Bradley & Terry (1952), Biometrika 39:324-345. doi:10.2307/2334029
    .. [2] Hunter (2004), Ann. Statist. 32:384-406. doi:10.1214/aos/1079120141
    """
    wins = _checked(np.asarray(wins, dtype=np.float64)[None])
    components = strong_components(wins[0])
    if len(components) > 1:
        raise NotConnectedError(components)
    start = np.zeros(wins.shape[1:2])
    theta, iterations = _climb(wins, start, tolerance, max_iterations)
    _, information = _slopes(wins, theta)
    n = len(start)
    covariance = np.linalg.inv(_grounded(information))[0] - 1.0 / (_gauge(information)[0] * n * n)
    return BradleyTerryFit(theta[0], covariance, iterations)


def fit_replicates(
    wins: Floats, start: Floats, *, tolerance: float = 1e-8, max_iterations: int = 100
) -> ReplicateFits:
    """Fit Bradley-Terry strengths to many win matrices at once.

    Parameters
    ----------
    wins : array of shape (n_replicates, n_systems, n_systems)
        One matrix of weighted wins per replicate, as in `fit_bradley_terry`.
    start : array of shape (n_systems,)
        Log strengths (natural log) to start from: those of the fit that is replicated.
    tolerance, max_iterations
        As in `fit_bradley_terry`.

    Returns
    -------
    ReplicateFits
        Log strengths of shape (n_replicates, n_systems), each row with mean 0, and a boolean
        array of shape (n_replicates,). A replicate whose wins do not connect every system has
        no maximum: its row is NaN and its flag False. None is left out.

    Raises
    ------
    ValueError
        If the shapes do not fit, there are fewer than two systems, or an entry is negative
        or non-finite.
    NotConvergedError
        If a replicate that has a maximum does not reach it within ``max_iterations``.

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
    theta[has_maximum], _ = _climb(wins[has_maximum], start, tolerance, max_iterations)
    return ReplicateFits(theta, has_maximum)


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


def _climb(
    wins: Floats, start: Floats, tolerance: float, max_iterations: int
) -> tuple[Floats, int]:
    """Return the maximum of each stacked problem, mean 0, and the most steps one took."""
    theta = np.tile(start - start.mean(), (len(wins), 1))
    moving = np.arange(len(wins))
    for iteration in range(max_iterations):
        if not moving.size:
            return theta - theta.mean(axis=1, keepdims=True), iteration
        gradient, information = _slopes(wins[moving], theta[moving])
        step = np.linalg.solve(_grounded(information), gradient[..., None])[..., 0]
        length = np.abs(step).max(axis=1)
        theta[moving] += step / np.maximum(1.0, length / LONGEST_STEP)[:, None]
        moving = moving[length > tolerance]
    if moving.size:
        msg = f"{moving.size} of {len(wins)} fits found no optimum within {max_iterations} steps"
        raise NotConvergedError(msg)
    return theta - theta.mean(axis=1, keepdims=True), max_iterations


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


def _grounded(information: Floats) -> Floats:
    """Fill the null direction (all strengths moved alike) so that the matrix inverts."""
    grounded: Floats = information + _gauge(information)[:, None, None]
    return grounded
