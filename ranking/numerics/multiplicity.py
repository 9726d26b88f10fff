"""P-values adjusted for how many tests there are."""

from collections.abc import Callable

import numpy as np

from ranking.numerics.arrays import Floats


def holm(p_values: Floats) -> Floats:
    """Adjust p-values so that the chance of any false rejection is held.

    Parameters
    ----------
    p_values : array of shape (n_tests,)
        Between 0 and 1.

    Returns
    -------
    array of shape (n_tests,)
        Adjusted p-values in the order given: reject where they are at most the level.

    Raises
    ------
    ValueError
        If a value is not between 0 and 1, or the array is not flat.

    Notes
    -----
    Valid under any dependence. No tests give no values. Cost O(n log n).

    References
    ----------
    .. [1] Holm (1979), Scand. J. Stat. 6:65-70.
    """

    def step(ordered: Floats) -> Floats:
        left = np.arange(len(ordered), 0, -1)
        return np.maximum.accumulate(ordered * left)

    return _in_order(p_values, step)


def benjamini_hochberg(p_values: Floats) -> Floats:
    """Adjust p-values so that the expected share of false rejections is held.

    Notes
    -----
    Arguments, result and errors as in `holm`. Valid if tests are independent or positively
    dependent; pairwise comparisons share systems and are neither for sure.

    References
    ----------
    .. [1] Benjamini & Hochberg (1995), J. R. Stat. Soc. B 57:289-300.
       doi:10.1111/j.2517-6161.1995.tb02031.x
    """
    return _in_order(p_values, _from_the_largest)


def _from_the_largest(ordered: Floats) -> Floats:
    n = len(ordered)
    raised = ordered * (n / np.arange(1, n + 1))
    smallest: Floats = np.minimum.accumulate(raised[::-1])[::-1]
    return smallest


def _in_order(p_values: Floats, adjust: Callable[[Floats], Floats]) -> Floats:
    """Adjust p-values sorted upwards, and hand them back in the order given, at most 1."""
    if p_values.ndim != 1 or not ((p_values >= 0.0) & (p_values <= 1.0)).all():
        msg = "p-values must be a flat array between 0 and 1"
        raise ValueError(msg)
    order = p_values.argsort(kind="stable")
    adjusted = np.empty_like(p_values, dtype=np.float64)
    adjusted[order] = np.minimum(adjust(p_values[order]), 1.0)
    return adjusted
