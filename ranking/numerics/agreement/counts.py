"""How often each value was given to each item, and how often two evaluators agree."""

import numpy as np

from ranking.numerics.arrays import Floats, Integers


def count_values(item: Integers, value: Integers, *, n_items: int, n_values: int) -> Integers:
    """Count the values of each item.

    Parameters
    ----------
    item, value : integer arrays of shape (n_judgments,)
        Indices from 0; each evaluator gives an item one value at most.
    n_items, n_values : int
        How many of each there are.

    Returns
    -------
    integer array of shape (n_items, n_values)

    Raises
    ------
    ValueError
        If the columns differ in length or an index is out of range.
    """
    if item.shape != value.shape:
        msg = f"columns differ in length: {item.shape}, {value.shape}"
        raise ValueError(msg)
    for name, indices, bound in (("item", item, n_items), ("value", value, n_values)):
        if indices.size and not 0 <= indices.min() <= indices.max() < bound:
            msg = f"{name} must lie between 0 and {bound - 1}"
            raise ValueError(msg)
    flat = np.bincount(item * n_values + value, minlength=n_items * n_values)
    counts: Integers = flat.reshape(n_items, n_values)
    return counts


def observed_agreement(counts: Integers) -> float:
    """Return the share of pairs of judgments of one item that agree.

    Parameters
    ----------
    counts : integer array of shape (n_items, n_values)
        As `count_values` gives them; items may have different numbers of judgments.

    Returns
    -------
    float
        Between 0 and 1; NaN if no item has two judgments. Every pair of judgments weighs alike,
        so an item with many judgments weighs more.
    """
    judged = counts.sum(axis=1)
    n_pairs = float((judged * (judged - 1)).sum())
    alike = float((counts * (counts - 1)).sum())
    return alike / n_pairs if n_pairs else float("nan")


def shares(counts: Integers) -> Floats:
    """Return the share of each value among all judgments, shape (n_values,)."""
    found: Floats = counts.sum(axis=0) / counts.sum()
    return found
