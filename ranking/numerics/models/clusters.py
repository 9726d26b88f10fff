"""Errors that hold when judgments of one source dialogue depend on each other."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy import special

from ranking.numerics.arrays import Floats, Integers

Sides: TypeAlias = tuple[Integers, Integers, Floats]


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
        return float(special.stdtrit(self.n_clusters - 1, (1 + level) / 2))


class TooFewClustersError(ValueError):
    """One cluster says nothing about how clusters differ."""


def clustered_covariance(inverse: Floats, sums: Floats) -> Clustered:
    """Return the sandwich covariance of estimates at a maximum.

    Parameters
    ----------
    inverse : array of shape (n_parameters, n_parameters)
        Inverse of the information.
    sums : array of shape (n_clusters, n_parameters)
        Gradient of each cluster's log likelihood at the maximum.

    Raises
    ------
    TooFewClustersError
        If there are fewer than two clusters.

    Notes
    -----
    V = C/(C-1) H^-1 (sum over clusters of U U') H^-1 with U the gradient of a cluster.

    References
    ----------
    .. [1] Liang & Zeger (1986), Biometrika 73:13-22. doi:10.1093/biomet/73.1.13
    .. [2] Cameron & Miller (2015), J. Hum. Resour. 50:317-372. doi:10.3368/jhr.50.2.317
    """
    n_clusters = len(sums)
    if n_clusters <= 1:
        msg = f"at least two clusters are needed, not {n_clusters}"
        raise TooFewClustersError(msg)
    middle = sums.T @ sums * n_clusters / (n_clusters - 1)
    return Clustered(inverse @ middle @ inverse, n_clusters)


def sums_by_cluster(cluster: Integers, sides: Sides, ends: Floats, n_systems: int) -> Floats:
    """Add the gradients of judgments up by cluster.

    Parameters
    ----------
    cluster : integer array of shape (n_judgments,)
        Any numbers; clusters without judgments have no row.
    sides : (winner, loser, gradient), arrays of shape (n_judgments,)
        The gradient by the strength of the first; that of the second is its negative.
    ends : array of shape (n_judgments, n_others)
        Gradients by the other parameters.

    Returns
    -------
    array of shape (n_clusters, n_systems + n_others)
    """
    found, place = np.unique(cluster, return_inverse=True)
    winner, loser, gradient = sides
    size = len(found) * n_systems
    apart = np.bincount(place * n_systems + winner, gradient, size)
    apart = apart - np.bincount(place * n_systems + loser, gradient, size)
    others = [np.bincount(place, column, len(found)) for column in ends.T]
    return np.column_stack([apart.reshape(len(found), n_systems), *others])
