"""Whether strengths explain the outcomes of pairs: residuals, deviance and calibration."""

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
    units_of_pairs : integer array of shape (P,)
        In how many of them each pair was judged.
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
    units_of_pairs: Integers

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

        To be held against the normal distribution, whatever the number of units: an error about 0
        and not about the mean grows with the residual, so that a pair judged in m units hardly
        gets beyond the root of m, and t quantiles would be too far out (Efron 1969, J. Am. Stat.
        Assoc. 64:1278-1302). NaN where the residual cannot vary: a pair that alone connects two
        groups of systems is predicted as it came out.
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
        units_of_pairs=np.diff((forwards + backwards).tocsc().indptr),
    )


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


MOST_STEPS = 100
SMALL_STEP = 1e-10


@dataclass(frozen=True)
class CalibrationBins:
    """Pairs sorted by prediction and cut into bins; arrays of shape (n_bins,).

    ``n`` is the weight of their judgments, ``predicted`` and ``counted`` are weighted means.
    """

    n: Floats
    predicted: Floats
    counted: Floats


def calibration_bins(
    predicted: Floats, counted: Floats, n: Floats, *, n_bins: int = 10
) -> CalibrationBins:
    """Average prediction and outcome over pairs with alike predictions.

    Parameters
    ----------
    predicted, counted : arrays of shape (n_pairs,)
        Share predicted for a side, and that it took, 0 to 1. The side is the one ahead or the
        one behind as the caller likes.
    n : array of shape (n_pairs,)
        Weight of the judgments, above 0.
    n_bins : int
        Bins of about equal weight; fewer come back if there are fewer pairs.

    Raises
    ------
    ValueError
        If shapes differ or a weight is not positive.
    """
    if not predicted.shape == counted.shape == n.shape or not (n > 0).all():
        msg = f"shapes must agree and weights be positive: {predicted.shape}, {n.shape}"
        raise ValueError(msg)
    order = predicted.argsort(kind="stable")
    middle = np.cumsum(n[order]) - n[order] / 2.0
    place = np.floor(n_bins * middle / n.sum()).astype(np.int64)
    _, place = np.unique(place, return_inverse=True)
    weight = np.bincount(place, n[order]).astype(np.float64)
    means = (
        np.bincount(place, n[order] * values[order]) / weight for values in (predicted, counted)
    )
    return CalibrationBins(weight, *means)


def stretch(differences: Floats, won: Floats, n: Floats) -> float:
    """Return the factor by which strengths would have to be stretched to predict win rates.

    Parameters
    ----------
    differences : array of shape (n_pairs,)
        Fitted strength of the first system less that of the second (natural log).
    won : array of shape (n_pairs,)
        Share of the judgments that the first won, ties half; 0 to 1.
    n : array of shape (n_pairs,)
        Judgments of the pair, above 0.

    Returns
    -------
    float
        The maximum-likelihood slope b of ``logit P(won) = b * difference``: 1 if differences
        are log odds of winning, more if scores were shrunk. NaN where all differences are 0,
        infinite where the better system won every time.

    Notes
    -----
    Newton's method in one dimension; the likelihood is concave.

    References
    ----------
    .. [1] Cox (1958), Biometrika 45:562-565. doi:10.1093/biomet/45.3-4.562
    """
    if not differences.any():
        return float("nan")
    ahead = np.where(differences > 0, won, 1.0 - won)[differences != 0]
    if (ahead >= 1.0).all():
        return float("inf")
    if (ahead <= 0.0).all():
        return float("-inf")
    slope = 0.0
    for _ in range(MOST_STEPS):
        p = special.expit(slope * differences)
        gradient = float((n * (won - p) * differences).sum())
        step = gradient / float((n * p * (1.0 - p) * differences**2).sum())
        # Newton may leap where the curve is flat; twice what one has gained is enough.
        slope += float(np.clip(step, -1.0 - abs(slope), 1.0 + abs(slope)))
        if abs(step) < SMALL_STEP * (1.0 + abs(slope)):
            break
    return slope
