"""How alike judgments of one pair in one unit are."""

import numpy as np

from ranking.numerics.arrays import Floats, Integers


def intraclass_correlation(values: Floats, cluster: Integers, stratum: Integers) -> float:
    """Estimate the correlation of two judgments of the same cluster, by analysis of variance.

    Parameters
    ----------
    values : array of shape (n_judgments,)
        What the first system of the pair took, in a fixed frame; any unit.
    cluster : integer array of shape (n_judgments,)
        Pair in unit, as indices from 0.
    stratum : integer array of shape (n_judgments,)
        Pair, as indices from 0; each has a mean of its own. A cluster lies in one stratum.

    Returns
    -------
    float
        ``(B - W) / (B + (m - 1) W)``: B and W are the mean squares between clusters of a stratum
        and within clusters, m the mean size of a cluster less its variation. It may be below 0.
        NaN if no cluster has two judgments, no stratum two clusters, or nothing varies.

    Raises
    ------
    ValueError
        If columns differ in length.

    Notes
    -----
    Cost O(n_judgments log n_judgments).

    References
    ----------
    .. [1] Donner (1986), Int. Stat. Rev. 54:67-82. doi:10.2307/1403259
    """
    if not values.shape == cluster.shape == stratum.shape:
        msg = f"columns differ in length: {values.shape}, {cluster.shape}, {stratum.shape}"
        raise ValueError(msg)
    found, first, place = np.unique(cluster, return_index=True, return_inverse=True)
    strata, owner = np.unique(stratum[first], return_inverse=True)
    size = np.bincount(place, minlength=len(found)).astype(np.float64)
    mean = np.bincount(place, values) / size
    in_stratum = np.bincount(owner, size)
    middle = np.bincount(owner, size * mean) / in_stratum
    between, within = len(found) - len(strata), len(values) - len(found)
    if between < 1 or within < 1:
        return float("nan")
    b = float((size * (mean - middle[owner]) ** 2).sum()) / between
    w = float(((values - mean[place]) ** 2).sum()) / within
    usual = (len(values) - float((np.bincount(owner, size**2) / in_stratum).sum())) / between
    total = b + (usual - 1.0) * w
    return float(np.clip((b - w) / total, -1.0, 1.0)) if total > 0.0 else float("nan")
