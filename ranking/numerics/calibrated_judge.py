"""A judge calibrated by people: whom most people prefer, learned from what LLM judges said."""

import numpy as np
from scipy import special

from ranking.numerics.arrays import Booleans, Floats, Integers
from ranking.numerics.clustered_means import TooFewDialoguesError

N_FOLDS = 5
PENALTY = 1.0
"""Half the sum of squared weights is added this many times to the log loss."""
CLOSE_ENOUGH = 1e-8  # mean gradient at which the search ends
MOST_STEPS = 200


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
    Logistic regression without a constant, by scikit-learn; the penalty is on the weights of
    figures divided by their root mean square. Without a constant, turning a pair round changes
    nothing, and no order of the two completions is better than the other. Cost
    O(n_pairs * n_figures**2) a step.

    References
    ----------
    .. [1] Hoerl & Kennard (1970), Technometrics 12:55-67. doi:10.2307/1267351
    .. [2] le Cessie & van Houwelingen (1992), Applied Statistics 41:191-201.
       doi:10.2307/2347628
    """
    # Half a second that only this analysis is to pay for.
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

    _check(figures, won, penalty)
    size = _root_mean_squares(figures)
    # The library wants both outcomes, so every other pair is turned round to be lost.
    to_be_won = np.arange(len(won)) % 2 == 0
    turned = np.where(won == to_be_won, 1.0, -1.0)[:, None] * figures / size
    model = LogisticRegression(
        C=1.0 / penalty,
        fit_intercept=False,
        solver="newton-cholesky",
        tol=CLOSE_ENOUGH,
        max_iter=MOST_STEPS,
    )
    weights: Floats = np.asarray(model.fit(turned, to_be_won).coef_[0], dtype=np.float64)
    return weights / size


def cross_validated(
    figures: Floats,
    won: Booleans,
    unit: Integers,
    *,
    n_folds: int = N_FOLDS,
    penalty: float = PENALTY,
) -> Floats:
    """Return the probability that most people prefer the first, learned from other dialogues.

    Parameters
    ----------
    figures, won, penalty
        As in `fit_judge`.
    unit : integer array of shape (n_pairs,)
        The source dialogue of each pair; no fold learns from the dialogues that it predicts.
    n_folds : int
        Into how many parts of about equal size the dialogues are put, 2 or more.

    Returns
    -------
    array of shape (n_pairs,)
        Between 0 and 1.

    Raises
    ------
    TooFewDialoguesError
        If there are fewer dialogues than folds.
    ValueError
        As in `fit_judge`.
    """
    from sklearn.model_selection import GroupKFold  # noqa: PLC0415 (as above)

    _check(figures, won, penalty)
    if (n_units := len(np.unique(unit))) < n_folds:
        msg = f"{n_units} dialogues cannot be put into {n_folds} folds"
        raise TooFewDialoguesError(msg)
    log_odds = np.empty(len(won))
    for learned, predicted in GroupKFold(n_folds).split(figures, groups=unit):
        weights = fit_judge(figures[learned], won[learned], penalty=penalty)
        log_odds[predicted] = figures[predicted] @ weights
    probability: Floats = special.expit(log_odds)
    return probability


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
