"""Bradley-Terry with covariates: strengths with length, form or position held equal."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse, special

from ranking.numerics.arrays import Floats, Integers
from ranking.numerics.bradley_terry import NotConvergedError
from ranking.numerics.clustered_means import TooFewDialoguesError
from ranking.numerics.connectivity import NotConnectedError, strong_components
from ranking.numerics.models.maximum import (
    SeparationError,
    Slopes,
    covariance,
    grows_without_end,
    maximise,
)
from ranking.numerics.sandwich import ClusteredCovariance


class CollinearError(ValueError):
    """A covariate says nothing that systems and other covariates do not say already."""


@dataclass(frozen=True)
class CoveredPairs:
    """Judgments with covariates, as columns of shape (n_judgments,).

    ``first`` and ``second`` are indices of systems from 0; ``to_first`` and ``to_second`` the
    weights, at least 0, that a judgment gives to each; ``covariates``, of shape (n_judgments,
    n_covariates), speaks for the first where positive.
    """

    first: Integers
    second: Integers
    to_first: Floats
    to_second: Floats
    covariates: Floats


@dataclass(frozen=True)
class CovariateFit:
    """What Bradley-Terry with covariates finds.

    Attributes
    ----------
    log_strengths : array of shape (n_systems,)
        Natural log, mean 0, the covariates being equal.
    coefficients : array of shape (n_covariates,)
        Natural-log odds of the first for one unit of each covariate.
    covariance : array of shape (n_systems + n_covariates, n_systems + n_covariates)
        Inverse of the information: judgments independent, weights counts.
    log_likelihood : float
        Natural log, of weights times outcomes.
    """

    log_strengths: Floats
    coefficients: Floats
    covariance: Floats
    log_likelihood: float


def fit_with_covariates(pairs: CoveredPairs, *, n_systems: int) -> CovariateFit:
    """Fit strengths and coefficients together by maximum likelihood.

    Parameters
    ----------
    pairs : CoveredPairs
        With soft scores, or ties as halves, both weights of a judgment are positive.
    n_systems : int
        How many systems there are, judged or not.

    Raises
    ------
    ValueError
        If there are fewer than two systems, columns differ in length, a weight is negative, or
        a number is not finite.
    NotConnectedError
        If judgments leave groups of systems that were never compared.
    SeparationError
        If the likelihood grows without end: systems and covariates tell every outcome.
    CollinearError
        If a covariate is a sum of the others and of differences between systems.
    NotConvergedError
        If the optimum is not reached for another reason.

    Notes
    -----
    logit P(first) = theta_first - theta_second + x beta. Without covariates it is
    Bradley-Terry. Cost O(n_judgments n_covariates**2 + n_systems**3) per step.

    References
    ----------
    .. [1] Davidson & Beaver (1977), Biometrics 33:693-702. doi:10.2307/2529467 (order effects).
    .. [2] Springall (1973), Appl. Statist. 22:59-68. doi:10.2307/2346303 (covariates).
    .. [3] Albert & Anderson (1984), Biometrika 71:1-10. doi:10.1093/biomet/71.1.1 (separation).
    """
    _check(pairs, n_systems)
    start = np.zeros(n_systems + pairs.covariates.shape[1])
    try:
        found = maximise(lambda at: _slopes(pairs, at, n_systems), start, n_strengths=n_systems)
        spread = covariance(found.slopes.information, n_strengths=n_systems)
    except NotConvergedError as error:
        _explain(pairs, n_systems, error)
        raise
    return CovariateFit(found.at[:n_systems], found.at[n_systems:], spread, found.slopes.value)


def covariate_errors(fit: CovariateFit, pairs: CoveredPairs, unit: Integers) -> ClusteredCovariance:
    """Return the covariance of a fit's parameters that is robust to dependence inside units.

    Parameters
    ----------
    fit : CovariateFit
        Of these judgments.
    pairs : CoveredPairs
        One row for each judgment.
    unit : integer array of shape (n_judgments,)
        The source dialogue of each; any whole numbers.

    Raises
    ------
    TooFewDialoguesError
        If there are fewer than two units.

    Notes
    -----
    V = C/(C-1) H^-1 (sum over units of U U') H^-1 with U the gradient of a unit.

    References
    ----------
    .. [1] Liang & Zeger (1986), Biometrika 73:13-22. doi:10.1093/biomet/73.1.13
    .. [2] Cameron & Miller (2015), J. Hum. Resour. 50:317-372. doi:10.3368/jhr.50.2.317
    """
    found, place = np.unique(unit, return_inverse=True)
    n_units, n_systems = len(found), len(fit.log_strengths)
    if n_units <= 1:
        msg = f"at least two units are needed, not {n_units}"
        raise TooFewDialoguesError(msg)
    p = special.expit(_log_odds(pairs, fit.log_strengths, fit.coefficients))
    surprise = pairs.to_first * (1 - p) - pairs.to_second * p
    size = n_units * n_systems
    apart = np.bincount(place * n_systems + pairs.first, surprise, size)
    apart = apart - np.bincount(place * n_systems + pairs.second, surprise, size)
    others = [np.bincount(place, surprise * column, n_units) for column in pairs.covariates.T]
    sums = np.column_stack([apart.reshape(n_units, n_systems), *others])
    middle = sums.T @ sums * n_units / (n_units - 1)
    freedom = np.full(len(middle), n_units - 1.0)
    return ClusteredCovariance(fit.covariance @ middle @ fit.covariance, n_units, freedom)


def _check(pairs: CoveredPairs, n_systems: int) -> None:
    if n_systems <= 1:
        msg = f"at least two systems are needed, not {n_systems}"
        raise ValueError(msg)
    lengths = {len(column) for column in vars(pairs).values()}
    if len(lengths) > 1:
        msg = f"columns differ in length: {sorted(lengths)}"
        raise ValueError(msg)
    weights = np.concatenate([pairs.to_first, pairs.to_second])
    if not np.isfinite(weights).all() or (weights < 0).any():
        msg = "weights must be finite and not negative"
        raise ValueError(msg)
    if not np.isfinite(pairs.covariates).all():
        msg = "covariates must be finite"
        raise ValueError(msg)
    met = np.zeros((n_systems, n_systems))
    met[pairs.first, pairs.second] = met[pairs.second, pairs.first] = 1.0
    components = strong_components(met)
    if len(components) > 1:
        raise NotConnectedError(components)


def _log_odds(pairs: CoveredPairs, strengths: Floats, coefficients: Floats) -> Floats:
    odds: Floats = (
        strengths[pairs.first] - strengths[pairs.second] + pairs.covariates @ coefficients
    )
    return odds


def _slopes(pairs: CoveredPairs, at: Floats, n_systems: int) -> Slopes:
    odds = _log_odds(pairs, at[:n_systems], at[n_systems:])
    p = special.expit(odds)
    total = pairs.to_first + pairs.to_second
    value = pairs.to_first @ special.log_expit(odds) + pairs.to_second @ special.log_expit(-odds)
    surprise = pairs.to_first - total * p
    gradient = np.concatenate([_apart(pairs, surprise, n_systems), surprise @ pairs.covariates])
    return Slopes(float(value), gradient, _information(pairs, total * p * (1 - p), n_systems))


def _apart(pairs: CoveredPairs, values: Floats, n_systems: int) -> Floats:
    """Add values up by system, those of the second with the sign turned."""
    up = np.bincount(pairs.first, values, n_systems)
    return np.asarray(up - np.bincount(pairs.second, values, n_systems), dtype=np.float64)


def _information(pairs: CoveredPairs, weight: Floats, n_systems: int) -> Floats:
    code = pairs.first * n_systems + pairs.second
    met = np.bincount(code, weight, n_systems**2).reshape(n_systems, n_systems)
    met = met + met.T
    weighted = weight[:, None] * pairs.covariates
    cross = np.array([_apart(pairs, column, n_systems) for column in weighted.T])
    cross = cross.reshape(-1, n_systems)
    return np.block(
        [[np.diag(met.sum(axis=1)) - met, cross.T], [cross, pairs.covariates.T @ weighted]]
    )


def _explain(pairs: CoveredPairs, n_systems: int, error: Exception) -> None:
    """Raise what kept the search from ending, if it can be named."""
    size = (len(pairs.first), n_systems)
    every, ones = np.arange(len(pairs.first)), np.ones(len(pairs.first))
    apart = sparse.coo_array((ones, (every, pairs.first)), size) - sparse.coo_array(
        (ones, (every, pairs.second)), size
    )
    rows = sparse.csr_array(sparse.hstack([apart, sparse.csr_array(pairs.covariates)]))
    if np.linalg.matrix_rank((rows.T @ rows).toarray()) < rows.shape[1] - 1:
        msg = "a covariate is a sum of other covariates and of differences between systems"
        raise CollinearError(msg) from error
    signed = sparse.vstack([rows[pairs.to_first > 0], -rows[pairs.to_second > 0]])
    if grows_without_end(sparse.csr_array(signed)):
        msg = "systems and covariates tell every outcome in advance"
        raise SeparationError(msg) from error
