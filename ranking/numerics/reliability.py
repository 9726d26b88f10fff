"""How well the sum of several measures tells what they have in common, sample by sample."""

import numpy as np

from ranking.numerics.arrays import Floats, Integers

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
