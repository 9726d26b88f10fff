"""Control limits of funnel plots: how far estimates lie from a centre by chance alone."""

import numpy as np
from scipy import special

from ranking.numerics.arrays import Floats
from ranking.numerics.intervals import Intervals, check_level

WINSORISED = 0.1
"""Share of the scores at each end that is drawn in before their spread is taken."""


def control_limits(
    n: Floats, *, centre: float, variance: float, level: float, degrees: float = np.inf
) -> Intervals:
    """Return between which values an estimate lies with probability ``level`` if all is chance.

    Parameters
    ----------
    n : array of shape (n_estimates,)
        How many observations each estimate rests on, or are worth as much, above 0.
    centre : float
        What all of them estimate if nothing is special.
    variance : float
        Variance of one observation, 0 or more; with overdispersion times `dispersion`.
    level : float
        Probability between the limits, as 0.95.
    degrees : float
        Degrees of freedom behind the variance; infinite where it is known.

    Returns
    -------
    Intervals
        ``centre -+ t * sqrt(variance / n)``, shape (n_estimates,) each; not cut off.

    Raises
    ------
    ValueError
        If the level is not between 0 and 1, ``n`` or ``degrees`` not above 0, or the variance
        below 0.

    References
    ----------
    .. [1] Spiegelhalter (2005), Statistics in Medicine 24:1185-1202. doi:10.1002/sim.1970
    """
    check_level(level)
    if not (n > 0).all() or variance < 0 or not degrees > 0:
        msg = f"n and degrees must be above 0, and the variance not below: {variance}, {degrees}"
        raise ValueError(msg)
    half = float(special.stdtrit(degrees, (1.0 + level) / 2.0)) * np.sqrt(variance / n)
    return Intervals(low=centre - half, high=centre + half)


def dispersion(scores: Floats, *, winsorised: float = WINSORISED) -> float:
    """Return how many times the variance of standardised scores is what chance would make it.

    Parameters
    ----------
    scores : array of shape (n_estimates,)
        ``(estimate - centre) / sqrt(variance / n)``.
    winsorised : float
        Share of the scores at each end that is set to the score next to it, 0 to below 0.5: whom
        the limits should find must not widen them.

    Returns
    -------
    float
        The mean square, 1 if that is less or there are no scores: limits are widened where
        estimates vary more than chance, never narrowed.

    Raises
    ------
    ValueError
        If a score is not finite, or ``winsorised`` is not in [0, 0.5).

    Notes
    -----
    The multiplicative model of [1]_, section 3.2. Scores that are drawn in vary less, so that
    with little overdispersion the limits are a little too narrow.

    References
    ----------
    .. [1] Spiegelhalter (2005), Statistics in Medicine 24:1185-1202. doi:10.1002/sim.1970
    """
    if not 0.0 <= winsorised < 0.5 or not np.isfinite(scores).all():  # noqa: PLR2004 - a half
        msg = f"scores must be finite and winsorised in [0, 0.5): {winsorised}"
        raise ValueError(msg)
    if not scores.size:
        return 1.0
    ordered = np.sort(scores)
    n_drawn = int(winsorised * len(ordered))
    drawn = np.clip(scores, ordered[n_drawn], ordered[len(ordered) - 1 - n_drawn])
    return max(1.0, float(np.mean(drawn**2)))
