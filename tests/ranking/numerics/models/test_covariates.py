"""Bradley-Terry with covariates: a published example, two peers, simulation, refusals."""

import numpy as np
import pytest
from scipy import special

from ranking.numerics.bradley_terry import NotConvergedError, fit_bradley_terry
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.models.clusters import TooFewClustersError
from ranking.numerics.models.covariates import (
    CollinearError,
    CoveredPairs,
    covariate_errors,
    fit_with_covariates,
)
from ranking.numerics.models.existence import SeparationError
from tests.ranking.numerics import peers

# American League East, 1987: (won at home, won away) of the row team, at home against the
# column team. Agresti (2002), Categorical Data Analysis, 2nd ed., table 10.10; the home
# advantage and its error are in section 10.6.
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
WON_AT_HOME = np.array(
    [
        [0, 4, 4, 4, 6, 4, 6],
        [3, 0, 4, 4, 6, 6, 4],
        [2, 4, 0, 2, 4, 4, 6],
        [3, 5, 2, 0, 4, 4, 6],
        [5, 2, 3, 4, 0, 5, 6],
        [2, 3, 3, 4, 4, 0, 2],
        [2, 1, 1, 2, 1, 3, 0],
    ]
)
LOST_AT_HOME = np.array(
    [
        [0, 3, 2, 3, 1, 2, 0],
        [3, 0, 2, 3, 0, 1, 3],
        [5, 3, 0, 4, 3, 2, 0],
        [3, 1, 5, 0, 3, 2, 1],
        [1, 5, 3, 2, 0, 2, 0],
        [5, 3, 4, 3, 2, 0, 4],
        [5, 5, 6, 4, 6, 4, 0],
    ]
)
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


def simulate(rng, *, n=2000, theta=(0.9, 0.1, -0.2, -0.8), beta=(0.7, -0.4), n_units=50):
    theta = np.array(theta)
    first = rng.integers(0, 4, n)
    second = (first + rng.integers(1, 4, n)) % 4
    x = rng.normal(size=(n, len(beta)))
    p = special.expit(theta[first] - theta[second] + x @ np.array(beta))
    won = (rng.uniform(size=n) < p).astype(float)
    return CoveredPairs(first, second, won, 1 - won, x), rng.integers(0, n_units, n)


def design(pairs, n_systems=4):
    """Return the columns of a logistic regression, the first system being the base."""
    apart = np.eye(n_systems)[pairs.first] - np.eye(n_systems)[pairs.second]
    return np.hstack([apart[:, 1:], pairs.covariates])


def against_first(fit):
    return np.concatenate([fit.log_strengths[1:] - fit.log_strengths[0], fit.coefficients])


class TestPublished:
    def test_the_home_advantage_of_baseball_comes_out_as_published(self):
        fit = fit_with_covariates(baseball(), n_systems=7)

        assert fit.coefficients[0] == pytest.approx(HOME_ADVANTAGE, abs=5e-5)
        assert np.sqrt(fit.covariance[7, 7]) == pytest.approx(ITS_ERROR, abs=5e-5)

    def test_so_do_the_strengths_beside_it(self):
        fit = fit_with_covariates(baseball(), n_systems=7)

        shares = special.softmax(fit.log_strengths)
        np.testing.assert_allclose(sorted(shares, reverse=True), STRENGTHS_AT_HOME, atol=6e-4)


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
        pairs = CoveredPairs(pairs.first, pairs.second, soft, 1 - soft, pairs.covariates)

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
        np.testing.assert_allclose(errors.errors[4:], peer.bse[3:] * small, rtol=1e-6)


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
        errors = covariate_errors(fit, pairs, unit).errors
        same = covariate_errors(other, turned, unit).errors
        np.testing.assert_allclose(same, errors, rtol=1e-6)

    def test_weighing_all_judgments_seven_times_leaves_the_clustered_errors(self, rng):
        pairs, unit = simulate(rng)
        heavy = CoveredPairs(
            pairs.first, pairs.second, 7 * pairs.to_first, 7 * pairs.to_second, pairs.covariates
        )

        fit, other = (fit_with_covariates(p, n_systems=4) for p in (pairs, heavy))

        np.testing.assert_allclose(other.coefficients, fit.coefficients, atol=1e-8)
        same = covariate_errors(other, heavy, unit).errors
        np.testing.assert_allclose(same, covariate_errors(fit, pairs, unit).errors, rtol=1e-6)

    def test_recovers_the_coefficients_it_was_simulated_from(self, rng):
        pairs, unit = simulate(rng, n=20_000, n_units=400)

        fit = fit_with_covariates(pairs, n_systems=4)

        errors = covariate_errors(fit, pairs, unit).errors[4:]
        assert (np.abs(fit.coefficients - [0.7, -0.4]) < 4 * errors).all()
        assert errors.max() < 0.03


class TestDegenerateInput:
    def test_refuses_a_covariate_that_tells_every_outcome(self, rng):
        pairs, _ = simulate(rng, n=200)
        telling = np.where(pairs.to_first > 0, 1.0, -1.0) * rng.uniform(0.5, 1, 200)

        with pytest.raises(SeparationError):
            fit_with_covariates(
                CoveredPairs(
                    pairs.first, pairs.second, pairs.to_first, pairs.to_second, telling[:, None]
                ),
                n_systems=4,
            )

    def test_refuses_a_system_that_never_loses(self):
        pairs = CoveredPairs(
            np.array([0, 0, 1, 2]),
            np.array([1, 2, 2, 1]),
            np.ones(4),
            np.zeros(4),
            np.zeros((4, 0)),
        )

        with pytest.raises(SeparationError):
            fit_with_covariates(pairs, n_systems=3)

    @pytest.mark.parametrize("kind", ["zero", "twice the same", "a property of systems"])
    def test_refuses_covariates_that_say_nothing_of_their_own(self, rng, kind):
        pairs, _ = simulate(rng, n=200)
        column = {
            "zero": np.zeros((200, 1)),
            "twice the same": np.repeat(pairs.covariates[:, :1], 2, axis=1),
            "a property of systems": (pairs.first - pairs.second)[:, None].astype(float),
        }[kind]

        with pytest.raises(CollinearError):
            fit_with_covariates(
                CoveredPairs(pairs.first, pairs.second, pairs.to_first, pairs.to_second, column),
                n_systems=4,
            )

    def test_soft_scores_keep_everything_finite(self):
        pairs = CoveredPairs(
            np.array([0, 0, 1]),
            np.array([1, 2, 2]),
            np.full(3, 0.95),
            np.full(3, 0.05),
            np.array([[0.5], [-0.5], [0.1]]),
        )

        assert np.isfinite(fit_with_covariates(pairs, n_systems=3).covariance).all()

    def test_refuses_groups_that_never_met(self):
        pairs = CoveredPairs(
            np.array([0, 2]), np.array([1, 3]), np.full(2, 0.5), np.full(2, 0.5), np.ones((2, 1))
        )

        with pytest.raises(NotConnectedError):
            fit_with_covariates(pairs, n_systems=4)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"to_first": np.array([-1.0])}, "negative"),
            ({"to_first": np.array([np.nan])}, "finite"),
            ({"covariates": np.array([[np.nan]])}, "covariates"),
            ({"covariates": np.zeros((2, 1))}, "length"),
        ],
        ids=["negative weight", "no weight", "no covariate", "two lengths"],
    )
    def test_refuses_columns_that_are_none(self, change, message):
        columns = {
            "first": np.array([0]),
            "second": np.array([1]),
            "to_first": np.array([0.5]),
            "to_second": np.array([0.5]),
            "covariates": np.array([[1.0]]),
        }

        with pytest.raises(ValueError, match=message):
            fit_with_covariates(CoveredPairs(**(columns | change)), n_systems=2)

    def test_refuses_one_system(self):
        empty = np.empty(0)
        none = np.empty(0, dtype=int)

        with pytest.raises(ValueError, match="two systems"):
            fit_with_covariates(
                CoveredPairs(none, none, empty, empty, np.empty((0, 1))), n_systems=1
            )

    def test_refuses_clusters_of_one(self, rng):
        pairs, _ = simulate(rng, n=200)

        with pytest.raises(TooFewClustersError):
            covariate_errors(
                fit_with_covariates(pairs, n_systems=4), pairs, np.zeros(200, dtype=int)
            )

    def test_a_search_that_fails_for_another_reason_says_so(self, rng, monkeypatch):
        pairs, _ = simulate(rng, n=200)

        def give_up(*args, **kwargs):
            raise NotConvergedError

        monkeypatch.setattr("ranking.numerics.models.covariates.maximise", give_up)

        with pytest.raises(NotConvergedError):
            fit_with_covariates(pairs, n_systems=4)
