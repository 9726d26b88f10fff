"""How well a judge's probabilities foretell what most people prefer."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.clustered_means import TooFewDialoguesError, clustered_mean

EVEN = 0.5


@dataclass(frozen=True)
class Ranged:
    """A figure with its interval; the ends are NaN where there are too few dialogues."""

    value: float
    low: float
    high: float


def hits(probability: Floats, won: Booleans) -> Floats:
    """Return 1 where the likelier completion won, 0 where the other did, 0.5 for even odds.

    Both have shape (n_pairs,): the probability of the first completion, and whether it won.
    """
    right = (probability > EVEN) == won
    return np.where(probability == EVEN, EVEN, right.astype(np.float64))


def squared_errors(probability: Floats, won: Booleans) -> Floats:
    """Return what the Brier score is the mean of: 0 for certainty that is right, 1 if wrong.

    References
    ----------
    .. [1] Brier (1950), Mon. Weather Rev. 78:1-3.
       doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2
    """
    errors: Floats = (probability - won) ** 2
    return errors


def clustered_wilson(values: Floats, unit: Integers, *, level: float = 0.95) -> Ranged:
    """Return a share with Wilson's interval for as many pairs as the dialogues are worth.

    Parameters
    ----------
    values : array of shape (n_pairs,)
        Between 0 and 1.
    unit : integer array of shape (n_pairs,)
        The source dialogue of each.
    level : float
        Of confidence, above 0 and below 1.

    Returns
    -------
    Ranged
        NaN for the ends where there are fewer than two dialogues.

    Notes
    -----
    The number of pairs is replaced by that of independent ones that would have the share's
    clustered error, but not by more than there are.

    References
    ----------
    .. [1] Wilson (1927), JASA 22:209-212. doi:10.1080/01621459.1927.10502953
    .. [2] Korn & Graubard (1998), Survey Methodology 24:193-201, the effective number.
    """
    try:
        found = clustered_mean(values, unit)
    except TooFewDialoguesError:
        value = float(values.mean()) if len(values) else math.nan
        return Ranged(value, math.nan, math.nan)
    share, n = found.mean, float(found.n)
    if found.error > 0.0:
        n = min(n, share * (1.0 - share) / found.error**2)
    z = float(special.ndtri((1.0 + level) / 2.0))
    middle = (share + z * z / (2.0 * n)) / (1.0 + z * z / n)
    reach = z * math.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n)) / (1.0 + z * z / n)
    return Ranged(share, max(0.0, middle - reach), min(1.0, middle + reach))


def turned_correlation(
    probability: Floats, share: Floats, unit: Integers, *, level: float = 0.95
) -> Ranged:
    """Return Pearson's correlation of two shares, with each pair also turned round.

    Parameters
    ----------
    probability, share : arrays of shape (n_pairs,)
        Between 0 and 1, both of the first completion of each pair.
    unit, level
        As in `clustered_wilson`.

    Returns
    -------
    Ranged
        NaN where one of the two is 0.5 throughout.

    Notes
    -----
    Which completion comes first means nothing, so that pairs are taken both ways: a correlation
    about one half. The error is that of the ratio of sums, clustered by dialogue; the interval
    is Student's t on Fisher's scale.

    References
    ----------
    .. [1] Fisher (1915), Biometrika 10:507-521. doi:10.2307/2331838
    """
    x, y = probability - EVEN, share - EVEN
    size = math.sqrt(float(x @ x) * float(y @ y))
    if size == 0.0:
        return Ranged(math.nan, math.nan, math.nan)
    r = float(np.clip(float(x @ y) / size, -1.0, 1.0))
    u, v = x / math.sqrt(float(x @ x) / len(x)), y / math.sqrt(float(y @ y) / len(y))
    try:
        found = clustered_mean(u * v - r * (u * u + v * v) / 2.0, unit)
    except TooFewDialoguesError:
        return Ranged(r, math.nan, math.nan)
    if 1.0 - r * r <= np.finfo(np.float64).eps * len(x):
        return Ranged(r, r, r)
    quantile = float(special.stdtrit(found.n_clusters - 1, (1.0 + level) / 2.0))
    reach = quantile * found.error / (1.0 - r * r)
    return Ranged(r, math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach))
