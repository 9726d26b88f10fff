"""A judge calibrated by people, and how well its probabilities foretell what most people prefer."""

import math

import numpy as np
from scipy import special

from ranking.numerics.agreement.resampled import IntervalEstimate
from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.clustered_means import TooFewDialoguesError, clustered_mean
from ranking.numerics.models.maximum import Slopes, maximise

N_FOLDS = 5
PENALTY = 1.0
"""Half the sum of squared weights is added this many times to the log loss."""


def verdict_figures(verdicts: Floats) -> Floats:
    """Return figures of what each judge said, of which a missing verdict is none.

    Parameters
    ----------
    verdicts : array of shape (n_pairs, n_judges)
        Signed strengths, positive for the first completion, on any scale; NaN where a judge did
        not judge a pair.

    Returns
    -------
    array of shape (n_pairs, n_figures)
        First each judge's verdict, 0 where it is missing; then, for each judge that misses some,
        the mean of the others where it does, and 0 elsewhere, so that others can stand in for
        it. All change their sign when a pair is turned round.
    """
    is_missing = np.isnan(verdicts)
    said = np.where(is_missing, 0.0, verdicts)
    mean = said.sum(axis=1) / np.maximum(1, (~is_missing).sum(axis=1))
    stand_ins = is_missing[:, is_missing.any(axis=0)] * mean[:, None]
    return np.hstack([said, stand_ins])


def fit_judge(figures: Floats, won: Booleans, *, penalty: float = PENALTY) -> Floats:
    """Learn how much each figure says of the preference of most people.

    Parameters
    ----------
    figures : array of shape (n_pairs, n_figures)
        Finite, and each of the other sign when its pair is turned round.
    won : boolean array of shape (n_pairs,)
        Whether most people preferred the first completion.
    penalty : float
        Above 0: how strongly weights are drawn towards 0.

    Returns
    -------
    array of shape (n_figures,)
        Weights: the log odds of the first completion are ``figures @ weights``.

    Raises
    ------
    ValueError
        If there are fewer than two pairs, shapes differ, a figure is not finite, or the penalty
        is not above 0.

    Notes
    -----
    Logistic regression without a constant, by Newton's method; the penalty is on the weights of
    figures divided by their root mean square. Without a constant, turning a pair round changes
    nothing, and no order of the two completions is better than the other. Cost
    O(n_pairs * n_figures**2) a step.

    References
    ----------
    .. [1] Hoerl & Kennard (1970), Technometrics 12:55-67. doi:10.2307/1267351
    .. [2] le Cessie & van Houwelingen (1992), Applied Statistics 41:191-201.
       doi:10.2307/2347628
    """
    _check(figures, won, penalty)
    size = _root_mean_squares(figures)
    turned = np.where(won, 1.0, -1.0)[:, None] * figures / size

    def slopes(weights: Floats) -> Slopes:
        odds = turned @ weights
        p = special.expit(odds)
        return Slopes(
            float(special.log_expit(odds).sum() - penalty / 2 * weights @ weights),
            (1 - p) @ turned - penalty * weights,
            (turned * (p * (1 - p))[:, None]).T @ turned + penalty * np.eye(len(weights)),
        )

    return maximise(slopes, np.zeros(len(size))).at / size


def cross_validated(figures: Floats, won: Booleans, unit: Integers) -> Floats:
    """Return the probability that most people prefer the first, learned from other dialogues.

    Parameters
    ----------
    figures, won
        As in `fit_judge`.
    unit : integer array of shape (n_pairs,)
        The source dialogue of each pair; no fold learns from the dialogues that it predicts.

    Returns
    -------
    array of shape (n_pairs,)
        Between 0 and 1.

    Raises
    ------
    TooFewDialoguesError
        If there are fewer than `N_FOLDS` dialogues.
    ValueError
        As in `fit_judge`.
    """
    _check(figures, won, PENALTY)
    if (n_units := len(np.unique(unit))) < N_FOLDS:
        msg = f"{n_units} dialogues cannot be put into {N_FOLDS} folds"
        raise TooFewDialoguesError(msg)
    log_odds, fold = np.empty(len(won)), folds(unit, N_FOLDS)
    for one in range(N_FOLDS):
        held = fold == one
        weights = fit_judge(figures[~held], won[~held])
        log_odds[held] = figures[held] @ weights
    probability: Floats = special.expit(log_odds)
    return probability


def folds(unit: Integers, n_folds: int) -> Integers:
    """Return the fold of each pair: the largest dialogue first, to the fold that has fewest."""
    _, place, size = np.unique(unit, return_inverse=True, return_counts=True)
    fold, filled = np.empty(len(size), dtype=np.int64), np.zeros(n_folds, dtype=np.int64)
    for one in np.argsort(size, kind="stable")[::-1]:
        fold[one] = filled.argmin()
        filled[fold[one]] += size[one]
    return np.asarray(fold[place], dtype=np.int64)


def _check(figures: Floats, won: Booleans, penalty: float) -> None:
    if figures.ndim <= 1 or figures.shape[:1] != won.shape or len(won) <= 1:
        msg = f"two rows of figures or more, each with its outcome, not {figures.shape}"
        raise ValueError(msg)
    if not np.isfinite(figures).all():
        msg = "figures must be finite"
        raise ValueError(msg)
    if not penalty > 0.0:
        msg = f"the penalty must be above 0, not {penalty}"
        raise ValueError(msg)


def _root_mean_squares(figures: Floats) -> Floats:
    """Return the size of each figure, 1 where it is always 0."""
    size: Floats = np.sqrt((figures**2).mean(axis=0))
    return np.where(size > 0.0, size, 1.0)


EVEN = 0.5


def hits(probability: Floats, won: Booleans) -> Floats:
    """Return 1 where the likelier completion won, 0 where the other did, 0.5 for even odds.

    Both have shape (n_pairs,): the probability of the first completion, and whether it won.
    """
    right = (probability > EVEN) == won
    return np.where(probability == EVEN, EVEN, right.astype(np.float64))


def squared_errors(probability: Floats, won: Booleans) -> Floats:
    """Return what the Brier score is the mean of: 0 for certainty that is right, 1 if wrong.

    References
    ----------
    .. [1] Brier (1950), Mon. Weather Rev. 78:1-3.
       doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2
    """
    errors: Floats = (probability - won) ** 2
    return errors


def clustered_wilson(values: Floats, unit: Integers, *, level: float = 0.95) -> IntervalEstimate:
    """Return a share with Wilson's interval for as many pairs as the dialogues are worth.

    Parameters
    ----------
    values : array of shape (n_pairs,)
        Between 0 and 1.
    unit : integer array of shape (n_pairs,)
        The source dialogue of each.
    level : float
        Of confidence, above 0 and below 1.

    Returns
    -------
    IntervalEstimate
        NaN for the ends where there are fewer than two dialogues.

    Notes
    -----
    See `ranking.numerics.clustered_means.ClusteredMean.share_interval`.
    """
    try:
        found = clustered_mean(values, unit)
    except TooFewDialoguesError:
        value = float(values.mean()) if len(values) else math.nan
        return IntervalEstimate(value, math.nan, math.nan)
    return IntervalEstimate(found.mean, *found.share_interval(level))


def turned_correlation(
    probability: Floats, share: Floats, unit: Integers, *, level: float = 0.95
) -> IntervalEstimate:
    """Return Pearson's correlation of two shares, with each pair also turned round.

    Parameters
    ----------
    probability, share : arrays of shape (n_pairs,)
        Between 0 and 1, both of the first completion of each pair.
    unit, level
        As in `clustered_wilson`.

    Returns
    -------
    IntervalEstimate
        NaN where one of the two is 0.5 throughout.

    Notes
    -----
    Which completion comes first means nothing, so that pairs are taken both ways: a correlation
    about one half. The error is that of the ratio of sums, clustered by dialogue; the interval
    is Student's t on Fisher's scale.

    References
    ----------
    .. [1] Fisher (1915), Biometrika 10:507-521. doi:10.2307/2331838
    """
    x, y = probability - EVEN, share - EVEN
    size = math.sqrt(float(x @ x) * float(y @ y))
    if size == 0.0:
        return IntervalEstimate(math.nan, math.nan, math.nan)
    r = float(np.clip(float(x @ y) / size, -1.0, 1.0))
    u, v = x / math.sqrt(float(x @ x) / len(x)), y / math.sqrt(float(y @ y) / len(y))
    try:
        found = clustered_mean(u * v - r * (u * u + v * v) / 2.0, unit)
    except TooFewDialoguesError:
        return IntervalEstimate(r, math.nan, math.nan)
    if 1.0 - r * r <= np.finfo(np.float64).eps * len(x):
        return IntervalEstimate(r, r, r)
    quantile = float(special.stdtrit(found.n_clusters - 1, (1.0 + level) / 2.0))
    reach = quantile * found.error / (1.0 - r * r)
    return IntervalEstimate(r, math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach))
