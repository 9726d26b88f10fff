"""Whether a log likelihood has a finite maximum, and Newton's way to it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ranking.numerics.arrays import Floats
from ranking.numerics.bradley_terry import NotConvergedError
from ranking.numerics.connectivity import NotConnectedError, strong_components

LONGEST_STEP = 2.0  # natural-log units of any parameter
MOST_HALVINGS = 40  # steps of 1e-12 and less are no steps
SINGULAR = 1e-10  # smallest eigenvalue, of a matrix with ones on its diagonal, that is not 0
ROUNDING = 1e-11  # share of the log likelihood that its sum may be wrong by


@dataclass(frozen=True)
class Slopes:
    """Log likelihood, gradient of shape (n,) and observed information of shape (n, n)."""

    value: float
    gradient: Floats
    information: Floats


@dataclass(frozen=True)
class Maximum:
    """Where the maximum is, the slopes there, and the steps taken."""

    at: Floats
    slopes: Slopes
    iterations: int


def maximise(
    slopes: Callable[[Floats], Slopes],
    start: Floats,
    *,
    n_strengths: int = 0,
    tolerance: float = 1e-9,
    max_iterations: int = 100,
) -> Maximum:
    """Climb to the maximum of a concave log likelihood.

    Parameters
    ----------
    slopes : callable
        Gives value, gradient and information at parameters of shape (n,); a value of minus
        infinity marks parameters that are not allowed.
    start : array of shape (n,)
        Allowed parameters to start from.
    n_strengths : int
        How many leading parameters may all be moved alike without changing the value; they are
        kept at mean 0. None, if 0.
    tolerance : float
        Newton step below which the search ends.
    max_iterations : int
        Steps allowed before giving up.

    Raises
    ------
    NotConvergedError
        If the steps run out, or the information cannot be inverted.

    Notes
    -----
    A step is halved until the value does not fall. Cost O(n**3) per step.
    """
    at = start.copy()
    here = slopes(at)
    for iteration in range(max_iterations):
        step = _step(here, n_strengths)
        if np.abs(step).max(initial=0.0) < tolerance:
            at[:n_strengths] -= at[:n_strengths].mean() if n_strengths else 0.0
            return Maximum(at, here, iteration)
        at, here = _walk(slopes, at, here, step)
    msg = f"no optimum within {max_iterations} steps"
    raise NotConvergedError(msg)


def covariance(information: Floats, *, n_strengths: int = 0) -> Floats:
    """Return the inverse of the information, with the strengths' null direction taken out.

    Raises
    ------
    NotConvergedError
        If the information is singular beyond that direction.
    """
    null = _null(information, n_strengths)
    size = _scale(information)
    grounded = information + size * np.outer(null, null)
    if not _is_definite(grounded):
        msg = "the information is singular"
        raise NotConvergedError(msg)
    inverse = _solve(grounded, np.eye(len(null)))
    spare = np.outer(null, null) / (size * n_strengths**2) if n_strengths else 0.0
    centred: Floats = inverse - spare
    return centred


def _step(here: Slopes, n_strengths: int) -> Floats:
    null = _null(here.information, n_strengths)
    grounded = here.information + _scale(here.information) * np.outer(null, null)
    step = _solve(grounded, here.gradient)
    shortened: Floats = step / max(1.0, np.abs(step).max(initial=0.0) / LONGEST_STEP)
    return shortened


def _walk(
    slopes: Callable[[Floats], Slopes], at: Floats, here: Slopes, step: Floats
) -> tuple[Floats, Slopes]:
    """Take the step, or the longest of its halves that does not lead down."""
    slack = ROUNDING * max(1.0, abs(here.value))
    for halving in range(MOST_HALVINGS):
        there = at + step / 2**halving
        slope = slopes(there)
        if slope.value >= here.value - slack:
            return there, slope
    msg = "the log likelihood rises in no direction, yet its gradient is not zero"
    raise NotConvergedError(msg)


def _solve(matrix: Floats, right: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
    except np.linalg.LinAlgError as error:
        msg = "the information cannot be inverted"
        raise NotConvergedError(msg) from error


def _is_definite(matrix: Floats) -> bool:
    """Say whether a symmetric matrix is positive definite by more than rounding."""
    scale = np.sqrt(np.maximum(matrix.diagonal(), np.finfo(np.float64).tiny))
    return bool(np.linalg.eigvalsh(matrix / np.outer(scale, scale)).min() > SINGULAR)


def _null(information: Floats, n_strengths: int) -> Floats:
    null = np.zeros(len(information))
    null[:n_strengths] = 1.0
    return null


def _scale(information: Floats) -> float:
    """Return a positive number on the scale of the information."""
    return float(np.abs(information.diagonal()).mean()) / max(1, len(information)) or 1.0


ROUNDING_OF_FORMS = 1e-6  # of the sum of the forms of a linear programme


class NoMaximumError(ValueError):
    """The likelihood grows without end, so that no finite estimate exists."""


class AllTiesError(NoMaximumError):
    """Ties are so many that the parameter of ties grows without end."""


class SeparationError(NoMaximumError):
    """Some mix of strengths and covariates tells every outcome in advance."""


def check_wins_and_ties(wins: Floats, ties: Floats) -> tuple[Floats, Floats]:
    """Return float copies of two tables without their diagonals, or refuse them.

    Parameters
    ----------
    wins : array of shape (n_systems, n_systems)
        ``wins[i, j]`` is how often (or with which weight) i was preferred to j, at least 0.
    ties : array of shape (n_systems, n_systems)
        ``ties[i, j]`` is how often neither was; symmetric, at least 0.

    Raises
    ------
    ValueError
        If the tables are not square, of one shape and of two systems or more, an entry is
        negative or not finite, or the ties are not symmetric.
    NotConnectedError
        If wins and ties, a tie counting both ways, leave groups that cannot be compared.
    AllTiesError
        If the parameter of ties has no finite maximum.

    Notes
    -----
    Moving log strengths by t d_i and half-widths of a tie by t, the likelihood of Davidson and
    of Rao and Kupper never falls if d_i - d_j >= 1 wherever i won from j, and |d_i - d_j| <= 1
    wherever the two tied. Such d exist if and only if these differences contain no circle of
    negative length; with one, and with connected systems, the maximum is finite. All ties is
    the plainest case (d = 0). Cost O(n_systems**3).
    """
    wins, ties = (_without_diagonal(np.asarray(table, np.float64)) for table in (wins, ties))
    if wins.shape != ties.shape:
        msg = f"wins and ties must be of one shape, not {wins.shape} and {ties.shape}"
        raise ValueError(msg)
    if not np.allclose(ties, ties.T):
        msg = "ties must be symmetric"
        raise ValueError(msg)
    components = strong_components(wins + ties)
    if len(components) > 1:
        raise NotConnectedError(components)
    if ties.any() and not _has_circle(wins, ties):
        msg = "no finite parameter of ties: wins and ties leave no contradiction"
        raise AllTiesError(msg)
    return wins, ties


def grows_without_end(rows: sparse.csr_array) -> bool:
    """Say whether a direction exists in which no observation grows less likely, and some do more.

    Parameters
    ----------
    rows : sparse array of shape (n_rows, n_parameters)
        Each row is a linear form that must not be negative in such a direction.

    Notes
    -----
    A linear programme: the sum of the forms is maximised, each held between 0 and 1. Cost is
    that of the simplex method on n_rows bounds; meant to explain a search that did not end.

    References
    ----------
    .. [1] Albert & Anderson (1984), Biometrika 71:1-10. doi:10.1093/biomet/71.1.1
    .. [2] Konis (2007), DPhil thesis, University of Oxford (detection by linear programming).
    """
    from scipy import optimize  # noqa: PLC0415 (slow to import, and seldom needed)

    unique = sparse.csr_array(np.unique(rows.toarray(), axis=0))
    both = sparse.vstack([unique, -unique])
    most = np.concatenate([np.ones(unique.shape[0]), np.zeros(unique.shape[0])])
    limits = optimize.LinearConstraint(both, -np.inf, most)
    found = optimize.milp(-unique.sum(axis=0), constraints=limits, bounds=optimize.Bounds())
    return bool(found.success and found.fun < -ROUNDING_OF_FORMS)


def _without_diagonal(table: Floats) -> Floats:
    if table.ndim != 2 or table.shape[0] != table.shape[1]:  # noqa: PLR2004 (rows, columns)
        msg = f"a table must be square, not of shape {table.shape}"
        raise ValueError(msg)
    if len(table) <= 1:
        msg = f"at least two systems are needed, not {len(table)}"
        raise ValueError(msg)
    if not np.isfinite(table).all() or (table < 0).any():
        msg = "entries must be finite and not negative"
        raise ValueError(msg)
    cleared = table.copy()
    np.fill_diagonal(cleared, 0.0)
    return cleared


def _has_circle(wins: Floats, ties: Floats) -> bool:
    """Say whether the differences that an endless rise needs contradict each other."""
    lengths = np.where(wins > 0, -1.0, np.where(ties > 0, 1.0, 0.0))
    try:
        csgraph.johnson(sparse.csr_array(lengths))
    except csgraph.NegativeCycleError:
        return True
    return False
