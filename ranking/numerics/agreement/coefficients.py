"""Agreement beyond chance: Krippendorff's alpha, Fleiss' and Cohen's kappa, Gwet's AC1, PABAK."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy import sparse

from ranking.numerics.agreement.opinions import observed_agreement, shares
from ranking.numerics.arrays import Booleans, Floats, Integers


class Metric(StrEnum):
    """How far apart two values are."""

    NOMINAL = "nominal"
    """Different or not."""

    ORDINAL = "ordinal"
    """By how many judgments lie between them."""

    INTERVAL = "interval"
    """By the square of their difference."""


def krippendorff_alpha(counts: Integers, values: Floats, metric: Metric) -> float:
    """Return Krippendorff's alpha.

    Parameters
    ----------
    counts : integer array of shape (n_items, n_values)
        How often each value was given to each item. Items with fewer than two judgments have
        nothing to compare and are left out.
    values : array of shape (n_values,)
        The values, rising; only their order matters to `Metric.ORDINAL`, nothing to
        `Metric.NOMINAL`.
    metric : Metric
        How far apart two values are.

    Returns
    -------
    float
        1 for full agreement, 0 for that of chance, below 0 for less; NaN if no two judgments can
        be compared, or all of them are alike.

    Raises
    ------
    ValueError
        If the values do not rise, or are not as many as the columns.

    Notes
    -----
    Cost O(n_items * n_values**2), memory that of the counts.

    References
    ----------
    .. [1] Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.
       https://repository.upenn.edu/asc_papers/43
    .. [2] Hayes & Krippendorff (2007), Commun. Methods Meas. 1:77-89.
       doi:10.1080/19312450709336664
    """
    return alpha_of_coincidences(coincidences(counts), values, metric)


def coincidences(counts: Integers) -> Floats:
    """Return how often two values met in an item, shape (n_values, n_values).

    Each pair of judgments of an item, taken in both orders, counts 1 / (m - 1), m being the
    number of its judgments. Tables of several sets of items add up.
    """
    judged = counts.sum(axis=1)
    compared = counts[judged > 1]
    weighted = compared / (judged[judged > 1, None] - 1.0)
    met: Floats = compared.T @ weighted - np.diag(weighted.sum(axis=0))
    return met


def alpha_of_coincidences(met: Floats, values: Floats, metric: Metric) -> float:
    """Return alpha of coincidences that were added up, shape (n_values, n_values)."""
    if met.shape != (len(values), len(values)) or (np.diff(values) <= 0).any():
        msg = f"{met.shape[-1]} rising values are needed, not {values}"
        raise ValueError(msg)
    totals = met.sum(axis=1)
    n = float(totals.sum())
    apart = _squared_distances(totals, values, metric)
    expected = float(totals @ apart @ totals)
    if expected == 0.0:
        return float("nan")
    return 1.0 - (n - 1.0) * float((met * apart).sum()) / expected


def _squared_distances(totals: Floats, values: Floats, metric: Metric) -> Floats:
    if metric is Metric.NOMINAL:
        return 1.0 - np.eye(len(values))
    # Halfway through the judgments that have a value, so that differences are those between.
    place = values if metric is Metric.INTERVAL else np.cumsum(totals) - totals / 2.0
    squared: Floats = (place[:, None] - place[None, :]) ** 2
    return squared


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
