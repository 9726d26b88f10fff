"""Fleiss' kappa: agreement beyond chance where every item has as many judgments."""

import numpy as np

from ranking.numerics.agreement.counts import observed_agreement, shares
from ranking.numerics.arrays import Booleans, Integers


class UnequalNumbersError(ValueError):
    """Items have different numbers of judgments."""


def fleiss_kappa(counts: Integers) -> float:
    """Return Fleiss' kappa.

    Parameters
    ----------
    counts : integer array of shape (n_items, n_values)
        How often each value was given to each item; every row adds up to the same number, of
        two or more.

    Returns
    -------
    float
        1 for full agreement, 0 for that of chance; NaN if only one value was ever given.

    Raises
    ------
    UnequalNumbersError
        If rows add up to different numbers.
    ValueError
        If there are no items, or fewer than two judgments of each.

    Notes
    -----
    (P - P_e) / (1 - P_e), P_e being the sum of the squared shares of the values. The evaluators
    of one item need not be those of another. Cost O(n_items * n_values).

    References
    ----------
    .. [1] Fleiss (1971), Psychol. Bull. 76:378-382. doi:10.1037/h0031619
    """
    judged = counts.sum(axis=1)
    if not judged.size or judged.min() < 2:  # noqa: PLR2004 (a pair)
        msg = "every item needs two judgments or more"
        raise ValueError(msg)
    if judged.min() < judged.max():
        msg = f"items have from {judged.min()} to {judged.max()} judgments"
        raise UnequalNumbersError(msg)
    by_chance = float((shares(counts) ** 2).sum())
    if by_chance == 1.0:
        return float("nan")
    return (observed_agreement(counts) - by_chance) / (1.0 - by_chance)


def most_common_number(counts: Integers) -> tuple[int, Booleans]:
    """Return the number of judgments that most items have, and which items have it.

    Numbers below two do not count; of numbers equally common the larger is taken. With no such
    item the number is 0.
    """
    judged = counts.sum(axis=1)
    times = np.bincount(judged, minlength=3)
    times[:2] = 0
    number = len(times) - 1 - int(times[::-1].argmax()) if times.any() else 0
    return number, (judged == number) & (judged > 0)
