"""Bradley-Terry with ties, after Davidson and after Rao and Kupper."""

import math
from dataclasses import dataclass

import numpy as np

from ranking.numerics.arrays import Floats
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.models.cumulative import Graded, fit_cumulative
from ranking.numerics.models.maximum import Slopes, check_wins_and_ties, covariance, maximise


@dataclass(frozen=True)
class TiesFit:
    """What a model with ties finds.

    Attributes
    ----------
    log_strengths : array of shape (n_systems,)
        Natural log, mean 0.
    parameter : float
        Of ties, at least 0. Davidson's nu: how many ties there are for each win of either side
        between equals. Rao and Kupper's ln eta: how far ahead, in natural-log units, a system
        must be perceived to be preferred.
    covariance : array of shape (n_systems, n_systems)
        Of the log strengths; judgments taken as independent.
    error : float or None
        Standard error of ln nu or of ln eta; None where the parameter is 0.
    log_likelihood : float
        Natural log, of wins, losses and ties.
    """

    log_strengths: Floats
    parameter: float
    covariance: Floats
    error: float | None
    log_likelihood: float


def fit_davidson(wins: Floats, ties: Floats) -> TiesFit:
    """Fit Davidson's model by maximum likelihood.

    Parameters
    ----------
    wins : array of shape (n_systems, n_systems)
        ``wins[i, j]`` counts judgments that prefer i to j. The diagonal is ignored.
    ties : array of shape (n_systems, n_systems)
        ``ties[i, j]`` counts judgments of the pair that prefer neither; symmetric.

    Returns
    -------
    TiesFit
        Without any tie, nu is 0, on the edge of what it may be, and strengths and covariance
        are those of Bradley-Terry.

    Raises
    ------
    ValueError
        If the tables are no such tables.
    NotConnectedError
        If wins and ties leave groups that cannot be compared.
    AllTiesError
        If nu would be infinite: there are ties, and no circle of wins that ties could not hide.
    NotConvergedError
        If the optimum is not reached.

    Notes
    -----
    P(i wins) : P(j wins) : P(tie) = exp(d/2) : exp(-d/2) : nu with d = theta_i - theta_j.
    Concave in theta and ln nu. Cost O(n_systems**3) per step.

    References
    ----------
    .. [1] Davidson (1970), J. Amer. Statist. Assoc. 65:317-328.
       doi:10.1080/01621459.1970.10481082
    """
    wins, ties = check_wins_and_ties(wins, ties)
    if not ties.any():
        return _without_ties(wins)
    n = len(wins)
    # Between equals ties : decided = nu : 2.
    start = np.append(np.zeros(n), math.log(ties.sum() / max(1.0, wins.sum())))
    found = maximise(lambda at: _slopes(wins, ties, at), start, n_strengths=n)
    spread = covariance(found.slopes.information, n_strengths=n)
    return TiesFit(
        found.at[:n],
        float(np.exp(found.at[n])),
        spread[:n, :n],
        float(np.sqrt(spread[n, n])),
        found.slopes.value,
    )


def _without_ties(wins: Floats) -> TiesFit:
    fit = fit_bradley_terry(wins)
    log_p = -np.logaddexp(0.0, fit.log_strengths[None, :] - fit.log_strengths[:, None])
    return TiesFit(fit.log_strengths, 0.0, fit.covariance, None, float((wins * log_p).sum()))


def _slopes(wins: Floats, ties: Floats, at: Floats) -> Slopes:
    """Return the slopes over all ordered pairs, each pair taken half from either side."""
    d, log_nu = at[:-1, None] - at[None, :-1], at[-1]
    n = wins + wins.T + ties
    log_total = np.logaddexp(np.logaddexp(d / 2, -d / 2), log_nu)
    win, tie = np.exp(d / 2 - log_total), np.exp(log_nu - log_total)
    ahead = win - win.T  # expected wins less losses of one judgment
    value = (wins * d).sum() / 2 + ties.sum() / 2 * log_nu - (n * log_total).sum() / 2
    gradient = ((wins - wins.T) / 2 - n * ahead / 2).sum(axis=1)
    weight = n * (win + win.T - ahead**2) / 4
    information = np.empty((len(at), len(at)))
    information[:-1, :-1] = np.diag(weight.sum(axis=1)) - weight
    information[:-1, -1] = information[-1, :-1] = -(n * ahead * tie).sum(axis=1) / 2
    information[-1, -1] = (n * tie * (1 - tie)).sum() / 2
    return Slopes(float(value), np.append(gradient, (ties - n * tie).sum() / 2), information)


def fit_rao_kupper(wins: Floats, ties: Floats) -> TiesFit:
    """Fit the model of Rao and Kupper by maximum likelihood.

    Parameters
    ----------
    wins, ties : arrays of shape (n_systems, n_systems)
        As in `fit_davidson`.

    Returns
    -------
    TiesFit
        As in `fit_davidson`, with ln eta in place of nu.

    Raises
    ------
    ValueError, NotConnectedError, AllTiesError, NotConvergedError
        As `fit_davidson` does.

    Notes
    -----
    P(i wins) = expit(theta_i - theta_j - ln eta): the cumulative logit with one threshold.
    Cost O(n_systems**3) per step.

    References
    ----------
    .. [1] Rao & Kupper (1967), J. Amer. Statist. Assoc. 62:194-204.
       doi:10.1080/01621459.1967.10482901
    """
    wins, ties = check_wins_and_ties(wins, ties)
    if not ties.any():
        return _without_ties(wins)
    fit = fit_cumulative(_as_rows(wins, ties), n_systems=len(wins))
    n = len(wins)
    return TiesFit(
        fit.log_strengths,
        float(fit.thresholds[0]),
        fit.covariance[:n, :n],
        math.sqrt(fit.covariance[n, n]),
        fit.log_likelihood,
    )


def _as_rows(wins: Floats, ties: Floats) -> Graded:
    winner, loser = np.nonzero(wins)
    one, other = np.nonzero(np.triu(ties))
    return Graded(
        np.concatenate([winner, one]),
        np.concatenate([loser, other]),
        np.repeat([1, 0], [len(winner), len(one)]),
        np.concatenate([wins[winner, loser], ties[one, other]]),
    )
