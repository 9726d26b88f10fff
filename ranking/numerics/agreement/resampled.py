"""Coefficients of agreement with intervals, by drawing whole units anew."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ranking.numerics.agreement.coefficients import Metric
from ranking.numerics.arrays import Booleans, Floats, Integers


@dataclass(frozen=True)
class IntervalEstimate:
    """A figure with its interval, which is NaN where it cannot be told."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Tallies:
    """What coefficients are made of, added up by unit.

    Attributes
    ----------
    alike, compared : arrays of shape (n_units,)
        Ordered pairs of judgments of one item: those that agree, and all.
    totals : array of shape (n_units, n_values)
        How often each value was given.
    met : array of shape (n_units, n_values, n_values)
        Coincidences as `ranking.numerics.agreement.coefficients.coincidences` counts them.
    """

    alike: Floats
    compared: Floats
    totals: Floats
    met: Floats


def tally(counts: Integers, unit: Integers, *, n_units: int) -> Tallies:
    """Add up what coefficients are made of by unit.

    Parameters
    ----------
    counts : integer array of shape (n_items, n_values)
        How often each value was given to each item.
    unit : integer array of shape (n_items,)
        What each item belongs to and is drawn with, from 0 to ``n_units - 1``.
    n_units : int
        How many units there are.

    Notes
    -----
    Cost O(n_items * n_values**2).
    """
    judged = counts.sum(axis=1)
    n_values = counts.shape[1]
    totals, met = np.zeros((n_units, n_values)), np.zeros((n_units, n_values, n_values))
    alike = np.bincount(unit, (counts * (counts - 1)).sum(axis=1), n_units).astype(np.float64)
    compared = np.bincount(unit, judged * (judged - 1), n_units).astype(np.float64)
    np.add.at(totals, unit, counts)
    is_pair = judged > 1
    taken = counts[is_pair].astype(np.float64)
    weighted = taken / (judged[is_pair, None] - 1.0)
    both = taken[:, :, None] * weighted[:, None, :]
    both -= weighted[:, :, None] * np.eye(n_values)
    np.add.at(met, unit[is_pair], both)
    return Tallies(alike, compared, totals, met)


def raw_agreement(tallies: Tallies, times: Floats) -> Floats:
    """Return the share of pairs of judgments that agree, for each row of ``times``.

    ``times``, of shape (n_samples, n_units), says how often each unit is in each sample.
    """
    compared = times @ tallies.compared
    found: Floats = (times @ tallies.alike) / np.where(compared > 0, compared, np.nan)
    return found


def fleiss_kappas(tallies: Tallies, times: Floats) -> Floats:
    """Return Fleiss' kappa for each row of ``times``; items must have equal numbers."""
    totals = times @ tallies.totals
    shares = totals / np.maximum(totals.sum(axis=1, keepdims=True), 1.0)
    by_chance = (shares**2).sum(axis=1)
    left = np.where(by_chance < 1.0 - 1e-12, 1.0 - by_chance, np.nan)
    found: Floats = (raw_agreement(tallies, times) - by_chance) / left
    return found


def alphas(tallies: Tallies, times: Floats, values: Floats, metric: Metric) -> Floats:
    """Return Krippendorff's alpha for each row of ``times``, all rows at once.

    ``values`` and ``metric`` are those of `ranking.numerics.agreement.coefficients`; NaN where
    no two judgments can be compared, or all of them are alike.
    """
    met = np.tensordot(times, tallies.met, axes=1)
    totals = met.sum(axis=2)
    apart = _squared_distances(totals, values, metric)
    expected = (totals[:, :, None] * totals[:, None, :] * apart).sum(axis=(1, 2))
    observed = (totals.sum(axis=1) - 1.0) * (met * apart).sum(axis=(1, 2))
    found: Floats = 1.0 - observed / np.where(expected > 0, expected, np.nan)
    return found


def _squared_distances(totals: Floats, values: Floats, metric: Metric) -> Floats:
    """Return the distances of two values, shape (n_samples or 1, n_values, n_values)."""
    if metric is Metric.NOMINAL:
        return (1.0 - np.eye(len(values)))[None]
    is_interval = metric is Metric.INTERVAL
    place = values[None] if is_interval else np.cumsum(totals, axis=1) - totals / 2.0
    squared: Floats = (place[:, :, None] - place[:, None, :]) ** 2
    return squared


def estimated(
    coefficient: Callable[[Floats], Floats], n_units: int, times: Floats, *, level: float
) -> IntervalEstimate:
    """Return a coefficient of all units, with percentiles of those of the samples.

    Parameters
    ----------
    coefficient : callable
        Takes numbers of times, shape (n, n_units), and returns as many figures.
    n_units : int
        How many units there are.
    times : array of shape (n_samples, n_units)
        How often each unit is in each sample.
    level : float
        Share of the samples inside the interval.

    Returns
    -------
    Estimate
        Without an interval where there are fewer than two units; samples in which the
        coefficient is not defined are left out.
    """
    value = float(coefficient(np.ones((1, n_units)))[0])
    drawn = coefficient(times)
    drawn = drawn[np.isfinite(drawn)]
    if n_units <= 1 or not len(drawn) or not np.isfinite(value):
        return IntervalEstimate(value, float("nan"), float("nan"))
    low, high = np.quantile(drawn, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return IntervalEstimate(value, float(low), float(high))


def draw_times(n_units: int, n_samples: int, rng: np.random.Generator) -> Floats:
    """Draw how often each unit is in each sample, shape (n_samples, n_units)."""
    evenly = np.full(n_units, 1.0 / n_units)
    return rng.multinomial(n_units, evenly, size=n_samples).astype(np.float64)


def ratio(
    part: Floats, whole: Floats, unit: Integers, *, n_units: int
) -> Callable[[Floats], Floats]:
    """Return the coefficient that divides the sum of ``part`` by that of ``whole``."""
    of_part, of_whole = (np.bincount(unit, one, n_units) for one in (part, whole))

    def divided(times: Floats) -> Floats:
        below = times @ of_whole
        found: Floats = (times @ of_part) / np.where(below > 0, below, np.nan)
        return found

    return divided


def shares_of(is_so: Booleans, unit: Integers, *, n_units: int) -> Callable[[Floats], Floats]:
    """Return the coefficient that is the share of entries that are so."""
    n = np.ones(len(unit))
    return ratio(is_so.astype(np.float64), n, unit, n_units=n_units)
