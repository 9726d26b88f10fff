"""Newton's method for log likelihoods that have one maximum."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ranking.numerics.arrays import Floats
from ranking.numerics.bradley_terry import NotConvergedError

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
