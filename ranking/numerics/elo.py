"""The Elo scale of log strengths, and the paper's standard error on it."""

import math

import numpy as np

from ranking.numerics.arrays import Floats, Integers

ELO_PER_LOG_UNIT = 400.0 / math.log(10.0)
CENTRE = 1500.0
DIGITS = 6  # of a point; what is closer is apart by rounding


def to_elo(log_strengths: Floats) -> Floats:
    """Turn log strengths into Elo points.

    Parameters
    ----------
    log_strengths : array of any shape (..., n_systems)
        Natural-log strengths; the last axis holds the systems ranked together.

    Returns
    -------
    array of the same shape
        ``400 * (theta - mean theta) / ln 10 + 1500`` in Elo points.

    Notes
    -----
    An Elo number means nothing alone: only differences inside one fit do. NaN stays NaN.

    References
    ----------
    .. [1] HEART (2026), arXiv:2601.19922, section 9.8.
    """
    log_strengths = np.asarray(log_strengths, dtype=np.float64)
    centred = log_strengths - log_strengths.mean(axis=-1, keepdims=True)
    ratings: Floats = CENTRE + ELO_PER_LOG_UNIT * centred
    return ratings


def ranks_of(ratings: Floats) -> Integers:
    """Return 1 plus how many of the last axis are rated higher, to the millionth of a point."""
    rounded = np.round(ratings, DIGITS)
    higher = rounded[..., None, :] > rounded[..., :, None]
    return np.asarray(1 + higher.sum(axis=-1), dtype=np.int64)


def paper_standard_errors(n_comparisons: Floats) -> Floats:
    """Return the published standard error ``1 / sqrt(n_i)`` of each log strength.

    Parameters
    ----------
    n_comparisons : array of shape (n_systems,)
        Judgments in which system i took part, above 0.

    Returns
    -------
    array of shape (n_systems,)
        Standard errors in natural-log units; times `ELO_PER_LOG_UNIT` for Elo points.

    Raises
    ------
    ValueError
        If a system has no judgments.

    Notes
    -----
    For parity with the published table only. It leaves out the opponents, the weights and
    the dependence inside a dialogue: in a simulation shaped like HEART its nominal 95 %
    intervals hold the truth in 45 % of runs.

    References
    ----------
    .. [1] HEART (2026), arXiv:2601.19922, section 9.8.
    """
    n_comparisons = np.asarray(n_comparisons, dtype=np.float64)
    if not (n_comparisons > 0).all():
        msg = "every system needs at least one comparison"
        raise ValueError(msg)
    errors: Floats = 1.0 / np.sqrt(n_comparisons)
    return errors
