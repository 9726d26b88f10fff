"""What the error of a difference in a study is made of."""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.intervals import check_level
from ranking.numerics.planning.design import MOST_UNITS
from ranking.numerics.sandwich import fisher_covariance
from ranking.numerics.tables import WeightedPairs, WinTables


@dataclass(frozen=True)
class WeightedJudgments:
    """Weighted judgments, one entry each, with what they hang together by.

    Attributes
    ----------
    pairs : WeightedPairs
        Unit (source dialogue), systems and shares.
    item : integer array of shape (n_judgments,)
        Which comparison, from 0: the same two texts, always in the same order.
    rater : integer array of shape (n_judgments,), or None
        Who judged, from 0; None where evaluators are not drawn from a larger number of their kind.
    """

    pairs: WeightedPairs
    item: Integers
    rater: Integers | None


@dataclass(frozen=True)
class ErrorParts:
    """The squared error (natural log) of one difference in a study, in three parts.

    Attributes
    ----------
    n_units : int
        Source dialogues with judgments, at least 2.
    between : float
        What stays however often the same comparisons are judged: texts stray from their systems.
    within : float
        What judgments of the same comparison differ by; NaN if none was judged twice.
    raters : float
        What hangs together because one person gave it, across dialogues.
    freedom : float
        Degrees of freedom of the error itself, from how unequally dialogues bear on it.
    """

    n_units: int
    between: float
    within: float
    raters: float
    freedom: float

    @property
    def variance(self) -> float:
        """Return the squared error of the study as it is."""
        return self.between + (0.0 if math.isnan(self.within) else self.within) + self.raters

    @property
    def standard_error(self) -> float:
        """Return the error of the study as it is, natural log."""
        return math.sqrt(self.variance)

    def expected_error(self, *, units: float = 1.0, judgments: float = 1.0) -> float:
        """Return the error with so many times the dialogues and judgments of each comparison.

        More judgments come from more people, each of whom gives as many as now. NaN for more
        judgments of each comparison where none was judged twice.
        """
        if judgments == 1.0:
            return math.sqrt(self.variance / units)
        return math.sqrt((self.between + (self.within + self.raters) / judgments) / units)

    def scaled(self, factor: float) -> "ErrorParts":
        """Return the parts, were the squared error that many times as large."""
        return replace(
            self,
            between=factor * self.between,
            within=factor * self.within,
            raters=factor * self.raters,
        )


def error_parts(
    judged: WeightedJudgments, tables: WinTables, log_strengths: Floats, pair: tuple[int, int]
) -> ErrorParts:
    """Split the squared error of a difference into what judgments and what dialogues bring.

    Parameters
    ----------
    judged : WeightedJudgments
        Every judgment of the study.
    tables : WinTables
        The same, tabulated.
    log_strengths : array of shape (n_systems,)
        Their fit (natural log).
    pair : tuple of two ints
        The two systems.

    Returns
    -------
    ErrorParts
        Each judgment moves the difference by its influence. With S the sum of squares of the
        dialogues' influences times n / (n - 1), which is the clustered variance, W the sum over
        comparisons of the variance inside them times their judgments, and R the products of
        influences of one rater in different dialogues: between = S - W, within = W, raters = R,
        the first and the last no less than 0.

    Raises
    ------
    ValueError
        If fewer than two dialogues have judgments, or shapes do not fit.

    Notes
    -----
    W of a comparison that was judged once goes by the mean variance of the others. S + R is the
    two-way variance of Cameron, Gelbach & Miller. Cost O(n_judgments log n_judgments +
    n_systems**3).

    References
    ----------
    .. [1] Cameron, Gelbach & Miller (2011), J. Bus. Econ. Stat. 29:238-249.
       doi:10.1198/jbes.2010.07136
    .. [2] Searle, Casella & McCulloch (1992), Variance Components, chapter 3.
    """
    pairs, (a, b) = judged.pairs, pair
    bread = fisher_covariance(tables, log_strengths)
    lever = bread[a] - bread[b]
    weight = pairs.to_first + pairs.to_second
    apart = log_strengths[pairs.first] - log_strengths[pairs.second]
    surprise = pairs.to_first - weight * special.expit(apart)
    reach = lever[pairs.first] - lever[pairs.second]
    influence = surprise * reach
    by_unit = np.bincount(pairs.unit, influence)[np.bincount(pairs.unit) > 0]
    n = len(by_unit)
    if n < 2:  # noqa: PLR2004 - an error needs two
        msg = f"an error needs two source dialogues, not {n}"
        raise ValueError(msg)
    squares = by_unit**2
    total = float(squares.sum()) * n / (n - 1.0)
    within = min(_within(judged.item, surprise, reach), total)
    return ErrorParts(
        n_units=n,
        between=max(0.0, total - within) if math.isfinite(within) else total,
        within=within,
        raters=0.0 if judged.rater is None else _shared(judged.rater, pairs.unit, influence),
        freedom=_freedom(squares.astype(np.float64)),
    )


def likely_factors(parts: ErrorParts, *, level: float = 0.9) -> tuple[float, float]:
    """Return between what shares of itself the true squared error lies, at that level.

    A chi-squared interval with the parts' own degrees of freedom; dimensionless, below and above
    1. What is needed is in proportion to the squared error.

    Raises
    ------
    ValueError
        If the level is not a share.
    """
    check_level(level)
    ends = np.array([(1.0 + level) / 2.0, (1.0 - level) / 2.0])
    low, high = 2.0 * special.gammaincinv(parts.freedom / 2.0, ends)
    return float(parts.freedom / low), float(parts.freedom / high)


def _within(item: Integers, surprise: Floats, reach: Floats) -> float:
    """Return the squared error that judgments of the same comparison bring; NaN if none is known.

    All judgments of a comparison reach equally far.
    """
    n = np.bincount(item)
    away = surprise - (np.bincount(item, surprise) / np.maximum(n, 1))[item]
    squares = np.bincount(item, away**2)
    is_known = n > 1
    if not is_known.any():
        return math.nan
    usual = squares[is_known].sum() / (n[is_known] - 1).sum()
    variance = np.where(is_known, squares / np.maximum(n - 1, 1), usual)
    return float((np.bincount(item, reach**2) * variance).sum())


def _shared(rater: Integers, unit: Integers, influence: Floats) -> float:
    """Return what raters' judgments of different dialogues have in common, no less than 0."""
    cell = rater.astype(np.int64) * (int(unit.max()) + 1) + unit
    in_one = np.bincount(np.unique(cell, return_inverse=True)[1], influence)
    in_all = np.bincount(rater, influence)
    return max(0.0, float((in_all**2).sum() - (in_one**2).sum()))


def _freedom(squares: Floats) -> float:
    """Return twice the square of the sum over its variance; n for normal influences."""
    total = float(squares.sum())
    if total == 0.0:
        return float(len(squares))
    spread = float((squares**2).sum()) / total**2 - 1.0 / len(squares)
    return min(2.0 / spread, float(MOST_UNITS)) if spread > 0.0 else float(MOST_UNITS)
