"""Gwet's AC1: agreement beyond chance that stays steady when one value is rare."""

from ranking.numerics.arrays import Integers

TWO = 2


def gwet_ac1(counts: Integers) -> float:
    """Return Gwet's AC1 for any number of evaluators.

    Parameters
    ----------
    counts : integer array of shape (n_items, n_values)
        How often each value was given to each item; numbers of judgments may differ, and there
        are two values or more.

    Returns
    -------
    float
        1 for full agreement, 0 for that of chance; NaN if no item has two judgments.

    Raises
    ------
    ValueError
        If there are fewer than two values.

    Notes
    -----
    Observed agreement is averaged over items with two judgments or more, the shares of the
    values over all items with any. Chance agreement is the sum of share * (1 - share) over
    n_values - 1. Cost O(n_items * n_values).

    References
    ----------
    .. [1] Gwet (2008), Brit. J. Math. Stat. Psychol. 61:29-48. doi:10.1348/000711006X126600
    """
    n_values = counts.shape[1]
    if n_values < TWO:
        msg = f"two values or more are needed, not {n_values}"
        raise ValueError(msg)
    judged = counts.sum(axis=1)
    compared = counts[judged >= TWO]
    if not len(compared):
        return float("nan")
    n = compared.sum(axis=1)
    observed = ((compared * (compared - 1)).sum(axis=1) / (n * (n - 1))).mean()
    share = (counts[judged > 0] / judged[judged > 0, None]).mean(axis=0)
    by_chance = (share * (1.0 - share)).sum() / (n_values - 1.0)
    return float((observed - by_chance) / (1.0 - by_chance))
