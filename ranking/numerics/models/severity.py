"""How far ahead a completion must be before each evaluator says so: severity on the tie."""

from dataclasses import dataclass

import numpy as np

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.models.cumulative import RowSlopes, row_slopes
from ranking.numerics.models.maximum import Slopes, covariance, maximise

STRENGTH_SD = 2.0  # natural-log units: that of the prior of each log strength
SEVERITY_SD = 0.7  # of an evaluator's log threshold around that of the group
GROUP_SD = 2.0  # of a group's log threshold around 0


@dataclass(frozen=True)
class Calls:
    """Preferences and ties, as columns of shape (n_rows,).

    ``evaluator``, ``winner`` and ``loser`` are indices from 0, winner and loser in any order
    where ``is_tie`` is 1 (0 else); ``weight`` says how many answers a row stands for.
    """

    evaluator: Integers
    winner: Integers
    loser: Integers
    is_tie: Integers
    weight: Floats


@dataclass(frozen=True)
class SeverityFit:
    """What the model of severity finds.

    Attributes
    ----------
    log_strengths : array of shape (n_systems,)
        Natural log, mean 0.
    log_thresholds : array of shape (n_evaluators,)
        Natural log of the threshold (itself in natural-log units of strength).
    errors : array of shape (n_evaluators,)
        Standard deviations of the log thresholds, by the curvature of the posterior.
    group_means : array of shape (n_groups,)
        Mean log threshold of each group.
    """

    log_strengths: Floats
    log_thresholds: Floats
    errors: Floats
    group_means: Floats


def fit_severity(calls: Calls, group: Integers, *, n_systems: int) -> SeverityFit:
    """Fit strengths and one tie threshold per evaluator to the mode of their posterior.

    Parameters
    ----------
    calls : Calls
        Evaluators without any answer get the threshold of their group.
    group : integer array of shape (n_evaluators,)
        Group of each evaluator, from 0: people and judges, say, which share no mean.
    n_systems : int
        How many systems there are.

    Raises
    ------
    NotConvergedError
        If the optimum is not reached.

    Notes
    -----
    The model of Rao and Kupper with threshold t_r for evaluator r: P(r prefers i to j) =
    expit(theta_i - theta_j - t_r). Priors, which keep everything finite: theta ~ N(0, 2**2),
    ln t_r ~ N(a_g, 0.7**2), a_g ~ N(0, 2**2). The more answers, the less a threshold is drawn
    to the mean of its group. Cost O((n_systems + n_evaluators)**3) per step.

    References
    ----------
    .. [1] Rao & Kupper (1967), J. Amer. Statist. Assoc. 62:194-204.
       doi:10.1080/01621459.1967.10482901
    .. [2] Linacre (1989), Many-Facet Rasch Measurement, MESA Press (severity as a facet).
    """
    n_groups = int(group.max(initial=-1)) + 1
    start = np.zeros(n_systems + len(group) + n_groups)
    start[n_systems:] = np.log(0.5)
    found = maximise(lambda at: _slopes(calls, group, at, n_systems), start, max_iterations=500)
    spread = covariance(found.slopes.information).diagonal()
    theta, thresholds = found.at[:n_systems], found.at[n_systems : n_systems + len(group)]
    errors = np.sqrt(spread[n_systems : n_systems + len(group)])
    return SeverityFit(theta - theta.mean(), thresholds, errors, found.at[n_systems + len(group) :])


def _slopes(calls: Calls, group: Integers, at: Floats, n_systems: int) -> Slopes:
    n_evaluators = len(group)
    theta, u, means = np.split(at, [n_systems, n_systems + n_evaluators])
    threshold = np.exp(u)[calls.evaluator]
    rows = _rows(calls, theta, threshold)
    strayed = u - means[group]
    penalty = (theta**2).sum() / STRENGTH_SD**2 + (strayed**2).sum() / SEVERITY_SD**2
    penalty += (means**2).sum() / GROUP_SD**2
    gradient = _gradient(calls, rows, threshold, n_systems, n_evaluators)
    back = -strayed / SEVERITY_SD**2
    drawn = -np.bincount(group, back, len(means)) - means / GROUP_SD**2
    gradient += np.concatenate([-theta / STRENGTH_SD**2, back])
    information = _information(calls, rows, threshold, (n_systems, n_evaluators, len(means)))
    _add_priors(information, group, n_systems)
    value = float(calls.weight @ rows.value) - penalty / 2
    return Slopes(value, np.concatenate([gradient, drawn]), information)


def _rows(calls: Calls, theta: Floats, threshold: Floats) -> RowSlopes:
    d = theta[calls.winner] - theta[calls.loser]
    tie = calls.is_tie == 1
    return row_slopes(
        np.where(tie, d + threshold, d - threshold), np.where(tie, d - threshold, -np.inf)
    )


def _by_threshold(calls: Calls, rows: RowSlopes) -> Floats:
    """Return the derivative of each row by its threshold."""
    slope: Floats = np.where(calls.is_tie == 1, rows.upper - rows.lower, -rows.upper)
    return slope


def _gradient(
    calls: Calls, rows: RowSlopes, threshold: Floats, n_systems: int, n_evaluators: int
) -> Floats:
    along = calls.weight * (rows.upper + rows.lower)
    apart = np.bincount(calls.winner, along, n_systems)
    apart = apart - np.bincount(calls.loser, along, n_systems)
    slope = calls.weight * _by_threshold(calls, rows) * threshold
    return np.concatenate([apart, np.bincount(calls.evaluator, slope, n_evaluators)])


def _information(
    calls: Calls, rows: RowSlopes, threshold: Floats, sizes: tuple[int, int, int]
) -> Floats:
    """Return the information of the answers, made positive where a log threshold bends it.

    By the log threshold the likelihood need not be concave; the part that may turn the sign is
    left out there, which shortens a step and moves no maximum.
    """
    n_systems, _, _ = sizes
    information = np.zeros((sum(sizes), sum(sizes)))
    tie = calls.is_tie == 1
    along = calls.weight * (rows.curved_upper + rows.curved_lower + 2 * rows.mixed)
    across = np.where(tie, rows.curved_upper - rows.curved_lower, -rows.curved_upper)
    cross = calls.weight * across * threshold
    bent = np.where(tie, rows.curved_upper + rows.curved_lower - 2 * rows.mixed, rows.curved_upper)
    rater = n_systems + calls.evaluator
    for row, column, values in (
        (calls.winner, calls.winner, along),
        (calls.loser, calls.loser, along),
        (calls.winner, calls.loser, -along),
        (calls.loser, calls.winner, -along),
        (calls.winner, rater, cross),
        (rater, calls.winner, cross),
        (calls.loser, rater, -cross),
        (rater, calls.loser, -cross),
        (rater, rater, calls.weight * bent * threshold**2),
    ):
        np.add.at(information, (row, column), values)
    slope = calls.weight * _by_threshold(calls, rows) * threshold
    turn = np.bincount(rater, slope, sum(sizes))
    information -= np.diag(np.minimum(turn, 0.0))
    return information


def _add_priors(information: Floats, group: Integers, n_systems: int) -> None:
    """Add the curvature of the priors in place."""
    n_evaluators, n_groups = len(group), len(information) - n_systems - len(group)
    rater = n_systems + np.arange(n_evaluators)
    mean = n_systems + n_evaluators + group
    for row, column, sign in ((rater, rater, 1), (mean, mean, 1), (rater, mean, -1)):
        np.add.at(information, (row, column), sign / SEVERITY_SD**2)
    information[mean, rater] -= 1 / SEVERITY_SD**2
    known = np.repeat(
        [1 / STRENGTH_SD**2, 0.0, 1 / GROUP_SD**2], [n_systems, n_evaluators, n_groups]
    )
    information += np.diag(known)
