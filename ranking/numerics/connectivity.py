"""Whether wins connect every system to every other, which decides if strengths exist."""

import numpy as np
from scipy.sparse import csgraph

from ranking.numerics.arrays import Booleans, Floats


class NotConnectedError(ValueError):
    """Some group of systems never takes, or never yields, a share of a win to the rest.

    Attributes
    ----------
    components : tuple of tuples of int
        Index sets inside which strengths can be compared, each sorted, by smallest index.
    """

    def __init__(self, components: tuple[tuple[int, ...], ...]) -> None:
        super().__init__(f"the wins leave {len(components)} groups that cannot be compared")
        self.components = components


def strong_components(wins: Floats) -> tuple[tuple[int, ...], ...]:
    """Group systems that beat each other directly or in a circle.

    Parameters
    ----------
    wins : array of shape (n_systems, n_systems)
        ``wins[i, j]`` is the total weight of judgments that prefer ``i`` to ``j``
        (dimensionless, at least 0; only whether it is positive matters).

    Returns
    -------
    tuple of tuples of int
        The strongly connected components of "took a share of a win from": indices sorted
        inside a component, components sorted by smallest index. No systems, no components.

    Notes
    -----
    Bradley-Terry strengths have a finite maximum if and only if there is one component.
    Cost O(n_systems**2).

    References
    ----------
    .. [1] Ford (1957), Amer. Math. Monthly 64(8):28-33. doi:10.2307/2308513
    .. [2] Hunter (2004), Ann. Statist. 32:384-406. doi:10.1214/aos/1079120141
    """
    count, labels = csgraph.connected_components(np.asarray(wins) > 0, connection="strong")
    groups = (np.flatnonzero(labels == label) for label in range(count))
    return tuple(sorted(tuple(int(index) for index in group) for group in groups))


def strongly_connected(wins: Floats) -> Booleans:
    """Say for each of many win matrices whether it is one strongly connected component.

    Parameters
    ----------
    wins : array of shape (n_replicates, n_systems, n_systems)
        Weighted wins, as in `strong_components`, one matrix per replicate.

    Returns
    -------
    boolean array of shape (n_replicates,)

    Notes
    -----
    A directed graph is strongly connected when its first vertex reaches all others both
    forwards and backwards. Cost O(n_replicates * n_systems**2) per step outwards; dense
    comparison plans need two or three steps.
    """
    beats = np.asarray(wins) > 0
    return _first_reaches_all(beats) & _first_reaches_all(beats.swapaxes(1, 2))


def _first_reaches_all(edges: Booleans) -> Booleans:
    """Say for each graph (n_graphs, n, n) whether vertex 0 reaches every vertex."""
    reached = np.zeros(edges.shape[:2], dtype=np.bool_)
    reached[:, :1] = True
    while True:
        wider = reached | (reached[:, :, None] & edges).any(axis=1)
        if (wider == reached).all():
            return np.asarray(reached.all(axis=1))
        reached = wider
