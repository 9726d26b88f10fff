"""How much one more judgment on each pair would tell, and with what weight to ask for it."""

from typing import Any

import numpy as np
from scipy import special

from ranking.numerics.arrays import Floats

PRIOR_PRECISION = 0.25
"""Of each strength, in natural-log units: a standard deviation of 2, or about 350 Elo."""
GREATEST_RATIO = 10.0
"""Between the weights of the most and the least informative pair."""


def strength_covariance(
    theta: Floats, n: Floats, *, prior_precision: float = PRIOR_PRECISION
) -> Floats:
    """Return the Laplace covariance of Bradley-Terry strengths.

    Parameters
    ----------
    theta : array of shape (n_systems,)
        Log strengths (natural log) of the current fit; 0 for a system that has none yet.
    n : array of shape (n_systems, n_systems)
        Judgments of each pair (dimensionless, at least 0), symmetric; the diagonal is ignored.
    prior_precision : float
        Inverse variance of an independent normal prior on each strength, greater than 0. It
        makes systems that were never judged uncertain instead of impossible.

    Returns
    -------
    array of shape (n_systems, n_systems)
        ``inv(H)`` with ``H = prior_precision * I + sum_ij n_ij p_ij (1 - p_ij) d_ij d_ij'``,
        where ``p_ij = expit(theta_i - theta_j)`` and ``d_ij = e_i - e_j``.

    Raises
    ------
    ValueError
        If the shapes do not fit, a count is negative or anything is not finite, the counts are
        not symmetric, or the prior's precision is not positive.

    References
    ----------
    .. [1] Tierney & Kadane (1986), JASA 81:82-86. doi:10.1080/01621459.1986.10478240
    """
    theta, n = np.asarray(theta, dtype=np.float64), np.asarray(n, dtype=np.float64)
    _check(theta, n, prior_precision)
    weight = n * _bernoulli_variance(theta)
    np.fill_diagonal(weight, 0.0)
    information = np.diag(weight.sum(axis=1) + prior_precision) - weight
    covariance: Floats = np.asarray(np.linalg.inv(information), dtype=np.float64)
    return covariance


def expected_reduction(theta: Floats, covariance: Floats) -> Floats:
    """Return by how much one more judgment on each pair would shrink the contrasts' variance.

    Parameters
    ----------
    theta : array of shape (n_systems,)
        Log strengths (natural log).
    covariance : array of shape (n_systems, n_systems)
        Their covariance, as `strength_covariance` gives it.

    Returns
    -------
    array of shape (n_systems, n_systems)
        The fall of ``var(theta_k - theta_l)``, averaged over all pairs (k, l) of systems, when
        pair (i, j) is judged once more; squared natural-log units. Symmetric, the diagonal 0.

    Raises
    ------
    ValueError
        If the shapes do not fit or there are fewer than two systems.

    Notes
    -----
    A judgment on (i, j) adds ``w d d'`` to the information, with ``w = p (1 - p)`` whatever its
    outcome. By Sherman and Morrison [1]_ the covariance V loses ``w V d d' V / (1 + w d' V d)``.
    The variances of all contrasts add up to ``K trace(V) - 1' V 1``, and ``1' V d`` is 0 for the
    prior used here, so that they lose ``K w |V d|^2 / (1 + w d' V d)``. Asking for the pair that
    lowers this most is A-optimal design for contrasts, one step ahead [2]_. Cost
    O(n_systems**3), for all pairs at once.

    References
    ----------
    .. [1] Sherman & Morrison (1950), Ann. Math. Statist. 21:124-127. doi:10.1214/aoms/1177729893
    .. [2] Chaloner & Verdinelli (1995), Statist. Sci. 10:273-304. doi:10.1214/ss/1177009939
    """
    theta = np.asarray(theta, dtype=np.float64)
    covariance = np.asarray(covariance, dtype=np.float64)
    k = len(theta)
    if k <= 1 or covariance.shape != (k, k):
        msg = f"{k} systems do not go with a covariance of shape {covariance.shape}"
        raise ValueError(msg)
    w = _bernoulli_variance(theta)
    spread = _contrasts(covariance)
    squared_length = _contrasts(covariance @ covariance)
    reduction: Floats = 2.0 * w * squared_length / ((k - 1) * (1.0 + w * spread))
    return np.maximum(reduction, 0.0)


def sampling_weights(reduction: Floats, *, greatest_ratio: float = GREATEST_RATIO) -> Floats:
    """Return weights in proportion to the reductions, none much smaller than another.

    Parameters
    ----------
    reduction : array of any shape
        What a judgment on each pair would tell (at least 0).
    greatest_ratio : float
        How many times the largest weight may be the smallest, at least 1. Smaller reductions
        are raised to the floor that this gives, so that every pair keeps a positive chance and
        weighting by its inverse stays possible.

    Returns
    -------
    array of the same shape
        Positive weights with mean 1; all 1 if nothing would tell anything. Empty if empty.

    Raises
    ------
    ValueError
        If a reduction is negative or not finite, or the ratio is below 1.
    """
    reduction = np.asarray(reduction, dtype=np.float64)
    if not np.isfinite(reduction).all() or (reduction < 0).any():
        msg = "reductions must be finite and not negative"
        raise ValueError(msg)
    if not greatest_ratio >= 1.0:
        msg = f"the greatest ratio must be at least 1, not {greatest_ratio}"
        raise ValueError(msg)
    largest = reduction.max(initial=0.0)
    if largest <= 0.0:
        return np.ones_like(reduction)
    floored = np.maximum(reduction / largest, 1.0 / greatest_ratio)
    weights: Floats = floored / floored.mean()
    return weights


def _bernoulli_variance(theta: Floats) -> Floats:
    """Return p (1 - p) for each pair, shape (n_systems, n_systems)."""
    p = special.expit(theta[:, None] - theta[None, :])
    variance: Floats = p * (1.0 - p)
    return variance


def _contrasts(matrix: Floats) -> Floats:
    """Return d' M d for each contrast d = e_i - e_j, shape (n_systems, n_systems)."""
    diagonal = matrix.diagonal()
    found: Floats = diagonal[:, None] + diagonal[None, :] - matrix - matrix.T
    return found


def _check(theta: Floats, n: Floats, prior_precision: float) -> None:
    """Raise ValueError where theta, counts or prior cannot be meant."""
    problems: dict[str, Any] = {
        f"counts of shape {n.shape} for {len(theta)} systems": n.shape != 2 * theta.shape,
        "strengths and counts must be finite": not (
            np.isfinite(theta).all() and np.isfinite(n).all()
        ),
        "counts must not be negative": (n < 0).any(),
        f"the prior precision must be positive, not {prior_precision}": not prior_precision > 0,
    }
    if found := [problem for problem, is_so in problems.items() if is_so]:
        raise ValueError("; ".join(found))
    if not np.array_equal(n, n.T):
        msg = "counts must be symmetric"
        raise ValueError(msg)
