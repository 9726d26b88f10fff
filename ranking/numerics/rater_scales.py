"""Scores on each rater's own scale: who is strict, who spreads, and what is left without that."""

from dataclasses import dataclass

import numpy as np

from ranking.numerics.arrays import Booleans, Floats, Integers

FEWEST = 3
"""Scores that a rater's own mean and spread are taken from; who gave fewer is left out."""
PRIOR = 5.0
"""Degrees of freedom that the spread of all raters counts beside a rater's own."""
STILL = 1e-12


class NoSpreadError(ValueError):
    """No rater gave enough scores, or nobody's scores vary: there is no scale to speak of."""


@dataclass(frozen=True)
class RaterScales:
    """Scores in standard deviations of their rater from the rater's own mean.

    Attributes
    ----------
    z : array of shape (n,)
        NaN where the rater gave too few scores.
    n : integer array of shape (n_raters,)
        Scores of each rater.
    centre, spread : arrays of shape (n_raters,)
        Mean and standard deviation that were used, in points; NaN for who was left out.
    """

    z: Floats
    n: Integers
    centre: Floats
    spread: Floats

    @property
    def is_kept(self) -> Booleans:
        """Say of each rater whether the scores were put on a scale, shape (n_raters,)."""
        return np.isfinite(self.centre)


def normalise(scores: Floats, rater: Integers, *, n_raters: int) -> RaterScales:
    """Centre and scale the scores of each rater.

    Parameters
    ----------
    scores : array of shape (n,)
        Finite, in points.
    rater : integer array of shape (n,)
        Who gave each, from 0.
    n_raters : int
        How many raters there are, whether or not they gave a score.

    Returns
    -------
    RaterScales
        ``z = (y - m_r) / s_r`` with m_r the rater's mean and
        ``s_r**2 = ((n_r - 1) v_r + PRIOR * v) / (n_r - 1 + PRIOR)``, v_r being the rater's own
        variance and v that of all raters about their own means. So the spread of who gave few
        scores, or the same score always, leans on that of all.

    Raises
    ------
    NoSpreadError
        If no rater gave `FEWEST` scores, or no rater's scores vary.
    ValueError
        If the shapes differ or a score is not finite.

    Notes
    -----
    A constant added to all scores of a rater changes nothing. It is assumed that raters saw
    messages alike on average, as they do where messages are handed out by chance: the mean of
    who saw the best messages only is taken for mildness. Cost O(n).

    References
    ----------
    .. [1] Graham, Baldwin, Moffat & Zobel (2017), Nat. Lang. Eng. 23:3-30.
       doi:10.1017/S1351324915000339
    .. [2] Smyth (2004), Stat. Appl. Genet. Mol. Biol. 3:3, for the leaning variance.
       doi:10.2202/1544-6115.1027
    """
    _check(scores, rater)
    n = np.bincount(rater, minlength=n_raters)
    is_kept = n >= FEWEST
    if not is_kept.any():
        msg = f"no rater gave {FEWEST} scores"
        raise NoSpreadError(msg)
    centre = np.bincount(rater, weights=scores, minlength=n_raters) / np.maximum(n, 1)
    squares = np.bincount(rater, weights=(scores - centre[rater]) ** 2, minlength=n_raters)
    variance = float(squares[is_kept].sum() / (n[is_kept] - 1).sum())
    if variance <= STILL:
        msg = "every rater gave the same score always"
        raise NoSpreadError(msg)
    spread = np.sqrt((squares + PRIOR * variance) / (n - 1 + PRIOR))
    centre, spread = (np.where(is_kept, one, np.nan) for one in (centre, spread))
    z = (scores - centre[rater]) / spread[rater]
    return RaterScales(z, n, centre, spread)


def from_the_others(scores: Floats, message: Integers) -> Floats:
    """Return how far each score is above the mean of the other scores of its message.

    Parameters
    ----------
    scores : array of shape (n,)
        Finite, in points.
    message : integer array of shape (n,)
        What was scored, from 0.

    Returns
    -------
    array of shape (n,)
        In points; NaN where nobody else scored the message. The mean over the scores of one rater
        says how mild that rater is, and nobody is compared with himself. Cost O(n).

    Raises
    ------
    ValueError
        If the shapes differ or a score is not finite.
    """
    _check(scores, message)
    n = np.bincount(message)[message] - 1
    others = np.bincount(message, weights=scores)[message] - scores
    return np.where(n > 0, scores - others / np.maximum(n, 1), np.nan)


def _check(scores: Floats, group: Integers) -> None:
    if scores.shape != group.shape or scores.ndim != 1 or not np.isfinite(scores).all():
        msg = f"finite scores of shape (n,) are needed, each with its group, not {scores.shape}"
        raise ValueError(msg)
