"""How many judgments of one pair it takes, in closed form, and how alike those of a unit are."""

import math

import numpy as np
from scipy import special

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.intervals import check_level


def judgments_per_pair(
    share: float, *, level: float = 0.95, power: float = 0.8, design_effect: float = 1.0
) -> int:
    """Return how many judgments tell a win probability from one half.

    Parameters
    ----------
    share : float
        Probability that the better system wins a judgment, above 0.5 and below 1.
    level : float
        One less the chance of a false finding, two-sided.
    power : float
        Chance to find the difference, above one half less the level's.
    design_effect : float
        How many judgments it takes to know as much as from one independent judgment, see
        `design_effect`.

    Returns
    -------
    int
        ``((z_{1-a/2} / 2 + z_power sqrt(p (1 - p))) / (p - 1/2))**2`` times the design effect,
        rounded up.

    Raises
    ------
    ValueError
        If the share is not between 0.5 and 1, level or power no shares, or the design effect
        not positive.

    Notes
    -----
    Normal approximation of the binomial test; ties are to be left out or counted half.

    References
    ----------
    .. [1] Fleiss, Levin & Paik (2003), Statistical Methods for Rates and Proportions, 3rd ed.,
       section 4.2. doi:10.1002/0471445428
    """
    check_level(level)
    check_level(power)
    if not 0.5 < share < 1.0 or not design_effect > 0.0:  # noqa: PLR2004 - one half
        msg = f"needs a share between 0.5 and 1 and a positive effect, not {share}, {design_effect}"
        raise ValueError(msg)
    distance = special.ndtri((1.0 + level) / 2.0) / 2.0
    distance += special.ndtri(power) * math.sqrt(share * (1.0 - share))
    return math.ceil((distance / (share - 0.5)) ** 2 * design_effect)


def design_effect(judgments_per_unit: float, correlation: float) -> float:
    """Return how many judgments of a unit tell as much as one independent judgment.

    Parameters
    ----------
    judgments_per_unit : float
        Judgments m of the pair in one unit, at least 1.
    correlation : float
        Intraclass correlation rho of judgments of one pair in one unit, -1 to 1.

    Returns
    -------
    float
        ``1 + (m - 1) rho``.

    Raises
    ------
    ValueError
        If the arguments are out of range or the effect is not positive.

    References
    ----------
    .. [1] Kish (1965), Survey Sampling, section 5.4.
    """
    effect = 1.0 + (judgments_per_unit - 1.0) * correlation
    if judgments_per_unit < 1.0 or not abs(correlation) <= 1.0 or effect <= 0.0:
        msg = f"no design effect for {judgments_per_unit} judgments correlated {correlation}"
        raise ValueError(msg)
    return effect


def intraclass_correlation(values: Floats, cluster: Integers, stratum: Integers) -> float:
    """Estimate the correlation of two judgments of the same cluster, by analysis of variance.

    Parameters
    ----------
    values : array of shape (n_judgments,)
        What the first system of the pair took, in a fixed frame; any unit.
    cluster : integer array of shape (n_judgments,)
        Pair in unit, as indices from 0.
    stratum : integer array of shape (n_judgments,)
        Pair, as indices from 0; each has a mean of its own. A cluster lies in one stratum.

    Returns
    -------
    float
        ``(B - W) / (B + (m - 1) W)``: B and W are the mean squares between clusters of a stratum
        and within clusters, m the mean size of a cluster less its variation. It may be below 0.
        NaN if no cluster has two judgments, no stratum two clusters, or nothing varies.

    Raises
    ------
    ValueError
        If columns differ in length.

    Notes
    -----
    Cost O(n_judgments log n_judgments).

    References
    ----------
    .. [1] Donner (1986), Int. Stat. Rev. 54:67-82. doi:10.2307/1403259
    """
    if not values.shape == cluster.shape == stratum.shape:
        msg = f"columns differ in length: {values.shape}, {cluster.shape}, {stratum.shape}"
        raise ValueError(msg)
    found, first, place = np.unique(cluster, return_index=True, return_inverse=True)
    strata, owner = np.unique(stratum[first], return_inverse=True)
    size = np.bincount(place, minlength=len(found)).astype(np.float64)
    mean = np.bincount(place, values) / size
    in_stratum = np.bincount(owner, size)
    middle = np.bincount(owner, size * mean) / in_stratum
    between, within = len(found) - len(strata), len(values) - len(found)
    if between < 1 or within < 1:
        return float("nan")
    b = float((size * (mean - middle[owner]) ** 2).sum()) / between
    w = float(((values - mean[place]) ** 2).sum()) / within
    usual = (len(values) - float((np.bincount(owner, size**2) / in_stratum).sum())) / between
    total = b + (usual - 1.0) * w
    return float(np.clip((b - w) / total, -1.0, 1.0)) if total > 0.0 else float("nan")
