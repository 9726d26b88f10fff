"""One evaluator against the majority of the others, and some against the rest."""

import numpy as np

from ranking.numerics.agreement.counts import count_values
from ranking.numerics.agreement.majority import majorities
from ranking.numerics.arrays import Integers


def majority_of_others(item: Integers, value: Integers, *, n_items: int, n_values: int) -> Integers:
    """Return, for each opinion, the majority of those that others hold of the same item.

    Parameters
    ----------
    item, value : integer arrays of shape (n_opinions,)
        Indices from 0; an evaluator holds one opinion of an item at most.
    n_items, n_values : int
        How many of each there are.

    Returns
    -------
    integer array of shape (n_opinions,)
        Index of the value, or `ranking.numerics.agreement.majority.NO_MAJORITY`.
    """
    others = count_values(item, value, n_items=n_items, n_values=n_values)[item]
    others[np.arange(len(item)), value] -= 1
    return majorities(others)


def split_majorities(
    item: Integers,
    value: Integers,
    *,
    n_taken: int,
    n_items: int,
    n_values: int,
    rng: np.random.Generator,
) -> tuple[Integers, Integers]:
    """Draw some of the opinions of each item, and return their majority and that of the rest.

    Parameters
    ----------
    item, value : integer arrays of shape (n_opinions,)
        Indices from 0; an evaluator holds one opinion of an item at most.
    n_taken : int
        How many opinions of each item are drawn, without replacement.
    n_items, n_values : int
        How many of each there are.
    rng : numpy.random.Generator
        The only source of chance.

    Returns
    -------
    two integer arrays of shape (n_items,)
        Without a majority in both where an item has fewer opinions than are drawn.

    Notes
    -----
    Cost O(n_opinions log n_opinions).
    """
    order = np.lexsort((value, item))  # who holds an opinion does not decide what is drawn
    item, value = item[order], value[order]
    shuffled = np.argsort(item + rng.random(len(item)))
    n = np.bincount(item, minlength=n_items)
    place = np.arange(len(item)) - np.repeat(np.cumsum(n) - n, n)
    has_enough = n[item[shuffled]] >= n_taken
    parts = (has_enough & (place < n_taken), has_enough & (place >= n_taken))
    some, rest = (
        count_values(
            item[shuffled[part]], value[shuffled[part]], n_items=n_items, n_values=n_values
        )
        for part in parts
    )
    return majorities(some), majorities(rest)
