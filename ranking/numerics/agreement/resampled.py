"""Coefficients of agreement with intervals by drawing units anew, and what evaluators are worth."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ranking.numerics.agreement.coefficients import Metric
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.few_units import expanded_intervals

STILL = 1e-12
"""Spread of samples below which they differ by rounding alone."""


@dataclass(frozen=True)
class IntervalEstimate:
    """A figure with its interval, whose ends are NaN where they cannot be told."""

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
        How many of the units the figure rests on.
    times : array of shape (n_samples, n_all_units)
        How often each unit is in each sample.
    level : float
        With which the interval is to hold.

    Returns
    -------
    IntervalEstimate
        As `of_samples` has it.
    """
    value = float(coefficient(np.ones((1, times.shape[1])))[0])
    return of_samples(value, coefficient(times), n_units=n_units, level=level)


def of_samples(value: float, drawn: Floats, *, n_units: int, level: float) -> IntervalEstimate:
    """Return a figure with percentiles of its samples, expanded for few units.

    Samples in which it is not defined, NaN, are left out. There is no interval where fewer than
    two units or samples are left, or all say the same: how far others may be is then not known.
    """
    drawn = drawn[np.isfinite(drawn)]
    if min(n_units, len(drawn)) <= 1 or not np.isfinite(value) or np.ptp(drawn) <= STILL:
        return IntervalEstimate(value, float("nan"), float("nan"))
    ends = expanded_intervals(np.array([value]), drawn[:, None], n_units=n_units, level=level)
    return IntervalEstimate(value, float(ends.low[0]), float(ends.high[0]))


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


NOTHING = 1e-9  # of spread: what is left where all errors are alike


def mean_correlation(errors: Floats, unit: Integers, *, n_units: int) -> Callable[[Floats], Floats]:
    """Return the mean correlation of the errors of every two evaluators, sample by sample.

    Parameters
    ----------
    errors : array of shape (n_items, n_evaluators)
        How wrong each was about each item; NaN where it said nothing.
    unit : integer array of shape (n_items,)
        What each item belongs to and is drawn with.
    n_units : int
        How many units there are.

    Returns
    -------
    callable
        Takes how often each unit is in each sample, shape (n_samples, n_units), and returns an
        array of shape (n_samples,). Pairs of evaluators without variation are left out; NaN if
        none is left.

    Notes
    -----
    Product-moment correlation on the items that both judged.
    Cost O(n_evaluators**2 * (n_items + n_samples * n_units)).
    """
    n_evaluators = errors.shape[1]
    pairs = [(a, b) for a in range(n_evaluators) for b in range(a + 1, n_evaluators)]
    moments = [_moments(errors[:, [a, b]], unit, n_units) for a, b in pairs]

    def mean(times: Floats) -> Floats:
        found = np.array([_correlation(times @ one) for one in moments]).reshape(-1, len(times))
        known = np.isfinite(found)
        n = known.sum(axis=0)
        total = np.where(known, found, 0.0).sum(axis=0)
        averaged: Floats = total / np.where(n > 0, n, np.nan)
        return averaged

    return mean


def effective_number(n_evaluators: int, correlation: Floats) -> Floats:
    """Return n / (1 + (n - 1) rho), a negative rho counting as 0.

    As many independent evaluators of the same variance have a mean as steady as that of these.

    References
    ----------
    .. [1] Kish (1965), Survey Sampling, section 5.4.
    """
    found: Floats = n_evaluators / (1.0 + (n_evaluators - 1.0) * np.maximum(correlation, 0.0))
    return found


def _moments(two: Floats, unit: Integers, n_units: int) -> Floats:
    """Return n and the sums of x, y, xx, yy and xy by unit, shape (n_units, 6)."""
    known = np.isfinite(two).all(axis=1)
    x, y = two[known].T
    sums = np.zeros((n_units, 6))
    np.add.at(sums, unit[known], np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], axis=1))
    return sums


def _correlation(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = sums.T
    spread = (n * xx - x * x) * (n * yy - y * y)
    found: Floats = (n * xy - x * y) / np.sqrt(np.where(spread > NOTHING, spread, np.nan))
    return found
