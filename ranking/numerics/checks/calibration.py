"""Whether predicted shares are the win rates that one would count."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.numerics.arrays import Floats

MOST_STEPS = 100
SMALL_STEP = 1e-10


@dataclass(frozen=True)
class CalibrationBins:
    """Pairs sorted by prediction and cut into bins; arrays of shape (n_bins,).

    ``n`` is the weight of their judgments, ``predicted`` and ``counted`` are weighted means.
    """

    n: Floats
    predicted: Floats
    counted: Floats


def calibration_bins(
    predicted: Floats, counted: Floats, n: Floats, *, n_bins: int = 10
) -> CalibrationBins:
    """Average prediction and outcome over pairs with alike predictions.

    Parameters
    ----------
    predicted, counted : arrays of shape (n_pairs,)
        Share predicted for a side, and that it took, 0 to 1. The side is the one ahead or the
        one behind as the caller likes.
    n : array of shape (n_pairs,)
        Weight of the judgments, above 0.
    n_bins : int
        Bins of about equal weight; fewer come back if there are fewer pairs.

    Raises
    ------
    ValueError
        If shapes differ or a weight is not positive.
    """
    if not predicted.shape == counted.shape == n.shape or not (n > 0).all():
        msg = f"shapes must agree and weights be positive: {predicted.shape}, {n.shape}"
        raise ValueError(msg)
    order = predicted.argsort(kind="stable")
    middle = np.cumsum(n[order]) - n[order] / 2.0
    place = np.floor(n_bins * middle / n.sum()).astype(np.int64)
    _, place = np.unique(place, return_inverse=True)
    weight = np.bincount(place, n[order]).astype(np.float64)
    means = (
        np.bincount(place, n[order] * values[order]) / weight for values in (predicted, counted)
    )
    return CalibrationBins(weight, *means)


def stretch(differences: Floats, won: Floats, n: Floats) -> float:
    """Return the factor by which strengths would have to be stretched to predict win rates.

    Parameters
    ----------
    differences : array of shape (n_pairs,)
        Fitted strength of the first system less that of the second (natural log).
    won : array of shape (n_pairs,)
        Share of the judgments that the first won, ties half; 0 to 1.
    n : array of shape (n_pairs,)
        Judgments of the pair, above 0.

    Returns
    -------
    float
        The maximum-likelihood slope b of ``logit P(won) = b * difference``: 1 if differences
        are log odds of winning, more if scores were shrunk. NaN where all differences are 0,
        infinite where the better system won every time.

    Notes
    -----
    Newton's method in one dimension; the likelihood is concave.

    References
    ----------
    .. [1] Cox (1958), Biometrika 45:562-565. doi:10.1093/biomet/45.3-4.562
    """
    if not differences.any():
        return float("nan")
    ahead = np.where(differences > 0, won, 1.0 - won)[differences != 0]
    if (ahead >= 1.0).all():
        return float("inf")
    if (ahead <= 0.0).all():
        return float("-inf")
    slope = 0.0
    for _ in range(MOST_STEPS):
        p = special.expit(slope * differences)
        gradient = float((n * (won - p) * differences).sum())
        step = gradient / float((n * p * (1.0 - p) * differences**2).sum())
        # Newton may leap where the curve is flat; twice what one has gained is enough.
        slope += float(np.clip(step, -1.0 - abs(slope), 1.0 + abs(slope)))
        if abs(step) < SMALL_STEP * (1.0 + abs(slope)):
            break
    return slope


@dataclass(frozen=True)
class Triads:
    """How many threes were decided, and how many of these are circles.

    ``consistence`` is the coefficient of Kendall and Babington Smith: 1 without circles, 0 with as
    many as there can be; None unless every pair is decided and there are three systems.
    """

    n_decided: int
    n_circular: int
    consistence: float | None


def circular_triads(wins: Floats) -> Triads:
    """Count the circles among the majorities of the pairs.

    Parameters
    ----------
    wins : array of shape (n_systems, n_systems)
        ``wins[i, j]`` is the weight with which ``i`` was preferred to ``j``. A pair is decided
        when one side has more.

    Returns
    -------
    Triads

    Raises
    ------
    ValueError
        If ``wins`` is not square, or has a negative or non-finite entry.

    Notes
    -----
    If each of n decided threes were decided by coins, n / 4 would be circles. Majorities of
    few judgments turn by chance: compare with `expected_circles`. Cost O(n_systems**3).

    References
    ----------
    .. [1] Kendall & Babington Smith (1940), Biometrika 31:324-345. doi:10.2307/2332613
    """
    wins = np.asarray(wins, dtype=np.float64)
    if wins.ndim != 2 or wins.shape[0] != wins.shape[1]:  # noqa: PLR2004 - a matrix
        msg = f"wins must be square, not of shape {wins.shape}"
        raise ValueError(msg)
    if not np.isfinite(wins).all() or (wins < 0).any():
        msg = "wins must be finite and not negative"
        raise ValueError(msg)
    beats = (wins > wins.T).astype(np.float64)
    decided = beats + beats.T
    n_decided = round(_closed_walks(decided) / 6)
    n_circular = round(_closed_walks(beats) / 3)
    return Triads(n_decided, n_circular, _consistence(len(wins), decided, n_circular))


def expected_circles(chance: Floats) -> float:
    """Return how many circles to expect if pairs are decided independently.

    Parameters
    ----------
    chance : array of shape (n_systems, n_systems)
        ``chance[i, j]`` is the probability that ``i`` has the majority over ``j``; 0 both ways
        where a pair was not judged.

    Notes
    -----
    Cost O(n_systems**3).
    """
    return _closed_walks(np.asarray(chance, dtype=np.float64)) / 3


def _closed_walks(matrix: Floats) -> float:
    """Return the sum of the products along all walks of three steps back to the start."""
    without = matrix * (1.0 - np.eye(len(matrix)))
    return float(((without @ without) * without.T).sum())


def _consistence(n: int, decided: Floats, n_circular: int) -> float | None:
    if n <= 2 or decided.sum() < n * (n - 1):  # noqa: PLR2004 - no three systems
        return None
    most = (n**3 - n) / 24 if n % 2 else (n**3 - 4 * n) / 24
    return 1.0 - n_circular / most
