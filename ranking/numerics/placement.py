"""Where one more system stands among systems whose strengths are known."""

import numpy as np
from scipy import special

from ranking.numerics.arrays import Floats
from ranking.numerics.bradley_terry import LONGEST_STEP, NotConvergedError


def place_among(
    wins: Floats,
    losses: Floats,
    strengths: Floats,
    *,
    tolerance: float = 1e-8,
    max_iterations: int = 100,
) -> Floats:
    """Find the Bradley-Terry strength of one system, the others' strengths being given.

    Parameters
    ----------
    wins, losses : arrays of shape (n_replicates, n_systems)
        Weight with which the placed system was preferred to system j, and j to it
        (dimensionless, at least 0). A tie adds half its weight to each.
    strengths : array of shape (n_replicates, n_systems)
        Log strengths (natural log) of the others, in any gauge; a row of NaN has none.
    tolerance : float
        Newton step, in natural-log units, below which the search ends.
    max_iterations : int
        Newton steps allowed before giving up.

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
        If a maximum is not reached.

    Notes
    -----
    This solves sum_j (w_j + l_j) expit(theta - theta_j) = sum_j w_j, the placed system's own
    equation of the joint fit. A system whose judgments are already in that fit is therefore
    placed where the fit has it. Cost O(n_replicates * n_systems) per step.

    References
    ----------
    .. [1] Bradley & Terry (1952), Biometrika 39:324-345. doi:10.2307/2334029
    """
    _check(wins, losses, strengths)
    n, won = wins + losses, wins.sum(axis=1)
    exists = (won > 0) & (losses.sum(axis=1) > 0) & np.isfinite(strengths).all(axis=1)
    theta = np.full(len(wins), np.nan)
    theta[exists] = 0.0
    moving = np.flatnonzero(exists)
    for _ in range(max_iterations):
        if not moving.size:
            return theta
        p = special.expit(theta[moving, None] - strengths[moving])
        gradient = won[moving] - (n[moving] * p).sum(axis=1)
        step = gradient / (n[moving] * p * (1.0 - p)).sum(axis=1)
        theta[moving] += np.clip(step, -LONGEST_STEP, LONGEST_STEP)
        moving = moving[np.abs(step) > tolerance]
    if moving.size:
        msg = f"{moving.size} of {len(wins)} places were not found in {max_iterations} steps"
        raise NotConvergedError(msg)
    return theta


def _check(wins: Floats, losses: Floats, strengths: Floats) -> None:
    """Raise ValueError unless the three fit each other and the weights are weights."""
    shapes = {wins.shape, losses.shape, strengths.shape}
    if len(shapes) > 1 or wins.ndim != 2:  # noqa: PLR2004 (replicates, systems)
        msg = f"all must be of one shape (n_replicates, n_systems), not {sorted(shapes)}"
        raise ValueError(msg)
    if not all(np.isfinite(one).all() and (one >= 0).all() for one in (wins, losses)):
        msg = "wins and losses must be finite and not negative"
        raise ValueError(msg)
