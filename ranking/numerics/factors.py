"""What several measures have in common: factors, loadings, and how well their sum tells it."""

from dataclasses import dataclass

import numpy as np
import scipy

from ranking.numerics.arrays import Floats, Integers

FEWEST_MEASURES = 3
SINGULAR = 1e-8
CHANCE = 0.95  # quantile of drawn eigenvalues up to which all is chance
STEEP = 1e-7  # gradient above which a search did not arrive
EXACT = 1e-12  # misfit below which nothing is left for one more factor
CLOSEST = 1e-12  # distance of eigenvalues that are told apart
MOST_STEPS = 5000
MOST_HALVINGS = 10
LONGEST_STEP = 2.0  # natural-log units of unique variances


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
    correlation: Floats, n: int, *, n_samples: int, rng: np.random.Generator
) -> ParallelAnalysis:
    """Return how many eigenvalues are larger than those of measures with nothing in common.

    Parameters
    ----------
    correlation : array of shape (n_measures, n_measures)
        Of the measures.
    n : int
        How many independent things were measured; more than there are measures.
    n_samples : int
        How many sets of independent normal measures to draw.
    rng : numpy.random.Generator
        The only source of chance.

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
    drawn = scipy.stats.wishart.rvs(df=n - 1, scale=np.eye(size), size=n_samples, random_state=rng)
    drawn = np.reshape(drawn, (n_samples, size, size))
    spread = np.sqrt(np.diagonal(drawn, axis1=1, axis2=2))
    chance = np.linalg.eigvalsh(drawn / (spread[:, :, None] * spread[:, None, :]))[:, ::-1]
    eigenvalues = np.linalg.eigvalsh(correlation)[::-1].astype(np.float64)
    by_chance = np.quantile(chance, CHANCE, axis=0).astype(np.float64)
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
        correlations are singular or wholly explained by fewer factors, or if the search does not
        end.

    Notes
    -----
    What is searched for are the logarithms of the unique variances, of which the best loadings
    follow, with exact gradient and Hessian. The search starts from squared multiple correlations;
    nothing is random.
    Where a communality comes out as 1 the likelihood grows to the edge; it is up to the caller to
    say so. The rotation goes along its gradient, each factor's variance kept at 1.

    References
    ----------
    .. [1] Joreskog (1967), Psychometrika 32:443-482. doi:10.1007/BF02289658
    .. [2] Clarke (1970), British Journal of Mathematical and Statistical Psychology 23:43-52.
       doi:10.1111/j.2044-8317.1970.tb00432.x
    .. [3] Jennrich & Sampson (1966), Psychometrika 31:313-323. doi:10.1007/BF02289465
    .. [4] Jennrich (2002), Psychometrika 67:7-19. doi:10.1007/BF02294706
    """
    size = _check(correlation)
    if not 1 <= n_factors <= most_factors(size):
        msg = f"{size} measures determine 1 to {most_factors(size)} factors, not {n_factors}"
        raise FactorsUndefinedError(msg)
    if np.linalg.eigvalsh(correlation)[0] < SINGULAR:
        msg = "one measure follows from the others"
        raise FactorsUndefinedError(msg)
    inverse = np.asarray(np.linalg.inv(correlation), dtype=np.float64)
    fewer = n_factors - 1
    if fewer and _misfit(inverse, np.log(_unique_variances(inverse, fewer)), fewer) < EXACT:
        msg = f"{fewer} already explain the correlations wholly, and one more would be any"
        raise FactorsUndefinedError(msg)
    unique = _unique_variances(inverse, n_factors)
    inner, vectors = _weighed(inverse, np.log(unique))
    beyond_chance = np.sqrt(np.maximum(1.0 / inner[:n_factors] - 1.0, 0.0))
    loadings = np.sqrt(unique)[:, None] * vectors[:, :n_factors] * beyond_chance
    turn = _turned(loadings)
    return _ordered(loadings @ np.linalg.inv(turn).T, turn.T @ turn, 1.0 - unique)


def _weighed(inverse: Floats, logs: Floats) -> tuple[Floats, Floats]:
    """Return eigenvalues, the smallest first, and vectors of the inverse between unique deviations.

    They are those of the weighed correlations turned over, and stay finite where a variance is 0.
    """
    deviations = np.exp(logs / 2.0)
    values, vectors = np.linalg.eigh(deviations[:, None] * inverse * deviations)
    return np.maximum(values, np.finfo(np.float64).tiny), vectors


def _misfit(inverse: Floats, logs: Floats, n_factors: int) -> float:
    """Return how much less likely the correlations are than they could be; 0 at best."""
    rest = _weighed(inverse, logs)[0][n_factors:]
    return float((1.0 / rest + np.log(rest) - 1.0).sum())


def _unique_variances(inverse: Floats, n_factors: int) -> Floats:
    """Return the unique variances under which the correlations are likeliest."""
    start = -np.log(np.diag(inverse))

    def misfit(logs: Floats) -> float:
        return _misfit(inverse, logs, n_factors)

    def gradient(logs: Floats) -> Floats:
        values, vectors = _weighed(inverse, logs)
        slope: Floats = vectors[:, n_factors:] ** 2 @ (1.0 - 1.0 / values[n_factors:])
        return slope

    def hessian(logs: Floats) -> Floats:
        values, vectors = _weighed(inverse, logs)
        common, rest = values[:n_factors], values[n_factors:, None]
        among = (1.0 / rest + 1.0 / rest.T) / 2.0
        across = (1.0 - 1.0 / rest) * (rest + common) / np.maximum(rest - common, CLOSEST)
        pairs = np.einsum("ik,jk->ijk", vectors, vectors)
        inside, outside = pairs[..., :n_factors], pairs[..., n_factors:]
        curved = np.einsum("ijk,ijl,kl->ij", outside, outside, among)
        curved += np.einsum("ijk,ijl,kl->ij", outside, inside, across)
        return np.asarray(curved, dtype=np.float64)

    found = scipy.optimize.minimize(
        misfit,
        start,
        jac=gradient,
        hess=hessian,
        method="trust-exact",
        options={"gtol": STEEP, "maxiter": MOST_STEPS, "max_trust_radius": LONGEST_STEP},
    )
    if not found.success:
        msg = f"the search for {n_factors} factors did not end"
        raise FactorsUndefinedError(msg)
    return np.asarray(np.exp(found.x), dtype=np.float64)


def _turned(loadings: Floats) -> Floats:
    """Return the turn, with columns of length 1, after which loadings are simplest (quartimin)."""
    turn, step = np.eye(loadings.shape[1]), 1.0
    value, slope = _complexity(loadings, turn)
    for _ in range(MOST_STEPS):
        along = slope - turn * (turn * slope).sum(axis=0)
        steepness = float((along**2).sum())
        if steepness <= STEEP**2:
            return turn
        before, from_value, step = turn, value, 4.0 * step  # twice the last one, when it is halved
        for _halving in range(MOST_HALVINGS):
            step /= 2.0
            turn = before - step * along
            turn /= np.linalg.norm(turn, axis=0)
            value, slope = _complexity(loadings, turn)
            if from_value - value > steepness * step / 2.0:
                break
    msg = f"the rotation of {len(turn)} factors did not end"
    raise FactorsUndefinedError(msg)


def _complexity(loadings: Floats, turn: Floats) -> tuple[float, Floats]:
    """Return a quarter of the products of squared loadings on two factors, and its slope by T."""
    back = np.linalg.inv(turn)
    turned = loadings @ back.T
    others = (turned**2).sum(axis=1, keepdims=True) - turned**2
    slope: Floats = -(turned.T @ (turned * others) @ back).T
    return float((turned**2 * others).sum()) / 4.0, slope


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


N_STEPS = 500
CLOSE = 1e-9


def moments(values: Floats, unit: Integers, *, n_units: int) -> Floats:
    """Return the sums of products of measures by unit, a constant 1 being the last of them.

    Parameters
    ----------
    values : array of shape (n, n_measures)
        Finite.
    unit : integer array of shape (n,)
        What each belongs to and is drawn with.
    n_units : int
        How many units there are.

    Returns
    -------
    array of shape (n_units, n_measures + 1, n_measures + 1)
    """
    with_one = np.column_stack([values, np.ones(len(values))])
    size = with_one.shape[1]
    sums = np.zeros((n_units, size, size))
    np.add.at(sums, unit, with_one[:, :, None] * with_one[:, None, :])
    return sums


def independent_things(sums: Floats) -> int:
    """Return how many things of their own tell correlations as surely as those of these units.

    From the `moments` of standardised measures: the mean variance of their products, clustered by
    unit (the mean design effect of Rao & Scott 1984, doi:10.1214/aos/1176346391).
    """
    one, other = np.triu_indices(sums.shape[1] - 1, 1)
    products, n_of = sums[:, one, other], sums[:, -1, -1]
    n, n_units = float(n_of.sum()), len(sums)
    mean = products.sum(axis=0) / n
    squares = ((products - n_of[:, None] * mean) ** 2).sum(axis=0) * n_units / max(n_units - 1, 1)
    variance = float((squares / (n**2 * (1.0 + mean**2))).mean())
    return round(1.0 + 1.0 / max(variance, 1.0 / (n - 1.0)))


def correlations(sums: Floats, times: Floats) -> Floats:
    """Return the correlations in each sample, shape (n_samples, n_measures, n_measures).

    ``times``, of shape (n_samples, n_units), says how often each unit is in each sample. A
    measure that does not vary in a sample has NaN.
    """
    total = np.tensordot(times, sums, axes=1)
    mean = total[:, :-1, -1:] / total[:, -1:, -1:]
    covariance = total[:, :-1, :-1] / total[:, -1:, -1:] - mean * mean.swapaxes(1, 2)
    variance = np.diagonal(covariance, axis1=1, axis2=2)
    spread = np.sqrt(np.where(variance > CLOSE, variance, np.nan))
    found: Floats = covariance / (spread[:, :, None] * spread[:, None, :])
    return found


def cronbach_alphas(correlation: Floats) -> Floats:
    """Return Cronbach's alpha of standardised measures, for each matrix of a stack.

    Parameters
    ----------
    correlation : array of shape (n_samples, n_measures, n_measures)
        With two measures or more.

    Returns
    -------
    array of shape (n_samples,)
        At most 1; NaN where a correlation is.

    References
    ----------
    .. [1] Cronbach (1951), Psychometrika 16:297-334. doi:10.1007/BF02310555
    """
    size = correlation.shape[1]
    found: Floats = size / (size - 1.0) * (1.0 - size / correlation.sum(axis=(1, 2)))
    return found


def mcdonald_omegas(correlation: Floats) -> Floats:
    """Return McDonald's omega of one factor, for each matrix of a stack.

    Parameters
    ----------
    correlation : array of shape (n_samples, n_measures, n_measures)
        With three measures or more.

    Returns
    -------
    array of shape (n_samples,)
        Between 0 and 1; NaN where a correlation is.

    Notes
    -----
    (sum of loadings)**2 over itself and the sum of unique variances. Loadings are those of
    iterated principal axes, which end at least squares; communalities stay between 0 and 1.
    Cost O(n_samples * n_measures**3) a step.

    References
    ----------
    .. [1] McDonald (1999), Test Theory, chapter 6.
    """
    found = np.full(len(correlation), np.nan)
    known = np.isfinite(correlation).all(axis=(1, 2))
    loadings = _one_factor(correlation[known])
    common = loadings.sum(axis=1) ** 2
    found[known] = common / (common + (1.0 - loadings**2).sum(axis=1))
    return found


def _one_factor(correlation: Floats) -> Floats:
    """Return the loadings on one factor, shape (n_samples, n_measures)."""
    size = correlation.shape[1]
    diagonal = np.arange(size)
    reduced = correlation.copy()
    loadings = np.zeros(correlation.shape[:2])
    off = np.abs(correlation) - np.eye(size)
    communality = off.max(axis=2, initial=0.0)
    for _ in range(N_STEPS):
        reduced[:, diagonal, diagonal] = communality
        values, vectors = np.linalg.eigh(reduced)
        root = np.sqrt(np.maximum(values[:, -1:], 0.0))
        loadings = np.clip(vectors[:, :, -1] * root, -1.0, 1.0)
        step = loadings**2 - communality
        communality = loadings**2
        if np.abs(step).max(initial=0.0) < CLOSE:
            break
    return loadings
