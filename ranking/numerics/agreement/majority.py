"""How often an evaluator says what most or most of the others say, and what is shown first."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.numerics.agreement.opinions import count_values
from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.clustered_means import ClusteredMean
from ranking.numerics.simultaneous import effective_units

NO_MAJORITY = -1
BLOCK_BYTES = 16 * 2**20


@dataclass(frozen=True)
class Matched:
    """A share with its interval; the interval is NaN where it cannot be told."""

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
    """Return the share of items on which two agree, with an interval by units.

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
        With which the interval is to hold.

    Returns
    -------
    Matched
        NaN for the share of no items, and for the interval where no unit differs from another.

    Notes
    -----
    The interval is that of `ClusteredMean.share_interval`, with the error that the share has in
    samples of whole units: their percentiles hold too seldom where a share is near 1.
    Cost O(n_items + n_replicates * n_units).
    """
    nothing = float("nan")
    if not len(unit):
        return Matched(0, nothing, nothing, nothing)
    found, place = np.unique(unit, return_inverse=True)
    n = np.bincount(place).astype(np.float64)
    alike = np.bincount(place, weights=is_alike.astype(np.float64)).astype(np.float64)
    share = float(alike.sum() / n.sum())
    drawn, n_units = _resample(alike, n, n_replicates, rng), len(found)
    error = float(drawn.std()) * math.sqrt(n_units / max(n_units - 1, 1))
    freedom = float(effective_units(n) - 1.0)
    mean = ClusteredMean(share, error, len(unit), n_units, freedom)
    reach = mean.share_interval(level) if mean.varies else (nothing, nothing)
    return Matched(len(unit), share, *reach)


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
        Index of the value, or `NO_MAJORITY`.
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
