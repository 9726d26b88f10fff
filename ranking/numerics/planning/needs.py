"""What all neighbours of a ranking need, within what bounds, and the chance to tell them apart."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import scipy
from scipy import special

from ranking.numerics.intervals import check_level
from ranking.numerics.planning.design import MOST_UNITS, power_at
from ranking.numerics.planning.parts import ErrorParts, likely_factors


@dataclass(frozen=True)
class Wish:
    """What is wanted: to tell neighbours apart that truly differ by so much.

    Attributes
    ----------
    difference : float
        Natural log, above 0.
    power : float
        Chance to find it, above ``1 - level``.
    level : float
        One less the chance of a false finding, two-sided, of each pair or of all together.
    is_joint : bool
        Whether the level is to hold for all neighbours together (Bonferroni).
    """

    difference: float
    power: float = 0.8
    level: float = 0.95
    is_joint: bool = False

    def level_of_each(self, n_pairs: int) -> float:
        """Return the level at which each of so many pairs is tested."""
        return 1.0 - (1.0 - self.level) / (max(n_pairs, 1) if self.is_joint else 1)


@dataclass(frozen=True)
class Need:
    """What one pair of neighbours needs.

    Attributes
    ----------
    error : float
        Standard error of the difference now, natural log.
    power : float
        Chance to find the difference wished for with the judgments there are.
    repeats : float
        How many times the judgments of each comparison; infinity where the dialogues are too
        few, NaN where nobody knows, see `parts.needed_repeats`.
    best_power : float
        Power that more and more judgments of the same comparisons come to; NaN as above.
    dialogues, fewest, most : int
        Source dialogues, judged as now, and between what numbers that lies at 90 %, from how
        well so many dialogues tell the error; `MOST_UNITS` where fewer are not enough.
    """

    error: float
    power: float
    repeats: float
    best_power: float
    dialogues: int
    fewest: int
    most: int

    @property
    def is_met(self) -> bool:
        """Whether there are judgments enough."""
        return self.repeats == 1.0

    @property
    def is_limited(self) -> bool:
        """Whether no number of judgments on the same dialogues is enough."""
        return math.isinf(self.repeats)


def needs_of(neighbours: Sequence[ErrorParts], wish: Wish) -> tuple[Need, ...]:
    """Return what each pair of neighbours needs for the power wished for.

    Raises
    ------
    ValueError
        If the difference is not above 0, or level or power are no shares.
    """
    if not wish.difference > 0.0:
        msg = f"needs a difference above 0, not {wish.difference}"
        raise ValueError(msg)
    level = wish.level_of_each(len(neighbours))
    return tuple(_need(parts, wish, level) for parts in neighbours)


def judgments_of_ranking(
    n_systems: int,
    difference: float,
    *,
    level: float = 0.95,
    power: float = 0.8,
    design_effect: float = 1.0,
) -> int:
    """Return how many judgments of a planned study tell two of its systems apart.

    Parameters
    ----------
    n_systems : int
        How many systems are ranked, at least 2, each pair judged as often as any other.
    difference : float
        True difference, natural log, not 0.
    level, power : float
        As in `Wish`.
    design_effect : float
        How many judgments tell as much as one independent one (`design_effect_of_ranking`).

    Returns
    -------
    int
        ``4 (K - 1) ((z_{1-a/2} + z_power) / difference)**2`` times the design effect, rounded up.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    With n whole wins of each pair of K systems that are about as strong, the information is
    n / 4 (K I - J), so a difference has variance 8 / (n K), and there are n K (K - 1) / 2
    judgments. Systems far apart tell less: a judgment tells p (1 - p) instead of 1 / 4.
    """
    check_level(level)
    check_level(power)
    if n_systems <= 1 or not difference:
        msg = f"cannot plan for {n_systems} systems that differ by {difference}"
        raise ValueError(msg)
    errors = float(special.ndtri((1.0 + level) / 2.0) + special.ndtri(power))
    return math.ceil(4.0 * (n_systems - 1) * (errors / difference) ** 2 * design_effect)


def detectable_difference(
    n_systems: int, n_judgments: float, *, level: float = 0.95, power: float = 0.8
) -> float:
    """Return the smallest difference that so many independent judgments tell.

    Parameters
    ----------
    n_systems : int
        As in `judgments_of_ranking`, whose inverse this is but for the rounding.
    n_judgments : float
        Of all pairs together, above 0; divided by the design effect where those of one
        context hang together.
    level, power : float
        As in `Wish`.

    Returns
    -------
    float
        Natural log, above 0.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    check_level(level)
    check_level(power)
    if n_systems <= 1 or not n_judgments > 0.0:
        msg = f"cannot plan for {n_systems} systems and {n_judgments} judgments"
        raise ValueError(msg)
    errors = float(special.ndtri((1.0 + level) / 2.0) + special.ndtri(power))
    return errors * math.sqrt(4.0 * (n_systems - 1) / n_judgments)


def _need(parts: ErrorParts, wish: Wish, level: float) -> Need:
    at_best = parts.scaled(1.0)
    if not math.isnan(parts.within):
        at_best = ErrorParts(parts.n_units, parts.between, 0.0, 0.0, parts.freedom)

    def dialogues(one: ErrorParts) -> int:
        return needed_dialogues(one, wish.difference, level=level, power=wish.power)

    low, high = likely_factors(parts)
    best = power_of(at_best, wish.difference, level=level)
    return Need(
        error=parts.standard_error,
        power=power_of(parts, wish.difference, level=level),
        repeats=needed_repeats(parts, wish.difference, level=level, power=wish.power),
        best_power=math.nan if math.isnan(parts.within) else best,
        dialogues=dialogues(parts),
        fewest=dialogues(parts.scaled(low)),
        most=min(dialogues(parts.scaled(high)), MOST_UNITS),
    )


MOST_ERRORS = 1e3  # so many standard errors are told apart, unless dialogues are a handful


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
    return power_at(abs(difference) / parts.standard_error, parts.n_units - 1, level)


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
    ratio = (abs(difference) / _errors(parts.n_units - 1, level, power)) ** 2
    if ratio <= parts.between:
        return math.inf
    return (parts.within + parts.raters) / (ratio - parts.between)


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
        return power_at(min(reach * math.sqrt(n), MOST_ERRORS), n - 1, level) >= power

    low, high = 1, 2
    while high < MOST_UNITS and not is_enough(high):
        low, high = high, min(2 * high, MOST_UNITS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _errors(freedom: int, level: float, power: float) -> float:
    """Return how many errors a difference must have to be told apart with that power."""
    bar, beyond = special.stdtrit(freedom, [(1.0 + level) / 2.0, power])
    most = max(MOST_ERRORS, bar + beyond + 1.0)  # enough, however strict the level
    return float(
        scipy.optimize.brentq(lambda errors: power_at(errors, freedom, level) - power, 0.0, most)
    )


def _check(difference: float, level: float, power: float) -> None:
    check_level(level)
    check_level(power)
    if not difference or power <= 1.0 - level:
        msg = f"no number finds a difference of {difference} with a power of {power}"
        raise ValueError(msg)
