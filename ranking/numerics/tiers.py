"""Tiers: groups of systems that their intervals do not tell from the best of the group."""

import numpy as np

from ranking.numerics.arrays import Floats, Integers


def tiers(estimate: Floats, low: Floats, high: Floats) -> Integers:
    """Sort systems into tiers with fixed anchors.

    Parameters
    ----------
    estimate, low, high : arrays of shape (n_systems,)
        Rating and the two ends of its interval, in one unit; higher is better.

    Returns
    -------
    integer array of shape (n_systems,)
        The best system opens tier 1 and is its anchor. Going down, a system joins the tier while
        its upper end reaches the anchor's lower end; the first that does not opens the next tier.

    Raises
    ------
    ValueError
        If shapes differ, a value is not finite, or an estimate lies outside its interval.

    Notes
    -----
    The anchor stays, so a tier cannot creep down along a chain of overlaps. Tiers are a way to
    show the table, not a test: two systems of one tier may differ, and use simultaneous
    intervals if all tiers are to hold together. Equal estimates go by the higher upper end,
    then by the order given. No systems give no tiers. Cost O(n_systems log n_systems).
    """
    _check(estimate, low, high)
    found = np.zeros(len(estimate), dtype=np.int64)
    tier, floor = 0, np.inf
    for system in np.lexsort((-high, -estimate)):
        if high[system] < floor:
            tier, floor = tier + 1, low[system]
        found[system] = tier
    return found


def _check(estimate: Floats, low: Floats, high: Floats) -> None:
    if not estimate.shape == low.shape == high.shape:
        msg = f"shapes differ: {estimate.shape}, {low.shape}, {high.shape}"
        raise ValueError(msg)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        msg = "intervals must be finite"
        raise ValueError(msg)
    if not ((low <= estimate) & (estimate <= high)).all():
        msg = "every estimate must lie inside its interval"
        raise ValueError(msg)
