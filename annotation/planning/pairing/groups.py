"""Into how many groups that share no pair the systems fall.

SciPy has this too, but every worker that calls models loads this package and would carry SciPy.
"""

import numpy as np
import numpy.typing as npt

from annotation.planning.pairing.counts import Integers


def groups_of(links: npt.NDArray[np.bool_]) -> Integers:
    """Return for each system the smallest index in its group.

    ``links`` says which systems share a pair, shape (n_systems, n_systems). Cost O(n_systems**2)
    for each step from end to end of the longest chain.
    """
    n_systems = len(links)
    either = links | links.T | np.eye(n_systems, dtype=np.bool_)
    groups = np.arange(n_systems)
    while True:
        smallest = np.where(either, groups, n_systems).min(axis=1, initial=n_systems)
        if (smallest == groups).all():
            return groups
        groups = smallest
