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
