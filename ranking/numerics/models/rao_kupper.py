"""The model of Rao and Kupper: ties where strengths are too near to tell apart."""

import math
from dataclasses import dataclass

import numpy as np

from ranking.numerics.arrays import Floats
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.models.cumulative import fit_cumulative
from ranking.numerics.models.existence import check_wins_and_ties
from ranking.numerics.models.grades import Graded


@dataclass(frozen=True)
class RaoKupperFit:
    """What the model of Rao and Kupper finds.

    Attributes
    ----------
    log_strengths : array of shape (n_systems,)
        Natural log, mean 0.
    threshold : float
        ln eta, at least 0: how far ahead, in natural-log units, a system must be perceived to
        be preferred.
    covariance : array of shape (n_systems, n_systems)
        Of the log strengths; judgments taken as independent.
    threshold_error : float or None
        Standard error of ln eta; None where it is 0.
    log_likelihood : float
        Natural log, of wins, losses and ties.
    """

    log_strengths: Floats
    threshold: float
    covariance: Floats
    threshold_error: float | None
    log_likelihood: float


def fit_rao_kupper(wins: Floats, ties: Floats) -> RaoKupperFit:
    """Fit the model of Rao and Kupper by maximum likelihood.

    Parameters
    ----------
    wins, ties : arrays of shape (n_systems, n_systems)
        As in `ranking.numerics.models.davidson.fit_davidson`.

    Returns
    -------
    RaoKupperFit
        Without any tie ln eta is 0, on the edge of what it may be, and strengths and covariance
        are those of Bradley-Terry.

    Raises
    ------
    ValueError
        If the tables are no such tables.
    NotConnectedError
        If wins and ties leave groups that cannot be compared.
    AllTiesError
        If ln eta would be infinite.
    NotConvergedError
        If the optimum is not reached.

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
    return RaoKupperFit(
        fit.log_strengths,
        float(fit.thresholds[0]),
        fit.covariance[:n, :n],
        math.sqrt(fit.covariance[n, n]),
        fit.log_likelihood,
    )


def _without_ties(wins: Floats) -> RaoKupperFit:
    fit = fit_bradley_terry(wins)
    log_p = -np.logaddexp(0.0, fit.log_strengths[None, :] - fit.log_strengths[:, None])
    return RaoKupperFit(fit.log_strengths, 0.0, fit.covariance, None, float((wins * log_p).sum()))


def _as_rows(wins: Floats, ties: Floats) -> Graded:
    winner, loser = np.nonzero(wins)
    one, other = np.nonzero(np.triu(ties))
    return Graded(
        np.concatenate([winner, one]),
        np.concatenate([loser, other]),
        np.repeat([1, 0], [len(winner), len(one)]),
        np.concatenate([wins[winner, loser], ties[one, other]]),
    )
