"""Other ways to rank: win rates, online Elo, OpenSkill, PageRank, the leading eigenvector."""

import numpy as np

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.connectivity import check_connected
from ranking.numerics.elo import CENTRE, ELO_PER_LOG_UNIT

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


K_FACTOR = 4.0


def online_elo(
    pairs: Integers, share: Floats, orders: Integers, *, n_systems: int, k_factor: float = K_FACTOR
) -> Floats:
    """Rate systems by one pass over the judgments, in each of several orders.

    Parameters
    ----------
    pairs : integer array of shape (2, n_judgments)
        First and second system of each judgment.
    share : array of shape (n_judgments,)
        What the first took, 0 to 1.
    orders : integer array of shape (n_orders, n_judgments)
        Permutations of the judgments; the caller draws them.
    n_systems : int
        How many systems there are, judged or not.
    k_factor : float
        Points that a judgment moves at most, above 0.

    Returns
    -------
    array of shape (n_orders, n_systems)
        Elo points; all systems start from 1500, and each row's mean stays there.

    Raises
    ------
    ValueError
        If the shapes do not fit or the factor is not positive.

    Notes
    -----
    It never settles: with the factor k, chance moves a rating by tens of points even after
    thousands of judgments, and late judgments count more. Averaging over orders takes away the
    order, not the pull towards the start. Cost O(n_judgments * n_orders), one judgment at a time.

    References
    ----------
    .. [1] Elo (1978), The Rating of Chessplayers, Past and Present.
    .. [2] Boubdir, Kim, Ermis, Hooker & Fadaee (2023), arXiv:2311.17295.
    """
    if pairs.shape != (2, len(share)) or orders.shape[1:] != share.shape or not k_factor > 0:
        msg = f"shapes or factor do not fit: {pairs.shape}, {orders.shape}, {k_factor}"
        raise ValueError(msg)
    ratings = np.full((len(orders), n_systems), CENTRE)
    lines = np.arange(len(orders))
    first, second = pairs[:, orders]
    taken = share[orders]
    for at in range(len(share)):
        one, other = first[:, at], second[:, at]
        lead = (ratings[lines, one] - ratings[lines, other]) / ELO_PER_LOG_UNIT
        moved = k_factor * (taken[:, at] - 1.0 / (1.0 + np.exp(-lead)))
        ratings[lines, one] += moved
        ratings[lines, other] -= moved
    return ratings


def skills(pairs: Integers, share: Floats, *, n_systems: int) -> Floats:
    """Rate systems by one pass over the judgments with the Plackett-Luce model of Weng and Lin.

    Parameters
    ----------
    pairs : integer array of shape (2, n_judgments)
        First and second system of each judgment, in the order of the pass.
    share : array of shape (n_judgments,)
        What the first took: above one half it won, below it lost, else they tied.
    n_systems : int
        How many systems there are, judged or not.

    Returns
    -------
    array of shape (n_systems,)
        Mean skills, in the library's units; all start from 25 with a deviation of 25 / 3.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    Notes
    -----
    The order matters. By how much a win was won is not used. Cost O(n_judgments), one judgment at
    a time.

    References
    ----------
    .. [1] Weng & Lin (2011), J. Mach. Learn. Res. 12:267-300.
    .. [2] Joshy (2024), J. Open Source Softw. 9(93):5901. doi:10.21105/joss.05901
    """
    if pairs.shape != (2, len(share)):
        msg = f"shapes do not fit: {pairs.shape}, {share.shape}"
        raise ValueError(msg)
    from openskill.models import PlackettLuce  # noqa: PLC0415 - slow to import, seldom wanted

    model = PlackettLuce()
    ratings = [model.rating() for _ in range(n_systems)]
    for one, other, taken in zip(*pairs.tolist(), share.tolist(), strict=True):
        ranks = [float(taken < 0.5), float(taken > 0.5)]  # noqa: PLR2004 - one half
        teams = model.rate([[ratings[one]], [ratings[other]]], ranks=ranks)
        ratings[one], ratings[other] = teams[0][0], teams[1][0]
    return np.array([rating.mu for rating in ratings])


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
