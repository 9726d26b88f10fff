"""Rankings from the network of who beat whom: PageRank and the leading eigenvector."""

import numpy as np

from ranking.numerics.arrays import Floats
from ranking.numerics.connectivity import check_connected

DAMPING = 0.85


def pagerank(wins: Floats, *, damping: float = DAMPING) -> Floats:
    """Rank systems by a walk from losers to those who beat them.

    Parameters
    ----------
    wins : array of shape (n_systems, n_systems)
        ``wins[i, j]`` is the weight with which ``i`` was preferred to ``j``, ties half.
    damping : float
        Chance to go on walking, at least 0 and below 1; else the walk starts anew anywhere.

    Returns
    -------
    array of shape (n_systems,)
        Shares of the walk's time, which add up to 1.

    Raises
    ------
    ValueError
        If there are no systems or the damping is out of range.

    Notes
    -----
    From a system that never lost the walk starts anew. Systems that met more opponents, or lost
    to fewer, gain by that alone. Solved exactly, cost O(n_systems**3).

    References
    ----------
    .. [1] Brin & Page (1998), Comput. Netw. ISDN Syst. 30:107-117.
       doi:10.1016/S0169-7552(98)00110-X
    """
    n = len(wins)
    if not n or not 0.0 <= damping < 1.0:
        msg = f"needs systems and a damping of 0 to 1, not {n} and {damping}"
        raise ValueError(msg)
    lost = wins * (1.0 - np.eye(n))
    total = lost.sum(axis=0)
    steps = np.where(total > 0, lost / np.where(total > 0, total, 1.0), 1.0 / n)
    visits = np.linalg.solve(np.eye(n) - damping * steps, np.full(n, (1.0 - damping) / n))
    shares: Floats = visits / visits.sum()
    return shares


def eigenvector_scores(wins: Floats) -> Floats:
    """Rank systems by wins weighted with the score of the beaten.

    Parameters
    ----------
    wins : array of shape (n_systems, n_systems)
        As in `pagerank`.

    Returns
    -------
    array of shape (n_systems,)
        The positive eigenvector of the win matrix, adding up to 1.

    Raises
    ------
    NotConnectedError
        If the wins do not connect every system both ways: no positive vector exists.

    Notes
    -----
    Systems judged more often score higher. Cost O(n_systems**3).

    References
    ----------
    .. [1] Keener (1993), SIAM Rev. 35:80-93. doi:10.1137/1035004
    """
    matrix = wins * (1.0 - np.eye(len(wins)))
    check_connected(matrix)
    values, vectors = np.linalg.eig(matrix)
    leading = np.abs(vectors[:, int(values.real.argmax())].real)
    scores: Floats = leading / leading.sum()
    return scores
