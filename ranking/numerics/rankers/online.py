"""Ratings that move with every judgment, as in chess: they depend on the order."""

import numpy as np

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.elo import CENTRE, ELO_PER_LOG_UNIT

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
