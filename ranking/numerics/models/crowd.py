"""Evaluators' errors, from answers alone: Crowd-BT, and the model of Dawid and Skene."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse, special

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.bradley_terry import NotConvergedError
from ranking.numerics.models.maximum import Slopes, maximise

STRENGTH_SD = 2.0  # natural-log units: that of the prior of each log strength
TOLERANCE = 1e-8  # natural-log units
RIGHT, WRONG = 8.0, 2.0  # beta prior of reliability; identifies which way up the scale is


@dataclass(frozen=True)
class PreferenceAnswers:
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
    """

    log_strengths: Floats
    reliability: Floats
    log_posterior: float


def fit_crowd(
    answers: PreferenceAnswers, *, n_systems: int, n_evaluators: int, max_iterations: int = 500
) -> CrowdFit:
    """Fit strengths and reliabilities to the mode of their posterior.

    Parameters
    ----------
    answers : PreferenceAnswers
        Preferences; evaluators or systems without any stay where the prior has them.
    n_systems, n_evaluators : int
        How many there are.
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
    both are settled by the priors, eta ~ Beta(8, 2) and theta ~ N(0, 2**2). Newton on
    theta and logit eta together, Fisher scoring where the posterior is not concave, from
    reliable evaluators; it may end on a local mode where
    most of them are adversarial. Answers alike are counted together first: cost
    O(n_evaluators n_systems**2 + (n_systems + n_evaluators)**3) per step.

    References
    ----------
    .. [1] Chen, Bennett, Collins-Thompson & Horvitz (2013), WSDM 193-202.
       doi:10.1145/2433396.2433420
    """
    answers = _counted(answers, n_systems)
    mode = (RIGHT - 1) / (RIGHT + WRONG - 2)
    start = np.concatenate([np.zeros(n_systems), np.full(n_evaluators, special.logit(mode))])
    found = maximise(
        lambda at: _slopes(answers, at, n_systems),
        start,
        tolerance=TOLERANCE,
        max_iterations=max_iterations,
    )
    theta, reliability = found.at[:n_systems], special.expit(found.at[n_systems:])
    return CrowdFit(theta, reliability, found.slopes.value)


def log_posterior(answers: PreferenceAnswers, log_strengths: Floats, reliability: Floats) -> float:
    """Return the natural log of likelihood times priors, but for a constant."""
    p = special.expit(log_strengths[answers.winner] - log_strengths[answers.loser])
    eta = reliability[answers.evaluator]
    likelihood = answers.weight @ np.log(eta * p + (1 - eta) * (1 - p))
    prior = (RIGHT - 1) * np.log(reliability) + (WRONG - 1) * np.log1p(-reliability)
    return float(likelihood + prior.sum() - (log_strengths**2).sum() / (2 * STRENGTH_SD**2))


def _counted(answers: PreferenceAnswers, n_systems: int) -> PreferenceAnswers:
    """Count answers alike together."""
    pair = answers.winner * n_systems + answers.loser
    code, place = np.unique(answers.evaluator * n_systems**2 + pair, return_inverse=True)
    weight = np.bincount(place, answers.weight, len(code))
    evaluator, pair = np.divmod(code, n_systems**2)
    winner, loser = np.divmod(pair, n_systems)
    return PreferenceAnswers(evaluator, winner, loser, np.asarray(weight, dtype=np.float64))


def _slopes(answers: PreferenceAnswers, at: Floats, n_systems: int) -> Slopes:
    """Return value, gradient and information by strengths and logit reliabilities."""
    theta, eta = at[:n_systems], special.expit(at[n_systems:])
    p = special.expit(theta[answers.winner] - theta[answers.loser])
    own = eta[answers.evaluator]
    q = own * p + (1 - own) * (1 - p)
    by_strength, by_rater = (2 * own - 1) * p * (1 - p), (2 * p - 1) * own * (1 - own)
    gain = answers.weight / q
    pulled = _apart(answers, gain * by_strength, n_systems)
    surer = np.bincount(answers.evaluator, gain * by_rater, len(eta))
    prior = (RIGHT - 1) * (1 - eta) - (WRONG - 1) * eta
    known = np.repeat([1 / STRENGTH_SD**2, RIGHT + WRONG - 2], [n_systems, len(eta)])
    known[n_systems:] *= eta * (1 - eta)
    return Slopes(
        log_posterior(answers, theta, eta),
        np.concatenate([pulled - theta / STRENGTH_SD**2, surer + prior]),
        _curvature(answers, (p, own, q), (by_strength, by_rater), known, n_systems),
    )


def _curvature(
    answers: PreferenceAnswers,
    given: tuple[Floats, Floats, Floats],
    slopes: tuple[Floats, Floats],
    known: Floats,
    n_systems: int,
) -> Floats:
    """Return the observed information where it is positive definite, else the expected one."""
    p, own, q = given
    outer = (slopes[0] ** 2, slopes[0] * slopes[1], slopes[1] ** 2)
    bends = (
        slopes[0] * (1 - 2 * p),
        2 * p * (1 - p) * own * (1 - own),
        slopes[1] * (1 - 2 * own),
    )
    sizes = (n_systems, len(known) - n_systems)
    observed = [
        answers.weight * (one / q**2 - bend / q) for one, bend in zip(outer, bends, strict=True)
    ]
    information = _information(answers, observed, sizes) + np.diag(known)
    if np.linalg.eigvalsh(information)[0] > 0:
        return information
    expected = [answers.weight * one / (q * (1 - q)) for one in outer]
    return _information(answers, expected, sizes) + np.diag(known)


def _apart(answers: PreferenceAnswers, values: Floats, n_systems: int) -> Floats:
    up = np.bincount(answers.winner, values, n_systems)
    return np.asarray(up - np.bincount(answers.loser, values, n_systems), dtype=np.float64)


def _information(
    answers: PreferenceAnswers, curves: Sequence[Floats], sizes: tuple[int, int]
) -> Floats:
    """Add curvatures up, by strength twice, by strength and reliability, by reliability twice."""
    n, n_evaluators = sizes
    pair = answers.winner * n + answers.loser
    met = np.bincount(pair, curves[0], n * n).reshape(n, n)
    met = met + met.T
    rater = answers.evaluator * n
    cross = np.bincount(rater + answers.winner, curves[1], n_evaluators * n)
    cross = cross - np.bincount(rater + answers.loser, curves[1], n_evaluators * n)
    cross = cross.reshape(n_evaluators, n)
    own = np.bincount(answers.evaluator, curves[2], n_evaluators)
    return np.block([[np.diag(met.sum(axis=1)) - met, cross.T], [cross, np.diag(own)]])


@dataclass(frozen=True)
class DawidSkeneFit:
    """What the model of Dawid and Skene finds.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        How common each true class is; sums to 1.
    errors : array of shape (n_evaluators, n_classes, n_classes)
        ``[r, true, given]``: how often evaluator r gives an answer where another is true; rows
        sum to 1, and are 0 where the evaluator met no item of a class.
    items : array of shape (n_items, n_classes)
        Probability of each true class; rows sum to 1.
    log_likelihood : float
        Natural log, of all answers.
    """

    classes: Floats
    errors: Floats
    items: Floats
    log_likelihood: float

    @property
    def accuracy(self) -> Floats:
        """Return how often each evaluator gives the true answer, classes as common as they are."""
        right: Floats = self.errors.diagonal(axis1=1, axis2=2) @ self.classes
        return right


def fit_dawid_skene(
    item: Integers,
    evaluator: Integers,
    answer: Integers,
    *,
    shape: tuple[int, int, int],
    tolerance: float = 1e-8,
    max_iterations: int = 2000,
) -> DawidSkeneFit:
    """Fit classes and error rates by maximum likelihood.

    Parameters
    ----------
    item, evaluator, answer : integer arrays of shape (n_answers,)
        Indices of item, evaluator and class, from 0; each item needs an answer at least. An
        evaluator may answer about an item more than once.
    shape : (n_items, n_evaluators, n_classes)
        How many there are.
    tolerance : float
        Rise of the log likelihood per answer at which the search ends.
    max_iterations : int
        Steps allowed before giving up.

    Raises
    ------
    ValueError
        If there are no answers, or an item has none.
    NotConvergedError
        If the search does not end.

    Notes
    -----
    Expectation maximisation from the shares of answers, as published. It takes answers to one
    item as independent given its class, and may end on a local maximum. Cost O(n_answers
    n_classes) per step.

    References
    ----------
    .. [1] Dawid & Skene (1979), Appl. Statist. 28:20-28. doi:10.2307/2346806
    """
    given = _given(item, evaluator, answer, shape)
    answers = np.asarray(given.sum(axis=1))
    if not len(item) or (answers == 0).any():
        msg = "each item needs an answer"
        raise ValueError(msg)
    items = _shares(item, answer, shape)
    before = -np.inf
    for _ in range(max_iterations):
        classes = items.mean(axis=0)
        errors = _errors(given, items, shape)
        items, value = _classify(given, classes, errors)
        if value - before < tolerance * len(item):
            return DawidSkeneFit(classes, errors, items, value)
        before = value
    msg = f"no maximum within {max_iterations} steps"
    raise NotConvergedError(msg)


def _given(
    item: Integers, evaluator: Integers, answer: Integers, shape: tuple[int, int, int]
) -> sparse.csr_array:
    """Count answers: a row per item, a column per evaluator and class."""
    n_items, n_evaluators, n_classes = shape
    column = evaluator * n_classes + answer
    ones = np.ones(len(column))
    size = (n_items, n_evaluators * n_classes)
    return sparse.csr_array(sparse.coo_array((ones, (item, column)), shape=size))


def _shares(item: Integers, answer: Integers, shape: tuple[int, int, int]) -> Floats:
    """Return for each item the shares of its answers."""
    n_items, _, n_classes = shape
    counts = np.bincount(item * n_classes + answer, minlength=n_items * n_classes)
    by_item = counts.reshape(n_items, n_classes)
    shares: Floats = by_item / by_item.sum(axis=1, keepdims=True)
    return shares


def _errors(given: sparse.csr_array, items: Floats, shape: tuple[int, int, int]) -> Floats:
    """Return the error rates that the classes of the items imply."""
    _, n_evaluators, n_classes = shape
    counts = np.asarray(given.T @ items).reshape(n_evaluators, n_classes, n_classes)
    counts = counts.swapaxes(1, 2)
    total = counts.sum(axis=2, keepdims=True)
    errors: Floats = counts / np.where(total > 0, total, 1.0)
    return errors


def _classify(given: sparse.csr_array, classes: Floats, errors: Floats) -> tuple[Floats, float]:
    """Return the probability of each item's classes, and the log likelihood."""
    with np.errstate(divide="ignore"):
        rates = np.log(errors.swapaxes(1, 2).reshape(-1, len(classes)))
        joint = np.asarray(given @ rates) + np.log(classes)
    total = special.logsumexp(joint, axis=1, keepdims=True)
    return np.exp(joint - total), float(total.sum())
