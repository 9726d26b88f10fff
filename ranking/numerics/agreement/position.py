"""Whether an evaluator favours what is shown first."""

from scipy import special


def two_sided_p(n_first: int, n: int) -> float:
    """Return the exact p-value of a sign test.

    Parameters
    ----------
    n_first : int
        How often the first of two was preferred.
    n : int
        How often either was; ties do not count.

    Returns
    -------
    float
        Chance of a split at least as uneven, either way, if both places were alike; 1 for no
        judgments.

    Raises
    ------
    ValueError
        If the first was preferred less than never or more than always.

    Notes
    -----
    It takes judgments as independent, and sides as drawn at random.
    """
    if not 0 <= n_first <= n:
        msg = f"cannot be preferred {n_first} times of {n}"
        raise ValueError(msg)
    fewer = min(n_first, n - n_first)
    return min(1.0, 2.0 * float(special.bdtr(fewer, n, 0.5)))
