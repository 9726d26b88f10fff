"""Errors that hold when judgments of one source dialogue depend on each other."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from ranking.numerics.arrays import Floats, Integers


@dataclass(frozen=True)
class Clustered:
    """A covariance robust to dependence inside clusters, and how many clusters it rests on."""

    covariance: Floats
    n_clusters: int

    @property
    def errors(self) -> Floats:
        """Return the standard errors, shape (n_parameters,)."""
        errors: Floats = np.sqrt(np.maximum(self.covariance.diagonal(), 0.0))
        return errors

    def reach(self, level: float) -> float:
        """Return how many standard errors an interval of that level reaches to each side."""
        return float(stats.t.ppf((1 + level) / 2, self.n_clusters - 1))


class TooFewClustersError(ValueError):
    """One cluster says nothing about how clusters differ."""


def clustered_covariance(inverse: Floats, scores: Floats, unit: Integers) -> Clustered:
    """Return the sandwich covariance of estimates at a maximum.

    Parameters
    ----------
    inverse : array of shape (n_parameters, n_parameters)
        Inverse of the information.
    scores : array of shape (n_judgments, n_parameters)
        Gradient of each judgment's log likelihood at the maximum.
    unit : integer array of shape (n_judgments,)
        The cluster of each judgment; clusters without judgments have no part.

    Raises
    ------
    TooFewClustersError
        If there are fewer than two clusters.

    Notes
    -----
    V = C/(C-1) H^-1 (sum over clusters of U U') H^-1 with U the sum of a cluster's scores.

    References
    ----------
    .. [1] Liang & Zeger (1986), Biometrika 73:13-22. doi:10.1093/biomet/73.1.13
    .. [2] Cameron & Miller (2015), J. Hum. Resour. 50:317-372. doi:10.3368/jhr.50.2.317
    """
    found, place = np.unique(unit, return_inverse=True)
    if len(found) <= 1:
        msg = f"at least two clusters are needed, not {len(found)}"
        raise TooFewClustersError(msg)
    sums = np.stack([np.bincount(place, one, len(found)) for one in scores.T], axis=1)
    middle = sums.T @ sums * len(found) / (len(found) - 1)
    return Clustered(inverse @ middle @ inverse, len(found))
