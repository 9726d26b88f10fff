"""How many independent evaluators some are worth, by how their errors go together."""

from collections.abc import Callable

import numpy as np

from ranking.numerics.arrays import Floats, Integers

NOTHING = 1e-9  # of spread: what is left where all errors are alike


def mean_correlation(errors: Floats, unit: Integers, *, n_units: int) -> Callable[[Floats], Floats]:
    """Return the mean correlation of the errors of every two evaluators, sample by sample.

    Parameters
    ----------
    errors : array of shape (n_items, n_evaluators)
        How wrong each was about each item; NaN where it said nothing.
    unit : integer array of shape (n_items,)
        What each item belongs to and is drawn with.
    n_units : int
        How many units there are.

    Returns
    -------
    callable
        Takes how often each unit is in each sample, shape (n_samples, n_units), and returns an
        array of shape (n_samples,). Pairs of evaluators without variation are left out; NaN if
        none is left.

    Notes
    -----
    Product-moment correlation on the items that both judged.
    Cost O(n_evaluators**2 * (n_items + n_samples * n_units)).
    """
    n_evaluators = errors.shape[1]
    pairs = [(a, b) for a in range(n_evaluators) for b in range(a + 1, n_evaluators)]
    moments = [_moments(errors[:, [a, b]], unit, n_units) for a, b in pairs]

    def mean(times: Floats) -> Floats:
        found = np.array([_correlation(times @ one) for one in moments]).reshape(-1, len(times))
        known = np.isfinite(found)
        n = known.sum(axis=0)
        total = np.where(known, found, 0.0).sum(axis=0)
        averaged: Floats = total / np.where(n > 0, n, np.nan)
        return averaged

    return mean


def effective_number(n_evaluators: int, correlation: Floats) -> Floats:
    """Return n / (1 + (n - 1) rho), a negative rho counting as 0.

    As many independent evaluators of the same variance have a mean as steady as that of these.

    References
    ----------
    .. [1] Kish (1965), Survey Sampling, section 5.4.
    """
    found: Floats = n_evaluators / (1.0 + (n_evaluators - 1.0) * np.maximum(correlation, 0.0))
    return found


def _moments(two: Floats, unit: Integers, n_units: int) -> Floats:
    """Return n and the sums of x, y, xx, yy and xy by unit, shape (n_units, 6)."""
    known = np.isfinite(two).all(axis=1)
    x, y = two[known].T
    sums = np.zeros((n_units, 6))
    np.add.at(sums, unit[known], np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], axis=1))
    return sums


def _correlation(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = sums.T
    spread = (n * xx - x * x) * (n * yy - y * y)
    found: Floats = (n * xy - x * y) / np.sqrt(np.where(spread > NOTHING, spread, np.nan))
    return found
