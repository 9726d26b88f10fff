"""Cohen's kappa of every two evaluators, on the items that both judged."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ranking.numerics.arrays import Floats, Integers


@dataclass(frozen=True)
class PairsOfEvaluators:
    """Two evaluators each, and what both said, for those that have an item in common.

    Attributes
    ----------
    one, other : integer arrays of shape (n_pairs,)
        Indices of the evaluators, ``one`` the smaller; sorted.
    tables : integer array of shape (n_pairs, n_values, n_values)
        ``[p, v, w]`` is how many items had value v from ``one`` and w from ``other``.
    """

    one: Integers
    other: Integers
    tables: Integers


def cross_tabulate(
    item: Integers, evaluator: Integers, value: Integers, *, n_values: int
) -> PairsOfEvaluators:
    """Set what every two evaluators said of the same items side by side.

    Parameters
    ----------
    item, evaluator, value : integer arrays of shape (n_judgments,)
        Indices from 0; an evaluator gives an item one value at most.
    n_values : int
        How many values there are.

    Returns
    -------
    PairsOfEvaluators
        Nobody is set beside himself.

    Raises
    ------
    ValueError
        If an evaluator judged an item twice.

    Notes
    -----
    Cost is the sum over items of the squared number of their judgments.
    """
    n_items, n_evaluators = (int(column.max(initial=-1)) + 1 for column in (item, evaluator))
    if len(np.unique(item * n_evaluators + evaluator)) < len(item):
        msg = "an evaluator judged an item twice"
        raise ValueError(msg)
    said = sparse.csr_array(
        (np.ones(len(item), dtype=np.int64), (evaluator * n_values + value, item)),
        shape=(n_evaluators * n_values, n_items),
    )
    both = sparse.coo_array(said @ said.T)
    rows, columns = both.coords
    one, other = rows // n_values, columns // n_values
    kept = one < other
    names, place = np.unique(
        one[kept].astype(np.int64) * n_evaluators + other[kept], return_inverse=True
    )
    tables = np.zeros((len(names), n_values, n_values), dtype=np.int64)
    tables[place, rows[kept] % n_values, columns[kept] % n_values] = both.data[kept]
    return PairsOfEvaluators(names // max(n_evaluators, 1), names % max(n_evaluators, 1), tables)


def agreement_of_tables(tables: Integers) -> Floats:
    """Return the share of items on which the two agree, shape (n_pairs,)."""
    alike = np.trace(tables, axis1=1, axis2=2)
    found: Floats = alike / tables.sum(axis=(1, 2))
    return found


def cohen_kappas(tables: Integers) -> Floats:
    """Return Cohen's kappa of each table.

    Parameters
    ----------
    tables : integer array of shape (n_pairs, n_values, n_values)
        What two evaluators said of the same items, with one item or more in each.

    Returns
    -------
    array of shape (n_pairs,)
        1 for full agreement, 0 for that of chance; NaN where both gave one and the same value
        throughout.

    Notes
    -----
    (P - P_e) / (1 - P_e), P_e being the sum of the products of the two evaluators' own shares.

    References
    ----------
    .. [1] Cohen (1960), Educ. Psychol. Meas. 20:37-46. doi:10.1177/001316446002000104
    """
    n = tables.sum(axis=(1, 2)).astype(np.float64)
    by_chance = (tables.sum(axis=2) * tables.sum(axis=1)).sum(axis=1) / n**2
    left = 1.0 - by_chance
    undefined = left <= 0.0
    kappas = (agreement_of_tables(tables) - by_chance) / np.where(undefined, 1.0, left)
    return np.where(undefined, np.nan, kappas)
