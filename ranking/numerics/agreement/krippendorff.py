"""Krippendorff's alpha: agreement beyond chance, whatever judgments are missing."""

from enum import StrEnum

import numpy as np

from ranking.numerics.arrays import Floats, Integers


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
