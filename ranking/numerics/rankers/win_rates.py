"""The plainest ranking: how often a system wins."""

import numpy as np

from ranking.numerics.arrays import Floats


def average_win_rates(wins: Floats) -> Floats:
    """Return each system's win rate, averaged over the opponents it met.

    Parameters
    ----------
    wins : array of shape (n_systems, n_systems)
        ``wins[i, j]`` is the weight with which ``i`` was preferred to ``j``, ties half.

    Returns
    -------
    array of shape (n_systems,)
        Between 0 and 1; NaN for a system that met nobody.

    Notes
    -----
    Every opponent counts alike, however often it was met. It says nothing of how strong the
    opponents were: with unequal plans it can rank the better system lower. Cost O(n_systems**2).
    """
    n = wins + wins.T
    met = (n > 0) & ~np.eye(len(wins), dtype=np.bool_)
    rates = np.where(met, wins / np.where(n > 0, n, 1.0), 0.0)
    opponents = met.sum(axis=1)
    averaged: Floats = rates.sum(axis=1) / np.where(opponents > 0, opponents, np.nan)
    return averaged
