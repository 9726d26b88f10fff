"""Strengths inside each group of systems that can be compared, when not all can."""

from dataclasses import dataclass

import numpy as np

from ranking.numerics.arrays import Floats
from ranking.numerics.bradley_terry import BradleyTerryFit, fit_bradley_terry
from ranking.numerics.connectivity import strong_components


@dataclass(frozen=True)
class ComponentFit:
    """The strengths of one group; ``fit`` is None for a system that stands alone.

    ``systems`` are indices; the arrays of ``fit`` follow their order and have mean 0 in the
    group, so that strengths of different groups cannot be compared.
    """

    systems: tuple[int, ...]
    fit: BradleyTerryFit | None


def fit_per_component(
    wins: Floats, *, tolerance: float = 1e-8, max_iterations: int = 100
) -> tuple[ComponentFit, ...]:
    """Fit Bradley-Terry strengths inside each strongly connected component.

    Parameters
    ----------
    wins : array of shape (n_systems, n_systems)
        As in `ranking.numerics.bradley_terry.fit_bradley_terry`.
    tolerance, max_iterations
        As there.

    Returns
    -------
    tuple of ComponentFit
        In the order of their smallest index. Wins between groups count for nothing: they all
        go one way, which says that one group is stronger, and not by how much.

    Raises
    ------
    ValueError
        If the wins are no table of wins.
    NotConvergedError
        If an optimum is not reached.

    Notes
    -----
    No systems, no fits. Cost O(n_systems**3) per step.
    """
    wins = np.asarray(wins, dtype=np.float64)
    found = []
    for systems in strong_components(wins):
        fit = None
        if len(systems) > 1:
            inside = wins[np.ix_(systems, systems)]
            fit = fit_bradley_terry(inside, tolerance=tolerance, max_iterations=max_iterations)
        found.append(ComponentFit(systems, fit))
    return tuple(found)
