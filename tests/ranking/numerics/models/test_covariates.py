"""Bradley-Terry with covariates: a published example, two peers, simulation, refusals."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from ranking.numerics.bradley_terry import NotConvergedError, fit_bradley_terry
from ranking.numerics.clustered_means import TooFewDialoguesError
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.models.covariates import (
    CollinearError,
    CoveredPairs,
    covariate_errors,
    fit_with_covariates,
)
from ranking.numerics.models.maximum import SeparationError
from tests.ranking.numerics import peers
from tests.ranking.numerics.helpers import LOST_AT_HOME, WON_AT_HOME, draw_pairs, give_up

# Agresti (2002), Categorical Data Analysis, 2nd ed., section 10.6.
HOME_ADVANTAGE, ITS_ERROR = 0.3023, 0.1309
STRENGTHS_AT_HOME = (0.220, 0.190, 0.164, 0.157, 0.137, 0.088, 0.044)  # in order of size


def baseball():
    home, away = np.nonzero(1 - np.eye(7))
    return CoveredPairs(
        home,
        away,
        WON_AT_HOME[home, away].astype(float),
        LOST_AT_HOME[home, away].astype(float),
        np.ones((42, 1)),
    )


def simulate(rng, *, n=2000):
    theta = np.array([0.9, 0.1, -0.2, -0.8])
    first, second = draw_pairs(rng, 4, n)
    x = rng.normal(size=(n, 2))
    p = special.expit(theta[first] - theta[second] + x @ [0.7, -0.4])
    won = (rng.uniform(size=n) < p).astype(float)
    return CoveredPairs(first, second, won, 1 - won, x), rng.integers(0, 50, n)


def design(pairs):
    """Return the columns of a logistic regression, the first system being the base."""
    apart = np.eye(4)[pairs.first] - np.eye(4)[pairs.second]
    return np.hstack([apart[:, 1:], pairs.covariates])


def against_first(fit):
    return np.concatenate([fit.log_strengths[1:] - fit.log_strengths[0], fit.coefficients])


def test_the_home_advantage_of_baseball_comes_out_as_published():
    fit = fit_with_covariates(baseball(), n_systems=7)

    assert fit.coefficients[0] == pytest.approx(HOME_ADVANTAGE, abs=5e-5)
    assert np.sqrt(fit.covariance[7, 7]) == pytest.approx(ITS_ERROR, abs=5e-5)
    strengths = sorted(special.softmax(fit.log_strengths), reverse=True)
    np.testing.assert_allclose(strengths, STRENGTHS_AT_HOME, atol=6e-4)


class TestPeers:
    def test_agrees_with_a_logistic_regression_of_statsmodels(self, rng):
        pairs, _ = simulate(rng)

        peer = peers.Logit(pairs.to_first, design(pairs)).fit(disp=False, tol=1e-12)

        fit = fit_with_covariates(pairs, n_systems=4)
        np.testing.assert_allclose(against_first(fit), peer.params, atol=1e-6)
        assert fit.log_likelihood == pytest.approx(peer.llf, abs=1e-6)
        errors = np.sqrt(fit.covariance.diagonal()[4:])
        np.testing.assert_allclose(errors, peer.bse[3:], atol=1e-6)

    def test_agrees_with_scikit_learn(self, rng):
        pairs, _ = simulate(rng)

        peer = peers.LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=10_000)
        peer.fit(design(pairs), pairs.to_first)

        fit = fit_with_covariates(pairs, n_systems=4)
        np.testing.assert_allclose(against_first(fit), peer.coef_[0], atol=1e-6)

    def test_agrees_with_a_binomial_regression_on_soft_scores(self, rng):
        pairs, _ = simulate(rng)
        soft = rng.choice([0.05, 0.25, 0.5, 0.75, 0.95], size=2000)
        pairs = replace(pairs, to_first=soft, to_second=1 - soft)

        peer = peers.GLM(soft, design(pairs), family=peers.Binomial()).fit(tol=1e-12)

        fit = fit_with_covariates(pairs, n_systems=4)
        np.testing.assert_allclose(against_first(fit), peer.params, atol=1e-6)

    def test_clustered_errors_agree_with_statsmodels(self, rng):
        pairs, unit = simulate(rng)

        peer = peers.Logit(pairs.to_first, design(pairs)).fit(
            disp=False,
            tol=1e-12,
            cov_type="cluster",
            cov_kwds={"groups": unit, "use_correction": False},
        )

        errors = covariate_errors(fit_with_covariates(pairs, n_systems=4), pairs, unit)
        small = np.sqrt(errors.n_clusters / (errors.n_clusters - 1))
        np.testing.assert_allclose(errors.standard_errors[4:], peer.bse[3:] * small, rtol=1e-6)


class TestInvariants:
    def test_without_covariates_it_is_bradley_terry(self, rng):
        wins = rng.integers(1, 20, size=(4, 4)).astype(float)
        first, second = np.nonzero(np.triu(np.ones((4, 4)), 1))
        pairs = CoveredPairs(
            first, second, wins[first, second], wins[second, first], np.empty((6, 0))
        )

        fit, plain = fit_with_covariates(pairs, n_systems=4), fit_bradley_terry(wins)

        np.testing.assert_allclose(fit.log_strengths, plain.log_strengths, atol=1e-9)
        np.testing.assert_allclose(fit.covariance, plain.covariance, atol=1e-9)

    def test_exchanging_the_sides_changes_nothing(self, rng):
        pairs, unit = simulate(rng)
        turned = CoveredPairs(
            pairs.second, pairs.first, pairs.to_second, pairs.to_first, -pairs.covariates
        )

        fit, other = (fit_with_covariates(p, n_systems=4) for p in (pairs, turned))

        np.testing.assert_allclose(other.log_strengths, fit.log_strengths, atol=1e-9)
        np.testing.assert_allclose(other.coefficients, fit.coefficients, atol=1e-9)
        errors = covariate_errors(fit, pairs, unit).standard_errors
        same = covariate_errors(other, turned, unit).standard_errors
        np.testing.assert_allclose(same, errors, rtol=1e-6)

    def test_weighing_all_judgments_seven_times_leaves_the_clustered_errors(self, rng):
        pairs, unit = simulate(rng)
        heavy = replace(pairs, to_first=7 * pairs.to_first, to_second=7 * pairs.to_second)

        fit, other = (fit_with_covariates(p, n_systems=4) for p in (pairs, heavy))

        np.testing.assert_allclose(other.coefficients, fit.coefficients, atol=1e-8)
        same = covariate_errors(other, heavy, unit).standard_errors
        np.testing.assert_allclose(
            same, covariate_errors(fit, pairs, unit).standard_errors, rtol=1e-6
        )


class TestDegenerateInput:
    def test_refuses_a_covariate_that_tells_every_outcome(self, rng):
        pairs, _ = simulate(rng, n=200)
        telling = np.where(pairs.to_first > 0, 1.0, -1.0) * rng.uniform(0.5, 1, 200)

        with pytest.raises(SeparationError):
            fit_with_covariates(replace(pairs, covariates=telling[:, None]), n_systems=4)

    @pytest.mark.parametrize(
        "covariates",
        [
            lambda pairs: np.zeros((200, 1)),
            lambda pairs: np.repeat(pairs.covariates[:, :1], 2, axis=1),
            lambda pairs: (pairs.first - pairs.second)[:, None].astype(float),
        ],
        ids=["zero", "twice the same", "a property of systems"],
    )
    def test_refuses_covariates_that_say_nothing_of_their_own(self, rng, covariates):
        pairs, _ = simulate(rng, n=200)

        with pytest.raises(CollinearError):
            fit_with_covariates(replace(pairs, covariates=covariates(pairs)), n_systems=4)

    @pytest.mark.parametrize(
        ("change", "n_systems", "error", "message"),
        [
            ({"to_first": np.array([-1.0])}, 2, ValueError, "negative"),
            ({"to_first": np.array([np.nan])}, 2, ValueError, "finite"),
            ({"covariates": np.array([[np.nan]])}, 2, ValueError, "covariates"),
            ({"covariates": np.zeros((2, 1))}, 2, ValueError, "length"),
            ({}, 1, ValueError, "two systems"),
            ({}, 3, NotConnectedError, None),
            (
                {"to_first": np.ones(1), "to_second": np.zeros(1), "covariates": np.zeros((1, 0))},
                2,
                SeparationError,
                None,
            ),
        ],
        ids=[
            *("negative weight", "no weight", "no covariate", "two lengths"),
            *("one system", "one that met nobody", "one that never loses"),
        ],
    )
    def test_refuses_columns_that_determine_nothing(self, change, n_systems, error, message):
        half = np.array([0.5])
        pairs = CoveredPairs(np.array([0]), np.array([1]), half, half, np.array([[1.0]]))

        with pytest.raises(error, match=message):
            fit_with_covariates(replace(pairs, **change), n_systems=n_systems)

    def test_refuses_one_unit_alone(self, rng):
        pairs, _ = simulate(rng, n=200)

        with pytest.raises(TooFewDialoguesError):
            covariate_errors(fit_with_covariates(pairs, n_systems=4), pairs, np.zeros(200, int))

    def test_a_search_that_fails_for_another_reason_says_so(self, rng, monkeypatch):
        pairs, _ = simulate(rng, n=200)

        monkeypatch.setattr("ranking.numerics.models.covariates.maximise", give_up)

        with pytest.raises(NotConvergedError):
            fit_with_covariates(pairs, n_systems=4)
