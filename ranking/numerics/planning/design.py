"""How many units tell two systems of a study apart, from the covariance of the study itself."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.numerics.arrays import Floats
from ranking.numerics.intervals import check_level
from ranking.numerics.sandwich import clustered_covariance, fisher_covariance
from ranking.numerics.tables import WinTables

MOST_UNITS = 10**9


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
    Units without judgments are left out. Cost O(nonzero cells + n_systems**3).
    """
    covariance = clustered_covariance(tables, log_strengths)
    bread = fisher_covariance(tables, log_strengths)
    scores = tables.unit_scores(log_strengths)[np.diff(tables.rows.indptr) > 0]
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
    bar = special.stdtrit(n_units - 1, (1.0 + level) / 2.0)
    moved = abs(difference) / error
    upper, lower = special.stdtr(n_units - 1, np.array([moved - bar, -moved - bar]))
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
    found = 0
    bar = float(special.stdtrit(n_units - 1, (1.0 + level) / 2.0))
    for _ in range(n_studies):
        drawn = spread[rng.integers(0, of.n_units, size=n_units)]
        error = float(drawn.std(ddof=1)) / math.sqrt(n_units)
        found += abs(difference + float(drawn.mean())) > bar * error
    return found / n_studies
