"""How many judgments of one pair it takes, in closed form."""

import math

from scipy import special

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


def detectable_share(
    n: float, *, level: float = 0.95, power: float = 0.8, design_effect: float = 1.0
) -> float:
    """Return the smallest win probability that n judgments tell from one half.

    Parameters
    ----------
    n : float
        Judgments of the pair, above 0.
    level, power, design_effect
        As in `judgments_per_pair`, whose inverse this is but for the rounding.

    Returns
    -------
    float
        Between 0.5 and 1.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    With m = n / design effect, a = z_{1-a/2} / 2 and b = z_power, x = p - 1/2 solves
    ``(m + b**2) x**2 - 2 a sqrt(m) x + a**2 - b**2 / 4 = 0``.
    """
    check_level(level)
    check_level(power)
    if not n > 0.0 or not design_effect > 0.0:
        msg = f"judgments and design effect must be positive, not {n} and {design_effect}"
        raise ValueError(msg)
    m = n / design_effect
    a, b = float(special.ndtri((1.0 + level) / 2.0)) / 2.0, float(special.ndtri(power))
    root = math.sqrt(max(0.0, m * a**2 - (m + b**2) * (a**2 - b**2 / 4.0)))
    x = (a * math.sqrt(m) + math.copysign(root, b)) / (m + b**2)
    return 0.5 + min(x, 0.5)


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
