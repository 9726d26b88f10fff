"""Covariance of Bradley-Terry strengths when judgments of one unit hang together."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.intervals import Intervals, check_level
from ranking.numerics.tables import WeightedPairs, WinTables, tabulate_by

BLOCK_CELLS = 2**22
"""Gradients held at once: judgments may have almost as many units of both kinds as rows."""


@dataclass(frozen=True)
class ClusteredCovariance:
    """Covariance of log strengths (natural log, mean 0), and how much it can be trusted.

    Of a fit with other parameters these come after the strengths.

    Attributes
    ----------
    covariance : array of shape (n_systems, n_systems)
        Of the strengths less their mean: rows and columns add up to 0.
    n_clusters : int
        Units with judgments, the smaller number of the two if clustered in two ways.
    degrees_of_freedom : array of shape (n_systems,)
        Of the t distribution to take quantiles from.
    """

    covariance: Floats
    n_clusters: int
    degrees_of_freedom: Floats

    @property
    def standard_errors(self) -> Floats:
        """Return the standard error of each log strength, shape (n_systems,)."""
        errors: Floats = np.sqrt(np.maximum(self.covariance.diagonal(), 0.0))
        return errors

    @property
    def difference_errors(self) -> Floats:
        """Return the standard error of every difference, shape (n_systems, n_systems)."""
        variance = self.covariance.diagonal()
        squared = variance[:, None] + variance[None, :] - 2.0 * self.covariance
        errors: Floats = np.sqrt(np.maximum(squared, 0.0))
        return errors

    def intervals(self, log_strengths: Floats, *, level: float = 0.95) -> Intervals:
        """Return t intervals of single strengths, in natural-log units.

        Raises
        ------
        ValueError
            If the level is not a share.
        """
        margin = self.margins(level=level)
        return Intervals(log_strengths - margin, log_strengths + margin)

    def margins(self, *, level: float) -> Floats:
        """Return how far t intervals reach to each side; errors as `intervals`."""
        check_level(level)
        quantile = special.stdtrit(self.degrees_of_freedom, (1.0 + level) / 2.0)
        margins: Floats = quantile * self.standard_errors
        return margins


def clustered_covariance(
    tables: WinTables, log_strengths: Floats, *, ridge: float = 0.0
) -> ClusteredCovariance:
    """Return the sandwich covariance, clustered by unit.

    Parameters
    ----------
    tables : WinTables
        Weighted wins per unit, of which the strengths were fitted.
    log_strengths : array of shape (n_systems,)
        Their fit (natural log).
    ridge : float
        Precision of the normal prior that the fit was given, 0 for maximum likelihood.

    Returns
    -------
    ClusteredCovariance
        ``n / (n - 1) * H^- (sum_c U_c U_c') H^-`` with n the units that have judgments, U_c the
        gradient of unit c and H the information; degrees of freedom n - 1.

    Raises
    ------
    ValueError
        If fewer than two units have judgments, or the shape does not fit.

    Notes
    -----
    It holds whatever the dependence inside a unit, and whatever the weights mean: weights times
    a constant leave it as it is. It does not need the model to be right, only its fit to be what
    one wants to know. It is a limit for many units; see `ranking.numerics.few_units` for few.
    Cost O(number of rows + n_units * n_systems**2).

    References
    ----------
    .. [1] Liang & Zeger (1986), Biometrika 73:13-22. doi:10.1093/biomet/73.1.13
    .. [2] White (1982), Econometrica 50:1-25. doi:10.2307/1912526
    .. [3] Zeileis, Koell & Graham (2020), J. Stat. Softw. 95(1). doi:10.18637/jss.v095.i01
    """
    n_clusters = count_clusters(tables)
    bread = fisher_covariance(tables, log_strengths, ridge=ridge)
    covariance = bread @ _meat(tables, log_strengths) @ bread
    return ClusteredCovariance(covariance, n_clusters, _degrees(tables.n_systems, n_clusters))


def two_way_covariance(
    pairs: WeightedPairs, raters: Integers, log_strengths: Floats
) -> ClusteredCovariance:
    """Return the sandwich covariance, clustered by unit and by rater at once.

    Parameters
    ----------
    pairs : WeightedPairs
        The judgments, one row each.
    raters : integer array of shape (n_rows,)
        Who gave each, as an index from 0.
    log_strengths : array of shape (n_systems,)
        Their maximum-likelihood fit (natural log).

    Returns
    -------
    ClusteredCovariance
        That by unit, plus that by rater, less that by both together, each with its own factor
        n / (n - 1); negative eigenvalues are set to 0. Degrees of freedom are those of the
        smaller number of clusters.

    Raises
    ------
    ValueError
        If there are fewer than two units or raters, or columns differ in length.

    Notes
    -----
    Judgments may depend on each other through the unit or through the rater, but not through
    two raters' common habits. With few raters it is a rough guide. Cost O(n_rows log n_rows).

    References
    ----------
    .. [1] Cameron, Gelbach & Miller (2011), J. Bus. Econ. Stat. 29:238-249.
       doi:10.1198/jbes.2010.07136
    """
    if raters.shape != pairs.unit.shape:
        msg = f"columns differ in length: {sorted({raters.shape, pairs.unit.shape})}"
        raise ValueError(msg)
    both = np.unique(np.stack([pairs.unit, raters]), axis=1, return_inverse=True)[1].ravel()
    by_unit, by_rater, by_both = (
        tabulate_by(cluster, pairs, n_systems=len(log_strengths))
        for cluster in (pairs.unit, raters, both)
    )
    n_clusters = min(count_clusters(by_unit), count_clusters(by_rater))
    meat = (
        _meat(by_unit, log_strengths)
        + _meat(by_rater, log_strengths)
        - _meat(by_both, log_strengths)
    )
    bread = fisher_covariance(by_unit, log_strengths)
    covariance = _nearest_semidefinite(bread @ meat @ bread)
    return ClusteredCovariance(covariance, n_clusters, _degrees(len(log_strengths), n_clusters))


def fisher_covariance(tables: WinTables, log_strengths: Floats, *, ridge: float = 0.0) -> Floats:
    """Return the inverse information of the strengths less their mean, (n_systems, n_systems).

    Notes
    -----
    It takes judgments as independent and weights as counts. With soft scores, or several
    judgments in one dialogue, it is wrong: for parity with other tools, and as the bread of the
    sandwich. Cost O(nonzero cells + n_systems**3).
    """
    information = tables.information(log_strengths)
    n_systems = tables.n_systems
    information = information + ridge * np.eye(n_systems)
    # Moving all strengths alike costs nothing: fill that direction, and take it out again.
    scale = information.diagonal().mean() / n_systems
    centre = np.eye(n_systems) - 1.0 / n_systems
    covariance: Floats = centre @ np.linalg.inv(information + scale) @ centre
    return covariance


def count_clusters(tables: WinTables) -> int:
    """Return how many units have judgments; raise ValueError if fewer than two do."""
    n_clusters = int(tables.is_judged.sum())
    if n_clusters <= 1:
        msg = f"a clustered covariance needs two units with judgments, not {n_clusters}"
        raise ValueError(msg)
    return n_clusters


def _meat(tables: WinTables, log_strengths: Floats) -> Floats:
    n_clusters = count_clusters(tables)
    meat: Floats = _products(tables, log_strengths) * (n_clusters / (n_clusters - 1.0))
    return meat


def _products(tables: WinTables, log_strengths: Floats) -> Floats:
    """Return the units' gradients times themselves; of many units block by block."""
    step = max(1, BLOCK_CELLS // tables.n_systems)
    if tables.n_units <= step:
        scores = tables.unit_scores(log_strengths)
        return np.asarray(scores.T @ scores)
    products = np.zeros((tables.n_systems, tables.n_systems))
    for at in range(0, tables.n_units, step):
        block = tables.subset(np.arange(at, min(at + step, tables.n_units)))
        scores = block.unit_scores(log_strengths)
        products += scores.T @ scores
    return products


def _nearest_semidefinite(matrix: Floats) -> Floats:
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
    nearest: Floats = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return nearest


def _degrees(n_systems: int, n_clusters: int) -> Floats:
    return np.full(n_systems, n_clusters - 1.0)
