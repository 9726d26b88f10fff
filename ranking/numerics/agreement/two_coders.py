"""Agreement of two coders on whether something is there, text by text."""

import numpy as np

from ranking.numerics.agreement.coefficients import agreement_of_tables, cohen_kappas, gwet_ac1
from ranking.numerics.arrays import Booleans, Floats, Integers


def tables_by_unit(one: Booleans, other: Booleans, unit: Integers, *, n_units: int) -> Integers:
    """Count what two coders said of the same texts, unit by unit.

    Parameters
    ----------
    one, other : boolean arrays of shape (n_texts,)
        Whether each coder found it in each text.
    unit : integer array of shape (n_texts,)
        What each text belongs to and is drawn with, from 0 to ``n_units - 1``.
    n_units : int
        How many units there are.

    Returns
    -------
    integer array of shape (n_units, 2, 2)
        ``[u, v, w]`` is of how many texts one said v and the other w, 1 being that it is there.
    """
    tables = np.zeros((n_units, 2, 2), dtype=np.int64)
    np.add.at(tables, (unit, one.astype(np.int64), other.astype(np.int64)), 1)
    return tables


def drawn_kappas(tables: Integers, times: Floats) -> Floats:
    """Return Cohen's kappa for each row of ``times``, all rows at once.

    Parameters
    ----------
    tables : integer array of shape (n_units, 2, 2)
        As `tables_by_unit` returns them, with one text or more in each.
    times : array of shape (n_samples, n_units)
        How often each unit is in each sample: whole numbers, one or more units in each.

    Returns
    -------
    array of shape (n_samples,)
        NaN where both coders said one and the same of all texts.

    Notes
    -----
    Cost O(n_samples * n_units).
    """
    counted = np.tensordot(times, tables, axes=1)
    return cohen_kappas(np.rint(counted).astype(np.int64))


def pabak(table: Integers) -> float:
    """Return the prevalence- and bias-adjusted kappa of one table, shape (2, 2).

    Twice the share of agreement less one: what kappa would be if half of the texts had it and
    both coders found it equally often. 1 for full agreement, 0 for as much as coins.

    References
    ----------
    .. [1] Byrt, Bishop & Carlin (1993), J. Clin. Epidemiol. 46:423-429.
       doi:10.1016/0895-4356(93)90018-V
    """
    return 2.0 * float(agreement_of_tables(table[None])[0]) - 1.0


def ac1(table: Integers) -> float:
    """Return Gwet's AC1 of one table, shape (2, 2); see `gwet_ac1`."""
    n_finding = np.repeat([0, 1, 1, 2], table.ravel())
    return gwet_ac1(np.column_stack([2 - n_finding, n_finding]))
