"""What each pair of systems shows beyond what the strengths of the two predict."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse, special

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.sandwich import count_clusters, fisher_covariance
from ranking.numerics.tables import WinTables


@dataclass(frozen=True)
class PairResiduals:
    """Won less predicted, for each pair that was judged; P pairs, K systems, C units.

    Attributes
    ----------
    first, second : integer arrays of shape (P,)
        The two systems, ``first < second``, in the order of the upper triangle.
    n, won, predicted : arrays of shape (P,)
        Weight of the judgments, share of it that ``first`` took, and ``expit`` of the
        difference of the strengths.
    by_unit : sparse array of shape (C, P)
        Weight that ``first`` took in a unit, less what was predicted there.
    scores : array of shape (C, K)
        Each unit's gradient of the log likelihood.
    pull : array of shape (P, K)
        How far a unit's gradient moves the prediction of each pair by moving the strengths.
    n_clusters : int
        Units with judgments.
    """

    first: Integers
    second: Integers
    n: Floats
    won: Floats
    predicted: Floats
    by_unit: sparse.csr_array
    scores: Floats
    pull: Floats
    n_clusters: int

    @property
    def residual(self) -> Floats:
        """Return the weight won beyond the prediction, shape (P,)."""
        beyond: Floats = self.n * (self.won - self.predicted)
        return beyond

    @property
    def model_variance(self) -> Floats:
        """Return the variance of the weight won if judgments were independent, shape (P,)."""
        variance: Floats = self.n * self.predicted * (1.0 - self.predicted)
        return variance

    @cached_property
    def variance(self) -> Floats:
        """Return the clustered variance of the residuals, shape (P,).

        The sum over units of (own residual - what the unit does to the prediction) squared,
        times C / (C - 1): the strengths are fitted to the same judgments.
        """
        own = self.by_unit.multiply(self.by_unit).sum(axis=0)
        shared = ((self.by_unit.T @ self.scores) * self.pull).sum(axis=1)
        moved = ((self.pull @ (self.scores.T @ self.scores)) * self.pull).sum(axis=1)
        total = np.maximum(np.asarray(own) - 2.0 * shared + moved, 0.0)
        scaled: Floats = total * self.n_clusters / (self.n_clusters - 1.0)
        return scaled

    @property
    def standardised(self) -> Floats:
        """Return residuals in clustered standard errors, shape (P,).

        NaN where the residual cannot vary: a pair that alone connects two groups of systems
        is predicted as it came out.
        """
        free = self.variance > 1e-9 * self.model_variance
        errors = np.sqrt(np.where(free, self.variance, np.nan))
        standardised: Floats = self.residual / errors
        return standardised


def pair_residuals(tables: WinTables, log_strengths: Floats) -> PairResiduals:
    """Hold every pair's outcome beside what the strengths predict.

    Parameters
    ----------
    tables : WinTables
        Weighted wins per unit, of which the strengths were fitted.
    log_strengths : array of shape (n_systems,)
        Their maximum-likelihood fit (natural log).

    Returns
    -------
    PairResiduals
        For the pairs with judgments.

    Raises
    ------
    ValueError
        If fewer than two units have judgments, or the shape does not fit.

    Notes
    -----
    Cost O(nonzero cells + n_pairs * n_systems**2); memory O(n_pairs * n_systems).

    References
    ----------
    .. [1] Bradley (1976), Biometrics 32:213-239. doi:10.2307/2529494
    .. [2] Liang & Zeger (1986), Biometrika 73:13-22. doi:10.1093/biomet/73.1.13
    """
    n_clusters = count_clusters(tables)
    scores = tables.unit_scores(log_strengths)
    wins = tables.total()
    first, second = np.nonzero(np.triu(wins + wins.T, 1))
    n = (wins + wins.T)[first, second]
    predicted = special.expit(log_strengths[first] - log_strengths[second])
    forwards, backwards = (
        sparse.csr_array(tables.rows[:, a * tables.n_systems + b])
        for a, b in ((first, second), (second, first))
    )
    by_unit = forwards.multiply(1.0 - predicted) - backwards.multiply(predicted)
    bread = fisher_covariance(tables, log_strengths)
    weight = n * predicted * (1.0 - predicted)
    pull = weight[:, None] * (bread[first] - bread[second])
    return PairResiduals(
        first=first,
        second=second,
        n=n,
        won=wins[first, second] / n,
        predicted=predicted,
        by_unit=sparse.csr_array(by_unit),
        scores=scores,
        pull=pull,
        n_clusters=n_clusters,
    )
