"""Strengths for each rater that their own answers had no part in."""

import numpy as np

from ranking.numerics.arrays import Floats
from ranking.numerics.bradley_terry import fit_bradley_terry, fit_replicates


def strengths_without_each(wins: Floats) -> Floats:
    """Fit Bradley-Terry strengths once per rater, from the answers of all the others.

    Parameters
    ----------
    wins : array of shape (n_raters, n_systems, n_systems)
        ``wins[r, i, j]`` is how often rater r preferred ``i`` to ``j`` (dimensionless, at least
        0); a tie adds half to each side. The diagonal is ignored.

    Returns
    -------
    array of shape (n_raters, n_systems)
        Log strengths (natural log, mean 0 in each row). Row r is NaN when the answers of the
        others have no maximum.

    Raises
    ------
    ValueError
        If the shape is another, there are fewer than two systems, or an entry is negative or
        not finite.
    NotConnectedError
        If not even all answers together have a maximum.
    NotConvergedError
        If an optimum is not reached.

    Notes
    -----
    What a rater is held against must not contain the rater: with r of n answers to a pair the
    own share in the prediction is 1/n, which hides who answers at random. No raters give an
    empty array. Cost O(n_raters * n_systems**3) per Newton step.
    """
    wins = np.asarray(wins, dtype=np.float64)
    if wins.ndim != 3:  # noqa: PLR2004 (raters, winners, losers)
        msg = f"wins must be of shape (n_raters, n_systems, n_systems), not {wins.shape}"
        raise ValueError(msg)
    if not len(wins):
        return np.empty(wins.shape[:2])
    total = wins.sum(axis=0)
    start = fit_bradley_terry(total).log_strengths
    return fit_replicates(total[None] - wins, start).log_strengths
