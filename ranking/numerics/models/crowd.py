"""Crowd-BT: strengths together with how reliable each evaluator is."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.bradley_terry import NotConvergedError
from ranking.numerics.models.newton import Slopes, maximise

STRENGTH_SD = 2.0  # natural-log units: that of the prior of each log strength
RIGHT, WRONG = 8.0, 2.0  # beta prior of reliability; identifies which way up the scale is


@dataclass(frozen=True)
class Answers:
    """Who preferred what, as columns of shape (n_rows,); ties have no place.

    ``evaluator``, ``winner`` and ``loser`` are indices from 0; ``weight`` says how many answers
    a row stands for.
    """

    evaluator: Integers
    winner: Integers
    loser: Integers
    weight: Floats


@dataclass(frozen=True)
class CrowdFit:
    """What Crowd-BT finds.

    Attributes
    ----------
    log_strengths : array of shape (n_systems,)
        Natural log, mean 0 as the prior has it.
    reliability : array of shape (n_evaluators,)
        Probability that an evaluator answers as the strengths have it rather than the other way
        round: 1 always, 0.5 at random, 0 always turned round.
    log_posterior : float
        Natural log of likelihood times priors, but for a constant.
    iterations : int
        Steps taken.
    """

    log_strengths: Floats
    reliability: Floats
    log_posterior: float
    iterations: int


def fit_crowd(
    answers: Answers,
    *,
    n_systems: int,
    n_evaluators: int,
    tolerance: float = 1e-6,
    max_iterations: int = 5000,
) -> CrowdFit:
    """Fit strengths and reliabilities to the mode of their posterior.

    Parameters
    ----------
    answers : Answers
        Preferences; evaluators or systems without any stay where the prior has them.
    n_systems, n_evaluators : int
        How many there are.
    tolerance : float
        Largest step, in natural-log units or probability, at which the search ends.
    max_iterations : int
        Steps allowed before giving up.

    Raises
    ------
    NotConvergedError
        If the search does not end.

    Notes
    -----
    P(evaluator r prefers i to j) = eta_r p_ij + (1 - eta_r) (1 - p_ij). Turning every eta and
    every strength round gives the same likelihood, and a disconnected graph has no maximum:
    both are settled by the priors, eta ~ Beta(8, 2) and theta ~ N(0, 2**2). Expectation
    maximisation, each answer being in earnest or turned round; it may end on a local mode
    where most evaluators are adversarial. Answers alike are counted together
    first: cost O(n_evaluators n_systems**2 + n_systems**3) per step.

    References
    ----------
    .. [1] Chen, Bennett, Collins-Thompson & Horvitz (2013), WSDM 193-202.
       doi:10.1145/2433396.2433420
    """
    answers = _counted(answers, n_systems)
    theta = np.zeros(n_systems)
    reliability = np.full(n_evaluators, (RIGHT - 1) / (RIGHT + WRONG - 2))
    for iteration in range(max_iterations):
        earnest = _in_earnest(answers, theta, reliability)
        stronger = _strengths(answers, earnest, theta)
        surer = _reliabilities(answers, earnest, n_evaluators)
        moved = max(_furthest(stronger, theta), _furthest(surer, reliability))
        theta, reliability = stronger, surer
        if moved < tolerance:
            value = log_posterior(answers, theta, reliability)
            return CrowdFit(theta, reliability, value, iteration + 1)
    msg = f"no optimum within {max_iterations} steps"
    raise NotConvergedError(msg)


def log_posterior(answers: Answers, log_strengths: Floats, reliability: Floats) -> float:
    """Return the natural log of likelihood times priors, but for a constant."""
    p = special.expit(log_strengths[answers.winner] - log_strengths[answers.loser])
    eta = reliability[answers.evaluator]
    likelihood = answers.weight @ np.log(eta * p + (1 - eta) * (1 - p))
    prior = (RIGHT - 1) * np.log(reliability) + (WRONG - 1) * np.log1p(-reliability)
    return float(likelihood + prior.sum() - (log_strengths**2).sum() / (2 * STRENGTH_SD**2))


def _counted(answers: Answers, n_systems: int) -> Answers:
    """Count answers alike together."""
    pair = answers.winner * n_systems + answers.loser
    code, place = np.unique(answers.evaluator * n_systems**2 + pair, return_inverse=True)
    weight = np.bincount(place, answers.weight, len(code))
    evaluator, pair = np.divmod(code, n_systems**2)
    winner, loser = np.divmod(pair, n_systems)
    return Answers(evaluator, winner, loser, np.asarray(weight, dtype=np.float64))


def _in_earnest(answers: Answers, theta: Floats, reliability: Floats) -> Floats:
    """Return the probability that each answer was not turned round."""
    p = special.expit(theta[answers.winner] - theta[answers.loser])
    eta = reliability[answers.evaluator]
    earnest: Floats = eta * p / (eta * p + (1 - eta) * (1 - p))
    return earnest


def _reliabilities(answers: Answers, earnest: Floats, n_evaluators: int) -> Floats:
    right = np.bincount(answers.evaluator, answers.weight * earnest, n_evaluators)
    total = np.bincount(answers.evaluator, answers.weight, n_evaluators)
    reliability: Floats = (right + RIGHT - 1) / (total + RIGHT + WRONG - 2)
    return reliability


def _strengths(answers: Answers, earnest: Floats, start: Floats) -> Floats:
    """Return the strengths given how much of each answer is in earnest."""
    n = len(start)
    wins = np.zeros((n, n))
    np.add.at(wins, (answers.winner, answers.loser), answers.weight * earnest)
    np.add.at(wins, (answers.loser, answers.winner), answers.weight * (1 - earnest))
    return maximise(lambda at: _slopes(wins, at), start).at


def _slopes(wins: Floats, theta: Floats) -> Slopes:
    """Return the slopes of Bradley-Terry with the prior on strengths."""
    d = theta[:, None] - theta[None, :]
    p = special.expit(d)
    met = (wins + wins.T) * p
    precision = 1 / STRENGTH_SD**2
    value = (wins * special.log_expit(d)).sum() - (theta**2).sum() * precision / 2
    weight = met * (1 - p)
    information = np.diag(weight.sum(axis=1) + precision) - weight
    gradient = wins.sum(axis=1) - met.sum(axis=1) - theta * precision
    return Slopes(float(value), gradient, information)


def _furthest(one: Floats, other: Floats) -> float:
    return float(np.abs(one - other).max(initial=0.0))
