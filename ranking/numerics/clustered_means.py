"""Means of judgments of which those of one source dialogue depend on each other."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.numerics.arrays import Booleans, Floats, Integers

FEWEST = 2
STILL = 1e-12
"""Error below which clusters differ by rounding alone."""


class TooFewDialoguesError(ValueError):
    """One dialogue, or none, says nothing about how dialogues differ."""


@dataclass(frozen=True)
class ClusteredMean:
    """A mean, its standard error, and how many values in how many clusters it rests on.

    Of a difference, ``n_clusters`` are those of the part that is in fewer.
    """

    mean: float
    error: float
    n: int
    n_clusters: int

    @property
    def varies(self) -> bool:
        """Say whether clusters differ at all by more than rounding."""
        return self.error > STILL * max(1.0, abs(self.mean))

    def interval(self, level: float) -> tuple[float, float]:
        """Return its interval by Student's t with one degree of freedom less than clusters.

        Without any width where no cluster differs from another: what else there may be is then
        not known, and no interval should be shown.
        """
        reach = self.error * float(special.stdtrit(self.n_clusters - 1, (1 + level) / 2))
        return self.mean - reach, self.mean + reach

    def p_value(self, null: float = 0.0) -> float:
        """Return the two-sided p-value of the mean's being ``null``.

        By Student's t. Where no cluster differs from another t knows no doubt, however few there
        are; then it is how often signs of that many clusters, each turned by a coin, all agree.
        """
        if not self.varies:
            return 1.0 if abs(self.mean - null) <= STILL else 2.0 ** (1 - self.n_clusters)
        t = abs(self.mean - null) / self.error
        return float(2 * special.stdtr(self.n_clusters - 1, -t))


def clustered_mean(values: Floats, cluster: Integers) -> ClusteredMean:
    """Return the mean of all values with an error that holds when clusters hang together.

    Parameters
    ----------
    values : array of shape (n,)
        Finite; each counts alike.
    cluster : integer array of shape (n,)
        The source dialogue of each; any whole numbers.

    Returns
    -------
    ClusteredMean
        Its error is that of a ratio of sums: clusters may be of any size.

    Raises
    ------
    TooFewDialoguesError
        If there are fewer than two clusters.
    ValueError
        If the shapes differ or a value is not finite.

    Notes
    -----
    V = C/(C-1) sum over clusters of (y_c - n_c mean)**2 / n**2, the sandwich of a regression on
    nothing but a constant. With one value in each cluster it is the variance of any mean.
    Cost O(n log n).

    References
    ----------
    .. [1] Liang & Zeger (1986), Biometrika 73:13-22. doi:10.1093/biomet/73.1.13
    .. [2] Cochran (1977), Sampling Techniques, section 2.11.
    """
    _check(values, cluster)
    place, n_clusters = _places(cluster)
    mean = float(values.mean())
    sums = np.bincount(place, weights=values - mean, minlength=n_clusters)
    variance = n_clusters / (n_clusters - 1) * float(sums @ sums) / len(values) ** 2
    return ClusteredMean(mean, math.sqrt(variance), len(values), n_clusters)


def clustered_difference(values: Floats, cluster: Integers, is_second: Booleans) -> ClusteredMean:
    """Return how much higher the mean of one part is than that of the rest.

    Parameters
    ----------
    values, cluster
        As in `clustered_mean`.
    is_second : boolean array of shape (n,)
        Which part each value belongs to: the mean where it is True less that where it is False.

    Raises
    ------
    TooFewDialoguesError
        If a part is empty, or in fewer than two clusters: its own mean would seem exact.
    ValueError
        As in `clustered_mean`.

    Notes
    -----
    A cluster may hold values of both parts; what they share then cancels. It is the sandwich of a
    regression on a constant and the part. Degrees of freedom are those of the part that is in
    fewer clusters. Cost O(n log n).

    References
    ----------
    .. [1] Liang & Zeger (1986), Biometrika 73:13-22. doi:10.1093/biomet/73.1.13
    """
    _check(values, cluster)
    place, n_clusters = _places(cluster)
    if not is_second.any() or is_second.all():
        msg = "one of the two parts is empty"
        raise TooFewDialoguesError(msg)
    fewer = min(_places(cluster[part])[1] for part in (is_second, ~is_second))
    second, first = float(values[is_second].mean()), float(values[~is_second].mean())
    pull = np.where(
        is_second,
        (values - second) / is_second.sum(),
        (first - values) / (~is_second).sum(),
    )
    sums = np.bincount(place, weights=pull, minlength=n_clusters)
    variance = n_clusters / (n_clusters - 1) * float(sums @ sums)
    return ClusteredMean(second - first, math.sqrt(variance), len(values), fewer)


def _check(values: Floats, cluster: Integers) -> None:
    if values.shape != cluster.shape or values.ndim != 1 or not np.isfinite(values).all():
        msg = f"finite values of shape (n,) are needed, each with its cluster, not {values.shape}"
        raise ValueError(msg)


def _places(cluster: Integers) -> tuple[Integers, int]:
    found, place = np.unique(cluster, return_inverse=True)
    if len(found) < FEWEST:
        msg = f"{len(found)} clusters, and {FEWEST} are needed"
        raise TooFewDialoguesError(msg)
    return place.astype(np.int64), len(found)
