"""How one figure goes with another when others are held equal."""

import math

import numpy as np

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.clustered_means import ClusteredMean, TooFewDialoguesError

FEWEST = 2
FLAT = 1e-9  # share of its variance that is left, below which nothing of a figure is its own


class NothingLeftError(ValueError):
    """The figure does not vary, or the others say all of it."""


def partial_slope(y: Floats, x: Floats, controls: Floats, cluster: Integers) -> ClusteredMean:
    """Return by how much y differs with x, the controls being held equal.

    Parameters
    ----------
    y, x : arrays of shape (n,)
        Finite figures of each judgment.
    controls : array of shape (n, n_controls)
        What both are residualised on, besides a constant.
    cluster : integer array of shape (n,)
        The source dialogue of each; any whole numbers.

    Returns
    -------
    ClusteredMean
        ``mean`` is the slope: units of y for each unit of x. Its error is robust to dependence
        inside dialogues.

    Raises
    ------
    NothingLeftError
        If nothing of x is left once the controls are taken out.
    TooFewDialoguesError
        If there are fewer than two clusters.
    ValueError
        If the shapes differ or a figure is not finite.

    Notes
    -----
    Both are regressed on the controls and the residuals on each other, which gives the very
    coefficient of x in the joint least-squares regression (Frisch & Waugh). The error is the
    sandwich with C/(C-1). With y 0 or 1 this is a linear probability model. Cost
    O(n * n_controls**2).

    References
    ----------
    .. [1] Frisch & Waugh (1933), Econometrica 1:387-401. doi:10.2307/1907330
    .. [2] Liang & Zeger (1986), Biometrika 73:13-22. doi:10.1093/biomet/73.1.13
    """
    if not (y.shape == x.shape == cluster.shape == controls.shape[:1]):
        msg = f"shapes differ: {y.shape}, {x.shape}, {controls.shape}, {cluster.shape}"
        raise ValueError(msg)
    if not all(np.isfinite(one).all() for one in (y, x, controls)):
        msg = "all figures must be finite"
        raise ValueError(msg)
    found, place = np.unique(cluster, return_inverse=True)
    if len(found) < FEWEST:
        msg = f"{len(found)} clusters, and {FEWEST} are needed"
        raise TooFewDialoguesError(msg)
    own, left = _residuals(np.column_stack([x, y]), controls).T
    power = float(own @ own)
    if power <= FLAT * max(1.0, float(np.sum((x - x.mean()) ** 2))):
        msg = "nothing of the figure is left once the others are held equal"
        raise NothingLeftError(msg)
    slope = float(own @ left) / power
    sums = np.bincount(place, weights=own * (left - slope * own))
    variance = len(found) / (len(found) - 1) * float(sums @ sums) / power**2
    return ClusteredMean(slope, math.sqrt(variance), len(y), len(found))


def _residuals(figures: Floats, controls: Floats) -> Floats:
    """Return what the controls and a constant leave of each column."""
    design = np.column_stack([np.ones(len(controls)), controls])
    weights, *_ = np.linalg.lstsq(design, figures, rcond=None)
    residuals: Floats = figures - design @ weights
    return residuals
