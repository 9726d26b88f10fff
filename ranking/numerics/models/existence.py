"""Whether a likelihood has a finite maximum, for models with more than strengths."""

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ranking.numerics.arrays import Floats
from ranking.numerics.connectivity import NotConnectedError, strong_components

ROUNDING = 1e-6  # of the sum of the forms of a linear programme


class NoMaximumError(ValueError):
    """The likelihood grows without end, so that no finite estimate exists."""


class AllTiesError(NoMaximumError):
    """Ties are so many that the parameter of ties grows without end."""


class SeparationError(NoMaximumError):
    """Some mix of strengths and covariates tells every outcome in advance."""


def check_wins_and_ties(wins: Floats, ties: Floats) -> tuple[Floats, Floats]:
    """Return float copies of two tables without their diagonals, or refuse them.

    Parameters
    ----------
    wins : array of shape (n_systems, n_systems)
        ``wins[i, j]`` is how often (or with which weight) i was preferred to j, at least 0.
    ties : array of shape (n_systems, n_systems)
        ``ties[i, j]`` is how often neither was; symmetric, at least 0.

    Raises
    ------
    ValueError
        If the tables are not square, of one shape and of two systems or more, an entry is
        negative or not finite, or the ties are not symmetric.
    NotConnectedError
        If wins and ties, a tie counting both ways, leave groups that cannot be compared.
    AllTiesError
        If the parameter of ties has no finite maximum.

    Notes
    -----
    Moving log strengths by t d_i and half-widths of a tie by t, the likelihood of Davidson and
    of Rao and Kupper never falls if d_i - d_j >= 1 wherever i won from j, and |d_i - d_j| <= 1
    wherever the two tied. Such d exist if and only if these differences contain no circle of
    negative length; with one, and with connected systems, the maximum is finite. All ties is
    the plainest case (d = 0). Cost O(n_systems**3).
    """
    wins, ties = (_without_diagonal(np.asarray(table, np.float64)) for table in (wins, ties))
    if wins.shape != ties.shape:
        msg = f"wins and ties must be of one shape, not {wins.shape} and {ties.shape}"
        raise ValueError(msg)
    if not np.allclose(ties, ties.T):
        msg = "ties must be symmetric"
        raise ValueError(msg)
    components = strong_components(wins + ties)
    if len(components) > 1:
        raise NotConnectedError(components)
    if ties.any() and not _has_circle(wins, ties):
        msg = "no finite parameter of ties: wins and ties leave no contradiction"
        raise AllTiesError(msg)
    return wins, ties


def grows_without_end(rows: sparse.csr_array) -> bool:
    """Say whether a direction exists in which no observation grows less likely, and some do more.

    Parameters
    ----------
    rows : sparse array of shape (n_rows, n_parameters)
        Each row is a linear form that must not be negative in such a direction.

    Notes
    -----
    A linear programme: the sum of the forms is maximised, each held between 0 and 1. Cost is
    that of the simplex method on n_rows bounds; meant to explain a search that did not end.

    References
    ----------
    .. [1] Albert & Anderson (1984), Biometrika 71:1-10. doi:10.1093/biomet/71.1.1
    .. [2] Konis (2007), DPhil thesis, University of Oxford (detection by linear programming).
    """
    from scipy import optimize  # noqa: PLC0415 (slow to import, and seldom needed)

    unique = sparse.csr_array(np.unique(rows.toarray(), axis=0))
    both = sparse.vstack([unique, -unique])
    most = np.concatenate([np.ones(unique.shape[0]), np.zeros(unique.shape[0])])
    limits = optimize.LinearConstraint(both, -np.inf, most)
    found = optimize.milp(-unique.sum(axis=0), constraints=limits, bounds=optimize.Bounds())
    return bool(found.success and found.fun < -ROUNDING)


def _without_diagonal(table: Floats) -> Floats:
    if table.ndim != 2 or table.shape[0] != table.shape[1]:  # noqa: PLR2004 (rows, columns)
        msg = f"a table must be square, not of shape {table.shape}"
        raise ValueError(msg)
    if len(table) <= 1:
        msg = f"at least two systems are needed, not {len(table)}"
        raise ValueError(msg)
    if not np.isfinite(table).all() or (table < 0).any():
        msg = "entries must be finite and not negative"
        raise ValueError(msg)
    cleared = table.copy()
    np.fill_diagonal(cleared, 0.0)
    return cleared


def _has_circle(wins: Floats, ties: Floats) -> bool:
    """Say whether the differences that an endless rise needs contradict each other."""
    lengths = np.where(wins > 0, -1.0, np.where(ties > 0, 1.0, 0.0))
    try:
        csgraph.johnson(sparse.csr_array(lengths))
    except csgraph.NegativeCycleError:
        return True
    return False
