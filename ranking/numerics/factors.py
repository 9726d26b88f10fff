"""What several measures have in common: how many factors, and how each measure loads on them."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import stats

from ranking.numerics.arrays import Floats

FEWEST_MEASURES = 3
SINGULAR = 1e-8
STEEP = 1e-5  # of the scaled log likelihood; above this the search did not arrive
TOLERANCE = 1e-9
MOST_STEPS = 2000


class FactorsUndefinedError(ValueError):
    """The correlations determine no factors; the message says why."""


@dataclass(frozen=True)
class ParallelAnalysis:
    """Eigenvalues beside those of chance, and how many factors stand out.

    ``eigenvalues`` and ``by_chance`` have shape (n_measures,), the largest first.
    """

    eigenvalues: Floats
    by_chance: Floats
    n_factors: int


@dataclass(frozen=True)
class Factors:
    """How measures load on factors, after rotation.

    Attributes
    ----------
    loadings : array of shape (n_measures, n_factors)
        What a measure gains with each factor, the others held; the factor with most first, each
        with positive sum.
    correlation : array of shape (n_factors, n_factors)
        Of the factors.
    communalities : array of shape (n_measures,)
        Share of each measure's variance that the factors account for.
    """

    loadings: Floats
    correlation: Floats
    communalities: Floats


def parallel_analysis(
    correlation: Floats,
    n: int,
    *,
    n_samples: int,
    rng: np.random.Generator,
    level: float = 0.95,
) -> ParallelAnalysis:
    """Return how many eigenvalues are larger than those of measures with nothing in common.

    Parameters
    ----------
    correlation : array of shape (n_measures, n_measures)
        Of the measures.
    n : int
        How many things were measured; more than there are measures.
    n_samples : int
        How many sets of independent normal measures to draw.
    rng : numpy.random.Generator
        The only source of chance.
    level : float
        Which quantile of the drawn eigenvalues counts as chance.

    Returns
    -------
    ParallelAnalysis
        ``n_factors`` counts from the largest down, and stops at the first that is no larger.

    Raises
    ------
    FactorsUndefinedError
        If there are fewer than three measures, or no more things than measures.

    Notes
    -----
    Covariances of normal measures are drawn as such (Wishart), so the cost does not grow with n.

    References
    ----------
    .. [1] Horn (1965), Psychometrika 30:179-185. doi:10.1007/BF02289447
    """
    size = _check(correlation)
    if n <= size:
        msg = f"{n} things do not determine the factors of {size} measures"
        raise FactorsUndefinedError(msg)
    drawn = stats.wishart.rvs(df=n - 1, scale=np.eye(size), size=n_samples, random_state=rng)
    drawn = np.reshape(drawn, (n_samples, size, size))
    spread = np.sqrt(np.diagonal(drawn, axis1=1, axis2=2))
    chance = np.linalg.eigvalsh(drawn / (spread[:, :, None] * spread[:, None, :]))[:, ::-1]
    eigenvalues = np.linalg.eigvalsh(correlation)[::-1].astype(np.float64)
    by_chance = np.quantile(chance, level, axis=0).astype(np.float64)
    stands_out = np.append(eigenvalues > by_chance, values=False)
    return ParallelAnalysis(eigenvalues, by_chance, int(stands_out.argmin()))


def most_factors(n_measures: int) -> int:
    """Return how many factors can be told apart: no more free numbers than correlations."""
    able = [m for m in range(1, n_measures) if (n_measures - m) ** 2 >= n_measures + m]
    return max(able, default=0)


def factor_analysis(correlation: Floats, n_factors: int) -> Factors:
    """Fit factors by maximum likelihood and rotate them, allowing them to correlate.

    Parameters
    ----------
    correlation : array of shape (n_measures, n_measures)
        Of the measures; not singular.
    n_factors : int
        From 1 to `most_factors`.

    Returns
    -------
    Factors
        Rotated by direct oblimin with gamma 0 (quartimin); one factor needs no rotation.

    Raises
    ------
    FactorsUndefinedError
        If there are fewer than three measures or more factors than can be told apart, if the
        correlations are singular, or if the search does not end.

    Notes
    -----
    The search starts from squared multiple correlations and is not random. Where a communality
    comes out as 1 the likelihood grows to the edge; it is up to the caller to say so.

    References
    ----------
    .. [1] Joreskog (1967), Psychometrika 32:443-482. doi:10.1007/BF02289658
    .. [2] Jennrich & Sampson (1966), Psychometrika 31:313-323. doi:10.1007/BF02289465
    """
    size = _check(correlation)
    if not 1 <= n_factors <= most_factors(size):
        msg = f"{size} measures determine 1 to {most_factors(size)} factors, not {n_factors}"
        raise FactorsUndefinedError(msg)
    if np.linalg.eigvalsh(correlation)[0] < SINGULAR:
        msg = "one measure follows from the others"
        raise FactorsUndefinedError(msg)
    # It takes seconds to import, and nothing else of the site needs it.
    from statsmodels.multivariate.factor import Factor  # noqa: PLC0415
    from statsmodels.multivariate.factor_rotation import rotate_factors  # noqa: PLC0415

    model = Factor(corr=correlation, n_factor=n_factors, method="ml")
    with warnings.catch_warnings():
        # It warns of steps too small to matter; how steep the end is says more.
        warnings.simplefilter("ignore")
        found = model.fit(
            start=_start(correlation, n_factors), opt={"gtol": TOLERANCE, "maxiter": MOST_STEPS}
        )
    steep = float(np.abs(found.mle_retvals.jac).max())
    if not np.isfinite(found.loadings).all() or steep > STEEP:
        msg = f"the search for {n_factors} factors did not end"
        raise FactorsUndefinedError(msg)
    loadings, turn = np.asarray(found.loadings, dtype=np.float64), np.eye(n_factors)
    if n_factors > 1:
        loadings, turn = rotate_factors(loadings, "quartimin")
    return _ordered(loadings, turn.T @ turn, 1.0 - np.asarray(found.uniqueness))


def _start(correlation: Floats, n_factors: int) -> tuple[Floats, Floats]:
    """Return loadings and unique variances from squared multiple correlations."""
    unique = 1.0 / np.diag(np.linalg.inv(correlation))
    values, vectors = np.linalg.eigh(correlation - np.diag(unique))
    largest = np.maximum(values[::-1][:n_factors], TOLERANCE)
    return vectors[:, ::-1][:, :n_factors] * np.sqrt(largest), unique


def _ordered(loadings: Floats, correlation: Floats, communalities: Floats) -> Factors:
    sign = np.where(loadings.sum(axis=0) < 0, -1.0, 1.0)
    order = np.argsort(-(loadings**2).sum(axis=0), kind="stable")
    turned = correlation * np.outer(sign, sign)
    return Factors((loadings * sign)[:, order], turned[np.ix_(order, order)], communalities)


def _check(correlation: Floats) -> int:
    size = len(correlation)
    if correlation.shape != (size, size) or not np.isfinite(correlation).all():
        msg = f"a finite square of correlations is needed, not shape {correlation.shape}"
        raise ValueError(msg)
    if size < FEWEST_MEASURES:
        msg = f"{size} measures have no factors; {FEWEST_MEASURES} are needed"
        raise FactorsUndefinedError(msg)
    return size
