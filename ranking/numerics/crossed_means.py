"""Means of scores that hang together in two ways: by source dialogue and by rater."""

import math
from dataclasses import dataclass

import numpy as np

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.clustered_means import ClusteredMean, clustered_mean
from ranking.numerics.refits import draw_units


def crossed_mean(values: Floats, cluster: Integers, other: Integers) -> ClusteredMean:
    """Return the mean of all values with an error that holds when they hang together in two ways.

    Parameters
    ----------
    values : array of shape (n,)
        Finite; each counts alike.
    cluster, other : integer arrays of shape (n,)
        Source dialogue and rater of each; any whole numbers from 0.

    Returns
    -------
    ClusteredMean
        Its variance is that by dialogue, plus that by rater, less that by both together, each as
        in `ranking.numerics.clustered_means.clustered_mean`; but no less than either of the first
        two. ``n_clusters`` is the smaller of their numbers.

    Raises
    ------
    TooFewDialoguesError
        If there are fewer than two clusters of either kind.
    ValueError
        If the shapes differ or a value is not finite.

    Notes
    -----
    The difference of variances may come out too small, even below 0, with few clusters: hence
    the floor. With few raters it is a rough guide. Cost O(n log n).

    References
    ----------
    .. [1] Cameron, Gelbach & Miller (2011), J. Bus. Econ. Stat. 29:238-249.
       doi:10.1198/jbes.2010.07136
    """
    one, two = clustered_mean(values, cluster), clustered_mean(values, other)
    both = cluster.astype(np.int64) * (int(other.max()) + 1) + other
    joint = clustered_mean(values, both)
    variance = one.error**2 + two.error**2 - joint.error**2
    error = max(math.sqrt(max(variance, 0.0)), one.error, two.error)
    return ClusteredMean(one.mean, error, one.n, min(one.n_clusters, two.n_clusters))


@dataclass(frozen=True)
class UnitTotals:
    """Values of each system in each unit added up, and counted: (n_units, n_systems) each."""

    sums: Floats
    n: Integers


def unit_totals(
    values: Floats, system: Integers, unit: Integers, *, n_systems: int, n_units: int
) -> UnitTotals:
    """Add up finite values of shape (n,) by what each is of and where it comes from."""
    place, shape = unit * n_systems + system, (n_units, n_systems)
    n = np.bincount(place, minlength=n_units * n_systems)
    sums = np.bincount(place, weights=values, minlength=n_units * n_systems)
    return UnitTotals(sums.astype(np.float64, copy=False).reshape(shape), n.reshape(shape))


def resampled_means(totals: UnitTotals, *, n_replicates: int, rng: np.random.Generator) -> Floats:
    """Return the mean of each system in samples of whole units, drawn with replacement.

    Parameters
    ----------
    totals : UnitTotals
        What was scored, by source dialogue and system.
    n_replicates : int
        Samples of as many units as there are.
    rng : numpy.random.Generator
        The only source of chance; the samples are those of `ranking.numerics.refits.draw_units`,
        and so those of `ranking.numerics.bootstrap.bootstrap_strengths`.

    Returns
    -------
    array of shape (n_replicates, n_systems)
        NaN where a sample has no value of a system.

    Notes
    -----
    Cost O(n_replicates * n_units * n_systems).
    """
    times = draw_units(len(totals.n), n_replicates, rng)
    counted = times @ totals.n
    unknown = np.full(counted.shape, np.nan)
    means: Floats = np.divide(times @ totals.sums, counted, out=unknown, where=counted > 0)
    return means
