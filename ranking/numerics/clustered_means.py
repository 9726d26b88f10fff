"""Means and slopes of judgments that depend on each other: by source dialogue, or rater as well."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import special

from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.refits import draw_units
from ranking.numerics.simultaneous import effective_units

FEWEST = 2
STILL = 1e-12
"""Error below which clusters differ by rounding alone."""


class TooFewDialoguesError(ValueError):
    """One dialogue, or none, says nothing about how dialogues differ."""


@dataclass(frozen=True)
class ClusteredMean:
    """A mean, its standard error, and how many values in how many clusters it rests on.

    Of a difference, ``n_clusters`` are those of the part that is in fewer. ``freedom`` are the
    degrees of freedom of the error: one less, or fewer where some clusters outweigh the others.
    """

    mean: float
    error: float
    n: int
    n_clusters: int
    freedom: float

    @property
    def varies(self) -> bool:
        """Say whether clusters differ at all by more than rounding."""
        return self.error > STILL * max(1.0, abs(self.mean))

    def interval(self, level: float) -> tuple[float, float]:
        """Return its interval by Student's t.

        Without any width where no cluster differs from another: what else there may be is then
        not known, and no interval should be shown.
        """
        reach = self.error * float(special.stdtrit(self.freedom, (1 + level) / 2))
        return self.mean - reach, self.mean + reach

    def share_interval(self, level: float) -> tuple[float, float]:
        """Return the interval of a share, between 0 and 1.

        Wilson's, for as many values as would have the error by themselves: not more than there
        are, fewer by the squared ratio of t quantiles where clusters are few, and as many as there
        are clusters where all values are 0, or 1. That of `interval` does not hold for rare shares.

        References
        ----------
        .. [1] Wilson (1927), JASA 22:209-212. doi:10.1080/01621459.1927.10502953
        .. [2] Korn & Graubard (1998), Survey Methodology 24:193-201, the effective number.
        .. [3] Franco, Little, Louis & Slud (2019), J. Surv. Stat. Methodol. 7:334-364.
           doi:10.1093/jssam/smy019
        """
        share, spread = self.mean, self.mean * (1.0 - self.mean)
        worth = min(float(self.n), spread / max(self.error, STILL) ** 2)
        n = worth if spread > STILL else float(self.n_clusters)
        freedom = np.array([self.n - 1.0, self.freedom])
        every, clusters = special.stdtrit(freedom, (1.0 + level) / 2.0)
        z = float(special.ndtri((1.0 + level) / 2.0))
        n *= float(every / clusters) ** 2 / (z * z)
        middle, reach = share + 0.5 / n, math.sqrt(spread / n + 0.25 / (n * n))
        low, high = ((middle + end) / (1.0 + 1.0 / n) for end in (-reach, reach))
        return max(0.0, low), min(1.0, high)

    def p_value(self, null: float = 0.0) -> float:
        """Return the two-sided p-value of the mean's being ``null``.

        By Student's t. Where no cluster differs from another t knows no doubt, however few there
        are; then it is how often signs of that many clusters, each turned by a coin, all agree.
        """
        if not self.varies:
            return 1.0 if abs(self.mean - null) <= STILL else 2.0 ** (1 - self.n_clusters)
        t = abs(self.mean - null) / self.error
        return float(2 * special.stdtr(self.freedom, -t))


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
    return ClusteredMean(mean, math.sqrt(variance), len(values), n_clusters, _freedom(place))


def _freedom(place: Integers, weights: Floats | None = None) -> float:
    return float(effective_units(np.bincount(place, weights)) - 1.0)


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
    regression on a constant and the part. A part that is the same throughout does not tell how it
    would vary (of 20 messages none may show what 5 % do): it is then taken to vary as the other
    does, value by value or cluster by cluster, whichever is more. Degrees of freedom are those of
    the part that has fewer. Cost O(n log n).

    References
    ----------
    .. [1] Liang & Zeger (1986), Biometrika 73:13-22. doi:10.1093/biomet/73.1.13
    .. [2] Agresti & Caffo (2000), The American Statistician 54:280-288, on parts that are all
       alike. doi:10.1080/00031305.2000.10474560
    """
    _check(values, cluster)
    place, n_clusters = _places(cluster)
    if not is_second.any() or is_second.all():
        msg = "one of the two parts is empty"
        raise TooFewDialoguesError(msg)
    parts = (~is_second, is_second)
    n_of = np.array([(part.sum(), _places(cluster[part])[1]) for part in parts])
    second, first = float(values[is_second].mean()), float(values[~is_second].mean())
    pull = np.where(
        is_second,
        (values - second) / is_second.sum(),
        (first - values) / (~is_second).sum(),
    )
    sums = np.bincount(place, weights=pull, minlength=n_clusters)
    variance = n_clusters / (n_clusters - 1) * float(sums @ sums)
    still = np.array([np.ptp(values[part]) == 0.0 for part in parts])
    if still.sum() == 1:
        variance *= 1.0 + float((n_of[~still] / n_of[still]).max())
    return ClusteredMean(
        mean=second - first,
        error=math.sqrt(variance),
        n=len(values),
        n_clusters=int(n_of[:, 1].min()),
        freedom=min(_freedom(place[part]) for part in parts),
    )


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
        in `clustered_mean`; but no less than either of the first
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
    found = crossed(partial(clustered_mean, values), cluster, other)
    n_clusters = min(found.n_clusters, len(np.unique(other)))
    return replace(found, n_clusters=n_clusters, freedom=n_clusters - 1.0)


def crossed(
    estimate: Callable[[Integers], ClusteredMean], cluster: Integers, other: Integers
) -> ClusteredMean:
    """Return what is estimated with an error for two ways of hanging together, as `crossed_mean`.

    ``estimate`` gives the figure with its error for some clusters; ``n_clusters`` is that of
    the first. Degrees of freedom are between those of the two, by what each adds (Satterthwaite).
    """
    both = cluster.astype(np.int64) * (int(other.max()) + 1) + other
    one, two, joint = (estimate(way) for way in (cluster, other, both))
    own, added = one.error**2, max(two.error**2 - joint.error**2, 0.0)
    error = max(math.sqrt(own + added), two.error)
    spread = own**2 / one.freedom + added**2 / max(two.freedom, 1.0)
    freedom = (own + added) ** 2 / spread if spread else one.n_clusters - 1.0
    return replace(one, error=error, freedom=freedom)


def resampled_means(
    values: Floats,
    system: Integers,
    unit: Integers,
    *,
    shape: tuple[int, int],
    n_replicates: int,
    rng: np.random.Generator,
) -> Floats:
    """Return the mean of each system in samples of whole units, drawn with replacement.

    Parameters
    ----------
    values : array of shape (n,)
        Finite.
    system, unit : integer arrays of shape (n,)
        What each is of, and its source dialogue, from 0.
    shape : (n_units, n_systems)
        How many there are.
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
    n_units, n_systems = shape
    place = unit * n_systems + system
    n = np.bincount(place, minlength=n_units * n_systems).reshape(shape)
    sums = np.bincount(place, weights=values, minlength=n_units * n_systems)
    times = draw_units(n_units, n_replicates, rng)
    counted = times @ n
    summed = times @ sums.astype(np.float64, copy=False).reshape(shape)
    unknown = np.full(counted.shape, np.nan)
    means: Floats = np.divide(summed, counted, out=unknown, where=counted > 0)
    return means


FLAT = 1e-9  # share of its variance that is left, below which nothing of a figure is its own


class NothingLeftError(ValueError):
    """The figure does not vary, or the others say all of it."""


def partial_slope(y: Floats, x: Floats, controls: Floats, cluster: Integers) -> ClusteredMean:
    """Return by how much y differs with x, the controls being held equal.

    Parameters
    ----------
    y, x : arrays of shape (n,)
        Finite figures of each judgment.
    controls : array of shape (n, n_controls)
        What both are residualised on, besides a constant.
    cluster : integer array of shape (n,)
        The source dialogue of each; any whole numbers.

    Returns
    -------
    ClusteredMean
        ``mean`` is the slope: units of y for each unit of x. Its error is robust to dependence
        inside dialogues.

    Raises
    ------
    NothingLeftError
        If nothing of x is left once the controls are taken out.
    TooFewDialoguesError
        If there are fewer than two clusters.
    ValueError
        If the shapes differ or a figure is not finite.

    Notes
    -----
    Both are regressed on the controls and the residuals on each other, which gives the very
    coefficient of x in the joint least-squares regression (Frisch & Waugh). The error is the
    sandwich with C/(C-1). With y 0 or 1 this is a linear probability model. Cost
    O(n * n_controls**2).

    References
    ----------
    .. [1] Frisch & Waugh (1933), Econometrica 1:387-401. doi:10.2307/1907330
    .. [2] Liang & Zeger (1986), Biometrika 73:13-22. doi:10.1093/biomet/73.1.13
    """
    if not (y.shape == x.shape == cluster.shape == controls.shape[:1]):
        msg = f"shapes differ: {y.shape}, {x.shape}, {controls.shape}, {cluster.shape}"
        raise ValueError(msg)
    if not all(np.isfinite(one).all() for one in (y, x, controls)):
        msg = "all figures must be finite"
        raise ValueError(msg)
    place, n_clusters = _places(cluster)
    own, left = residuals(np.column_stack([x, y]), controls).T
    power = float(own @ own)
    if power <= FLAT * max(1.0, float(np.sum((x - x.mean()) ** 2))):
        msg = "nothing of the figure is left once the others are held equal"
        raise NothingLeftError(msg)
    slope = float(own @ left) / power
    sums = np.bincount(place, weights=own * (left - slope * own))
    variance = n_clusters / (n_clusters - 1) * float(sums @ sums) / power**2
    freedom = _freedom(place, own**2)
    return ClusteredMean(slope, math.sqrt(variance), len(y), n_clusters, freedom)


def residuals(figures: Floats, controls: Floats) -> Floats:
    """Return what the controls and a constant leave of each column."""
    design = np.column_stack([np.ones(len(controls)), controls])
    weights, *_ = np.linalg.lstsq(design, figures, rcond=None)
    left: Floats = figures - design @ weights
    return left
