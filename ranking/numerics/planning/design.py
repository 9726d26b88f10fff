"""How many judgments or units tell two systems apart: in closed form, or by a covariance."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.intervals import check_level
from ranking.numerics.sandwich import clustered_covariance, fisher_covariance
from ranking.numerics.tables import WinTables

MOST_UNITS = 10**9
BLOCK_CELLS = 2**20  # units of simulated studies drawn at once


@dataclass(frozen=True)
class Contrast:
    """The difference of two systems in a study: what each unit adds to its error.

    Attributes
    ----------
    influence : array of shape (n_units,)
        How far each unit moves the difference (natural log); they add up to 0.
    design_effect : float
        Clustered variance over the variance if judgments were independent.
    """

    influence: Floats
    design_effect: float

    @property
    def n_units(self) -> int:
        """Return how many units the study has."""
        return len(self.influence)

    def standard_error(self, n_units: float) -> float:
        """Return the standard error with that many units of the same kind, natural log."""
        n = self.n_units
        variance = float((self.influence**2).sum()) * n / (n - 1.0)
        return math.sqrt(variance * n / n_units)


def contrast(tables: WinTables, log_strengths: Floats, pair: tuple[int, int]) -> Contrast:
    """Return what a study knows of the difference of two systems.

    Parameters
    ----------
    tables : WinTables
        Weighted wins per unit, of which the strengths were fitted.
    log_strengths : array of shape (n_systems,)
        Their fit (natural log).
    pair : tuple of two ints
        The two systems.

    Raises
    ------
    ValueError
        If fewer than two units have judgments, or the shape does not fit.

    Notes
    -----
    Units without judgments are left out. Cost O(number of rows + n_systems**3).
    """
    covariance = clustered_covariance(tables, log_strengths)
    bread = fisher_covariance(tables, log_strengths)
    scores = tables.unit_scores(log_strengths)[tables.is_judged]
    a, b = pair
    independent = bread[a, a] + bread[b, b] - 2.0 * bread[a, b]
    clustered = float(covariance.difference_errors[a, b]) ** 2
    return Contrast(scores @ (bread[a] - bread[b]), clustered / float(independent))


def predicted_power(of: Contrast, difference: float, n_units: int, *, level: float = 0.95) -> float:
    """Return the chance to tell the two apart with that many units.

    Parameters
    ----------
    of : Contrast
        From a study of the same design.
    difference : float
        True difference, natural log.
    n_units : int
        At least 2. The variance falls as one over it: each unit is judged as in the study.
    level : float
        One less the chance of a false finding, two-sided.

    Returns
    -------
    float
        Between 0 and 1, from the t distribution with n_units - 1 degrees of freedom, moved by
        the difference over its standard error.

    Raises
    ------
    ValueError
        If there are fewer than two units or the level is not a share.
    """
    check_level(level)
    if n_units <= 1:
        msg = f"a difference needs two units, not {n_units}"
        raise ValueError(msg)
    error = of.standard_error(n_units)
    if error == 0.0:
        return 1.0 if difference else 0.0
    return power_at(abs(difference) / error, n_units - 1, level)


def power_at(errors: float, freedom: int, level: float) -> float:
    """Return the chance to find a difference of so many standard errors by a two-sided t test."""
    bar = special.stdtrit(freedom, (1.0 + level) / 2.0)
    upper, lower = special.stdtr(freedom, np.array([errors - bar, -errors - bar]))
    return float(upper + lower)


def needed_units(
    of: Contrast, difference: float, *, level: float = 0.95, power: float = 0.8
) -> int:
    """Return how many units tell the two apart with the power wanted.

    Parameters
    ----------
    of, difference, level
        As in `predicted_power`; the difference is not 0.
    power : float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If the difference is 0, or level or power are no shares.

    Notes
    -----
    The smallest number at which `predicted_power` is enough, found by halving; `MOST_UNITS` or
    more where fewer are not.
    """
    check_level(power)
    if not difference:
        msg = "no number of units finds a difference of 0"
        raise ValueError(msg)
    low, high = 1, 2
    while predicted_power(of, difference, high, level=level) < power and high < MOST_UNITS:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = predicted_power(of, difference, middle, level=level) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def detectable_difference(
    of: Contrast, n_units: int, *, level: float = 0.95, power: float = 0.8
) -> float:
    """Return the smallest difference (natural log) that n_units find with the power wanted.

    Raises
    ------
    ValueError
        If there are fewer than two units, or level or power are no shares.
    """
    check_level(level)
    check_level(power)
    if n_units <= 1:
        msg = f"a difference needs two units, not {n_units}"
        raise ValueError(msg)
    bar, reach = (float(special.stdtrit(n_units - 1, p)) for p in ((1.0 + level) / 2.0, power))
    return (bar + reach) * of.standard_error(n_units)


def simulated_power(
    of: Contrast,
    difference: float,
    n_units: int,
    *,
    n_studies: int,
    rng: np.random.Generator,
    level: float = 0.95,
) -> float:
    """Return the share of simulated studies that tell the two apart.

    Parameters
    ----------
    of, difference, n_units, level
        As in `predicted_power`.
    n_studies : int
        Studies to simulate, at least 1.
    rng : numpy.random.Generator
        The only source of chance.

    Returns
    -------
    float
        Between 0 and 1; its Monte Carlo error is at most ``0.5 / sqrt(n_studies)``.

    Raises
    ------
    ValueError
        If there are fewer than two units, no studies are asked for, or the level is no share.

    Notes
    -----
    A study is drawn as n_units units of the pilot, with replacement; the difference moves by
    the mean of their influence, to first order, and is tested with the clustered error that such
    a study would report. It knows of heavy units and of skew, which `predicted_power` does not.
    Cost O(n_studies * n_units).
    """
    check_level(level)
    if n_units <= 1 or n_studies < 1:
        msg = f"cannot simulate {n_studies} studies of {n_units} units"
        raise ValueError(msg)
    spread = of.influence * of.n_units
    found, at_once = 0, max(1, BLOCK_CELLS // n_units)
    bar = float(special.stdtrit(n_units - 1, (1.0 + level) / 2.0))
    for start in range(0, n_studies, at_once):
        n_drawn = min(at_once, n_studies - start)
        drawn = spread[rng.integers(0, of.n_units, size=(n_drawn, n_units))]
        errors = drawn.std(axis=1, ddof=1) / math.sqrt(n_units)
        found += int((np.abs(difference + drawn.mean(axis=1)) > bar * errors).sum())
    return found / n_studies


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


def design_effect_of_ranking(
    n_systems: int, n_pairs: int, per_pair: float, correlation: float
) -> float:
    """Return the design effect on a difference of two systems, where pairs share their texts.

    Parameters
    ----------
    n_systems, n_pairs : int
        Systems with a text in each context, at least 2, and how many pairs of them are judged.
    per_pair, correlation : float
        Judgments of each pair, and their correlation, as in `design_effect`.

    Raises
    ------
    ValueError
        If the arguments are out of range.

    Notes
    -----
    Judgments of one pair go together since its texts are better or worse than usual, and so half
    as much do those of two pairs with one text in common: each has (n_pairs - 1) / (K + 1) times
    as many beside its own. If part of the correlation is a pair's alone, the effect is smaller.
    """
    return design_effect(per_pair * (1.0 + (n_pairs - 1.0) / (n_systems + 1.0)), correlation)


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
