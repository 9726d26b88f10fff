"""What chance a study has to tell two systems apart, and how much more it takes."""

import math

import numpy as np
import scipy
from scipy import special

from ranking.numerics.intervals import check_level
from ranking.numerics.planning.design import MOST_UNITS
from ranking.numerics.planning.parts import ErrorParts

MOST_ERRORS = 1e3  # a difference of so many standard errors is told apart at any level


def power_of(parts: ErrorParts, difference: float, *, level: float = 0.95) -> float:
    """Return the chance to tell the two apart in a study with this error.

    Parameters
    ----------
    parts : ErrorParts
        Of the difference.
    difference : float
        True difference, natural log.
    level : float
        One less the chance of a false finding, two-sided.

    Returns
    -------
    float
        Between 0 and 1: the t distribution with a degree less than there are dialogues, moved by
        the difference over its error.

    Raises
    ------
    ValueError
        If the level is not a share.
    """
    check_level(level)
    if parts.variance == 0.0:
        return 1.0 if difference else 0.0
    return _power(abs(difference) / parts.standard_error, parts.n_units - 1, level)


def needed_repeats(
    parts: ErrorParts, difference: float, *, level: float = 0.95, power: float = 0.8
) -> float:
    """Return how many times the judgments of the same comparisons reach the power.

    Parameters
    ----------
    parts, difference, level
        As in `power_of`; the difference is not 0.
    power : float
        Between the share of false findings and 1.

    Returns
    -------
    float
        1 where there are enough; infinity where no number is enough, because the dialogues are
        too few; NaN where no comparison was judged twice, so that nobody knows.

    Raises
    ------
    ValueError
        If the difference is 0, or level or power are no shares.
    """
    _check(difference, level, power)
    if power_of(parts, difference, level=level) >= power:
        return 1.0
    if math.isnan(parts.within):
        return math.nan
    wanted = (abs(difference) / _errors(parts.n_units - 1, level, power)) ** 2
    if wanted <= parts.between:
        return math.inf
    return (parts.within + parts.raters) / (wanted - parts.between)


def needed_dialogues(
    parts: ErrorParts, difference: float, *, level: float = 0.95, power: float = 0.8
) -> int:
    """Return how many source dialogues, judged as these are, reach the power.

    Parameters
    ----------
    parts, difference, level, power
        As in `needed_repeats`.

    Returns
    -------
    int
        At least 2 and at most `MOST_UNITS`; less than there are where there are more than enough.

    Raises
    ------
    ValueError
        If the difference is 0, or level or power are no shares.
    """
    _check(difference, level, power)
    reach = abs(difference) / math.sqrt(parts.variance * parts.n_units) if parts.variance else 1e9

    def is_enough(n: int) -> bool:
        return _power(min(reach * math.sqrt(n), MOST_ERRORS), n - 1, level) >= power

    low, high = 1, 2
    while high < MOST_UNITS and not is_enough(high):
        low, high = high, min(2 * high, MOST_UNITS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _power(errors: float, freedom: int, level: float) -> float:
    bar = special.stdtrit(freedom, (1.0 + level) / 2.0)
    upper, lower = special.stdtr(freedom, np.array([errors - bar, -errors - bar]))
    return float(upper + lower)


def _errors(freedom: int, level: float, power: float) -> float:
    """Return how many errors a difference must have to be told apart with that power."""
    return float(
        scipy.optimize.brentq(
            lambda errors: _power(errors, freedom, level) - power, 0.0, MOST_ERRORS
        )
    )


def _check(difference: float, level: float, power: float) -> None:
    check_level(level)
    check_level(power)
    if not difference or power <= 1.0 - level:
        msg = f"no number finds a difference of {difference} with a power of {power}"
        raise ValueError(msg)
