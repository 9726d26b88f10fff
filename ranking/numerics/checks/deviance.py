"""Whether strengths alone explain the outcomes of the pairs: deviance, corrected for units."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.numerics.arrays import Floats
from ranking.numerics.checks.residuals import PairResiduals

STILL = 1e-9
MOST_UNITS = 2_000
"""Units from which the second moment is taken; more are thinned evenly."""


@dataclass(frozen=True)
class DevianceTest:
    """Deviance of the pairs against Bradley-Terry, as it is and corrected for units.

    Attributes
    ----------
    by_pair : array of shape (n_pairs,)
        What each pair adds to the deviance (dimensionless, at least 0).
    degrees_of_freedom : int
        Pairs judged, less (systems - 1).
    naive_p_value : float
        From chi-square, as if judgments were independent whole wins.
    design_effect : float
        How many times larger the deviance is expected to be than its degrees of freedom.
    corrected_degrees : float
        Degrees of freedom of the corrected statistic.
    p_value : float
        Corrected. It and the degrees before it are NaN where there are no degrees of freedom,
        or where no unit differs from what is predicted (all judgments are ties).
    """

    by_pair: Floats
    degrees_of_freedom: int
    naive_p_value: float
    design_effect: float
    corrected_degrees: float
    p_value: float

    @property
    def deviance(self) -> float:
        """Return the deviance of all pairs."""
        return float(self.by_pair.sum())


def deviance_test(residuals: PairResiduals) -> DevianceTest:
    """Test whether one strength per system explains the outcomes of all pairs.

    Parameters
    ----------
    residuals : PairResiduals
        Of a maximum-likelihood fit.

    Returns
    -------
    DevianceTest

    Notes
    -----
    The deviance is ``2 sum w log(w / e)`` over both sides of each pair, w being the weight won
    and e that predicted. If judgments of a unit hang together, or are soft scores, it is not
    chi-square but a weighted sum of such, with the eigenvalues of M = D^(-1/2) V D^(-1/2) as
    weights, where V is the clustered covariance of the residuals and D their variance under
    independence. The second-order correction of Rao and Scott compares it with
    tr(M) F(v, v (C - 1)), v = tr(M)^2 / tr(M^2) and C the units. The second moment is summed
    over pairs of different units, which leaves its estimate unbiased. Pairs that were judged in
    few units make the test rough. Cost O(n_units**2 * n_pairs), at most `MOST_UNITS` units.

    References
    ----------
    .. [1] Rao & Scott (1984), Ann. Statist. 12:46-60. doi:10.1214/aos/1176346391
    .. [2] Thomas & Rao (1987), J. Am. Stat. Assoc. 82:630-636.
       doi:10.1080/01621459.1987.10478475
    """
    by_pair = _deviance(residuals)
    degrees = len(residuals.n) - (residuals.scores.shape[1] - 1)
    nothing = float("nan")
    if degrees < 1:
        return DevianceTest(by_pair, 0, nothing, nothing, nothing, nothing)
    deviance = float(by_pair.sum())
    naive = float(special.chdtrc(degrees, deviance))
    trace = float((residuals.variance / residuals.model_variance).sum())
    if trace <= STILL * degrees:
        return DevianceTest(by_pair, degrees, naive, 0.0, nothing, nothing)
    spread = float(np.clip(_second_moment(residuals), trace**2 / degrees, trace**2))
    corrected = trace**2 / spread
    return DevianceTest(
        by_pair=by_pair,
        degrees_of_freedom=degrees,
        naive_p_value=naive,
        design_effect=trace / degrees,
        corrected_degrees=corrected,
        p_value=float(
            special.fdtrc(corrected, corrected * (residuals.n_clusters - 1), deviance / trace)
        ),
    )


def _deviance(residuals: PairResiduals) -> Floats:
    won, predicted = residuals.won, residuals.predicted
    entropy = special.rel_entr(won, predicted) + special.rel_entr(1.0 - won, 1.0 - predicted)
    return np.asarray(2.0 * residuals.n * np.maximum(entropy, 0.0))


def _second_moment(residuals: PairResiduals) -> float:
    """Return tr(M^2) from the products of different units' residuals."""
    judged = np.flatnonzero(np.diff(residuals.by_unit.indptr))
    n = len(judged)
    taken = judged[np.linspace(0, n - 1, min(n, MOST_UNITS)).astype(np.int64)]
    beyond = residuals.by_unit[taken].toarray() - residuals.scores[taken] @ residuals.pull.T
    scaled = beyond / np.sqrt(residuals.model_variance)
    products = scaled @ scaled.T
    apart = float((products**2).sum() - (products.diagonal() ** 2).sum())
    drawn = max(1, len(taken) * (len(taken) - 1))
    # Units that came out as predicted add nothing to the sum, but count as units.
    return apart / drawn * n * (n - 1) * residuals.n_clusters / (residuals.n_clusters - 1)
