"""Dawid and Skene: true classes and each evaluator's error rates from answers alone."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse, special

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.bradley_terry import NotConvergedError


@dataclass(frozen=True)
class Labels:
    """Answers as columns of shape (n_answers,): indices of item, evaluator and class, from 0.

    An evaluator may answer about an item more than once.
    """

    item: Integers
    evaluator: Integers
    answer: Integers


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
    labels: Labels,
    *,
    shape: tuple[int, int, int],
    tolerance: float = 1e-8,
    max_iterations: int = 2000,
) -> DawidSkeneFit:
    """Fit classes and error rates by maximum likelihood.

    Parameters
    ----------
    labels : Labels
        Answers; each item needs one at least.
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
    given = _given(labels, shape)
    answers = np.asarray(given.sum(axis=1))
    if not len(labels.item) or (answers == 0).any():
        msg = "each item needs an answer"
        raise ValueError(msg)
    items = _shares(labels, shape)
    before = -np.inf
    for _ in range(max_iterations):
        classes = items.mean(axis=0)
        errors = _errors(given, items, shape)
        items, value = _classify(given, classes, errors)
        if value - before < tolerance * len(labels.item):
            return DawidSkeneFit(classes, errors, items, value)
        before = value
    msg = f"no maximum within {max_iterations} steps"
    raise NotConvergedError(msg)


def _given(labels: Labels, shape: tuple[int, int, int]) -> sparse.csr_array:
    """Count answers: a row per item, a column per evaluator and class."""
    n_items, n_evaluators, n_classes = shape
    column = labels.evaluator * n_classes + labels.answer
    ones = np.ones(len(column))
    size = (n_items, n_evaluators * n_classes)
    return sparse.csr_array(sparse.coo_array((ones, (labels.item, column)), shape=size))


def _shares(labels: Labels, shape: tuple[int, int, int]) -> Floats:
    """Return for each item the shares of its answers."""
    n_items, _, n_classes = shape
    counts = np.bincount(labels.item * n_classes + labels.answer, minlength=n_items * n_classes)
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
