"""How often an evaluator says what most others say, with an interval by units."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ranking.numerics.agreement.opinions import count_values
from ranking.numerics.arrays import Floats, Integers

NO_MAJORITY = -1
BLOCK_BYTES = 16 * 2**20


@dataclass(frozen=True)
class Matched:
    """A share with its interval; the interval is NaN where there are too few units."""

    n: int
    share: float
    low: float
    high: float


def majorities(counts: Integers) -> Integers:
    """Return the value that was given most often to each item.

    Parameters
    ----------
    counts : integer array of shape (n_items, n_values)
        How often each value was given.

    Returns
    -------
    integer array of shape (n_items,)
        Index of the value; `NO_MAJORITY` where two are equally frequent, or nothing was said.
    """
    most = counts.max(axis=1, initial=0)
    is_alone = (counts == most[:, None]).sum(axis=1) == 1
    return np.where(is_alone & (most > 0), counts.argmax(axis=1), NO_MAJORITY)


def match(
    is_alike: Integers,
    unit: Integers,
    *,
    n_replicates: int,
    rng: np.random.Generator,
    level: float = 0.95,
) -> Matched:
    """Return the share of items on which two agree, with a bootstrap interval by units.

    Parameters
    ----------
    is_alike : integer array of shape (n_items,)
        1 where the two agree, else 0.
    unit : integer array of shape (n_items,)
        What each item belongs to and is drawn with, as an index from 0.
    n_replicates : int
        How many samples of units to draw.
    rng : numpy.random.Generator
        The only source of chance.
    level : float
        Share of the replicates inside the interval.

    Returns
    -------
    Matched
        NaN for the share of no items, and for the interval of fewer than two units.

    Notes
    -----
    Percentile interval of the ratio of agreeing items to items in samples of whole units.
    Cost O(n_items + n_replicates * n_units).
    """
    nothing = float("nan")
    if not len(unit):
        return Matched(0, nothing, nothing, nothing)
    found, place = np.unique(unit, return_inverse=True)
    n = np.bincount(place).astype(np.float64)
    alike = np.bincount(place, weights=is_alike.astype(np.float64)).astype(np.float64)
    share = float(alike.sum() / n.sum())
    if len(found) <= 1:
        return Matched(len(unit), share, nothing, nothing)
    drawn = _resample(alike, n, n_replicates, rng)
    low, high = np.quantile(drawn, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Matched(len(unit), share, min(float(low), share), max(float(high), share))


def _resample(alike: Floats, n: Floats, n_replicates: int, rng: np.random.Generator) -> Floats:
    n_units = len(n)
    per_block = max(1, BLOCK_BYTES // (8 * n_units))
    evenly = np.full(n_units, 1.0 / n_units)
    shares: list[Floats] = []
    for start in range(0, n_replicates, per_block):
        size = min(per_block, n_replicates - start)
        times = rng.multinomial(n_units, evenly, size=size).astype(np.float64)
        shares.append((times @ alike) / (times @ n))
    return np.concatenate(shares)


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
