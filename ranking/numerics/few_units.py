"""Errors and intervals for few units: bias-reduced, expanded, with a warning."""

import numpy as np
from scipy import special

from ranking.numerics.arrays import Floats
from ranking.numerics.intervals import Intervals, check_level, percentile_intervals
from ranking.numerics.sandwich import (
    ClusteredCovariance,
    clustered_covariance,
    count_clusters,
    fisher_covariance,
)
from ranking.numerics.simultaneous import Units, for_few_units
from ranking.numerics.tables import WinTables

FEW_UNITS = 50
"""Below this number of units the sandwich is corrected for few, and pages say so."""
TOO_FEW_UNITS = 20
"""Below this number no correction is to be relied on."""
MOST_SYSTEMS = 200
"""Above this number of systems the correction would take too long."""
ALL_BUT_THE_ENDS = 1.0 - 1e-12
RESOLVED = 1e-10
"""Share of information or variance; less is rounding: what one unit alone determines."""


def robust_covariance(
    tables: WinTables, log_strengths: Floats, *, ridge: float = 0.0
) -> ClusteredCovariance:
    """Return the covariance clustered by unit, with the correction that the number asks for.

    Below `FEW_UNITS` units that is `bias_reduced_covariance`, otherwise `clustered_covariance`,
    whose arguments and errors it has.
    """
    if count_clusters(tables) < FEW_UNITS and tables.n_systems <= MOST_SYSTEMS:
        return bias_reduced_covariance(tables, log_strengths, ridge=ridge)
    return clustered_covariance(tables, log_strengths, ridge=ridge)


def bias_reduced_covariance(
    tables: WinTables, log_strengths: Floats, *, ridge: float = 0.0
) -> ClusteredCovariance:
    """Return the sandwich covariance CR2 with Satterthwaite degrees of freedom, by unit.

    Parameters
    ----------
    tables, log_strengths, ridge
        As in `ranking.numerics.sandwich.clustered_covariance`.

    Returns
    -------
    ClusteredCovariance
        ``sum_c g_c g_c'`` with ``g_c = R (1 - R I_c R)^(-1/2) R U_c``; R is the root of the
        inverse information, I_c and U_c the information and the gradient of unit c. Degrees of
        freedom differ between systems.

    Raises
    ------
    ValueError
        If fewer than two units have judgments, or the shape does not fit.

    Notes
    -----
    Unbiased if judgments were independent and the model right, and close to it otherwise. Where
    one unit alone determines a direction the pseudo-inverse is taken, and what the unit says
    there is lost. It is the linear model's correction at the weights of the last Newton step.
    Cost O(n_units * n_systems**3 + n_units**2 * n_systems), memory O(n_units * n_systems**2):
    meant for less than a hundred units.

    References
    ----------
    .. [1] Bell & McCaffrey (2002), Survey Methodology 28(2):169-181.
    .. [2] Pustejovsky & Tipton (2018), J. Bus. Econ. Stat. 36:672-683.
       doi:10.1080/07350015.2016.1247004
    """
    n_clusters = count_clusters(tables)
    bread = fisher_covariance(tables, log_strengths, ridge=ridge)
    information = _unit_information(tables, log_strengths)
    influence = _adjustments(bread, information)
    scores = tables.unit_scores(log_strengths)
    moved = (influence @ scores[:, :, None])[:, :, 0]
    freedom = _satterthwaite(bread, information, influence)
    return ClusteredCovariance(moved.T @ moved, n_clusters, freedom)


def expanded_intervals(
    estimate: Floats, replicates: Floats, *, n_units: Units, level: float = 0.95
) -> Intervals:
    """Return percentile intervals, expanded to what so few units allow.

    Parameters
    ----------
    estimate : array of shape (n_systems,)
        Fitted values, in any unit; no interval leaves its own out.
    replicates : array of shape (n_replicates, n_systems)
        Bootstrap replicates of ``estimate`` in the same unit, all finite.
    n_units : int or integer array of shape (n_systems,)
        Units that the replicates were drawn from, or in how many of them each system is; at
        least 2.
    level : float
        Probability with which each interval, alone, is to hold.

    Returns
    -------
    Intervals
        As `ranking.numerics.intervals.percentile_intervals`, but for the level that the
        correction of `ranking.numerics.simultaneous.for_few_units` asks for.

    Raises
    ------
    ValueError
        If there are fewer than two replicates or units, one replicate is not finite, or the
        level is not a share.

    Notes
    -----
    Resamples of few units vary too little, by the root of n / (n - 1), and what they vary by is
    itself uncertain, as in Student's t. Cost O(n_replicates * n_systems).

    References
    ----------
    .. [1] Hesterberg (2015), The American Statistician 69:371-386, the expanded percentile
       interval. doi:10.1080/00031305.2015.1089789
    """
    check_level(level)
    reached = -float(special.ndtri((1.0 - level) / 2.0))
    units = np.broadcast_to(n_units, estimate.shape)
    asked = 1.0 - 2.0 * special.ndtr(-for_few_units(reached, units))
    levels = np.minimum(asked, ALL_BUT_THE_ENDS)
    low, high = np.array(estimate, dtype=np.float64), np.array(estimate, dtype=np.float64)
    for one in np.unique(levels):
        some = levels == one
        found = percentile_intervals(replicates[:, some], level=float(one))
        low[some] = np.minimum(found.low, low[some])
        high[some] = np.maximum(found.high, high[some])
    return Intervals(low, high)


def few_units_warning(n_units: int, units: str = "source dialogues") -> str | None:
    """Say what few units do to intervals; None if there are enough."""
    if n_units >= FEW_UNITS:
        return None
    if n_units >= TOO_FEW_UNITS:
        return (
            f"Only {n_units} {units}: intervals carry a correction for few, "
            "which is itself uncertain."
        )
    return f"Only {n_units} {units}: with fewer than {TOO_FEW_UNITS}, no interval can be relied on."


def _unit_information(tables: WinTables, log_strengths: Floats) -> Floats:
    """Return the information of each unit that has judgments or not, (n_units, n, n)."""
    n = tables.n_systems
    wins = tables.rows.toarray().reshape(-1, n, n)
    odds = np.exp(-np.abs(log_strengths[:, None] - log_strengths[None, :]))
    weight = (wins + wins.swapaxes(1, 2)) * (odds / (1.0 + odds) ** 2)
    systems = np.arange(n)
    weight[:, systems, systems] = 0.0
    information: Floats = -weight
    information[:, systems, systems] = weight.sum(axis=2)
    return information


def _adjustments(bread: Floats, information: Floats) -> Floats:
    """Return what turns each unit's gradient into its pull on the strengths, (n_units, n, n)."""
    values, vectors = np.linalg.eigh(bread)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    shares, directions = np.linalg.eigh(root @ information @ root)
    left = 1.0 - shares
    scale = np.where(left > RESOLVED, np.maximum(left, RESOLVED) ** -0.5, 0.0)
    adjusted = (directions * scale[:, None, :]) @ directions.swapaxes(1, 2)
    pulls: Floats = root @ adjusted @ root
    return pulls


def _satterthwaite(bread: Floats, information: Floats, influence: Floats) -> Floats:
    """Return the degrees of freedom of each system's variance, shape (n_systems,)."""
    freedom = np.empty(len(bread))
    for system in range(len(bread)):
        pull = influence[:, :, system]
        seen = (information @ pull[:, :, None])[:, :, 0]
        # Covariance of the units' terms if judgments were independent and the model right.
        terms = np.diag((pull * seen).sum(axis=1)) - seen @ bread @ seen.T
        # One where each unit alone determines something, and none has a residual.
        is_seen = np.trace(terms) > RESOLVED * bread[system, system]
        freedom[system] = np.trace(terms) ** 2 / float((terms**2).sum()) if is_seen else 1.0
    return freedom
