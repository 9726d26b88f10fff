"""Residuals of pairs, and the deviance that they add up to."""

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.checks.deviance import deviance_test
from ranking.numerics.checks.residuals import pair_residuals
from ranking.numerics.sandwich import fisher_covariance
from tests.ranking.numerics import peers
from tests.ranking.numerics.helpers import make_tables, simulate_tables

BASEBALL = np.array(  # Agresti (1990), Categorical Data Analysis, American League 1987
    [
        [0, 7, 9, 7, 7, 9, 11],
        [6, 0, 7, 5, 11, 9, 9],
        [4, 6, 0, 7, 7, 8, 12],
        [6, 8, 6, 0, 6, 7, 10],
        [6, 2, 6, 7, 0, 7, 12],
        [4, 4, 5, 6, 6, 0, 6],
        [2, 4, 1, 3, 1, 7, 0],
    ]
)


def agreeing_tables(rng, *, n_systems, n_units):
    """Equal systems; five raters of a pair in a unit lean the same way."""
    upper = np.triu(np.ones((n_systems, n_systems)), 1)
    leaning = rng.beta(1.0, 1.0, size=(n_units, n_systems, n_systems))
    wins = rng.binomial(5, leaning) * upper
    return make_tables(wins + ((5 - wins) * upper).swapaxes(1, 2))


def checked(tables):
    return pair_residuals(tables, fit_bradley_terry(tables.total()).log_strengths)


class TestDeviance:
    def test_of_baseball_is_the_published_one(self):
        """15.737 on 15 degrees of freedom: Turner & Firth (2012), doi:10.18637/jss.v048.i09."""
        halves = np.stack([BASEBALL, BASEBALL]) / 2

        found = deviance_test(checked(make_tables(halves)))

        assert found.deviance == pytest.approx(15.737, abs=1e-3)
        assert found.degrees_of_freedom == 15
        assert found.naive_p_value == pytest.approx(scipy.stats.chi2.sf(15.737, 15), abs=1e-4)

    def test_equals_that_of_a_logistic_regression(self, rng):
        tables = simulate_tables(rng, [0.5, 0.0, -0.2, -0.3], n_units=30, n_per_pair=4)
        residuals = checked(tables)
        rows = np.arange(len(residuals.n))
        design = np.zeros((len(rows), 4))
        design[rows, residuals.first], design[rows, residuals.second] = 1, -1
        won = residuals.n * residuals.won
        outcomes = np.stack([won, residuals.n - won], axis=1)

        peer = peers.GLM(outcomes, design[:, 1:], family=peers.Binomial()).fit()

        assert deviance_test(residuals).deviance == pytest.approx(peer.deviance, abs=1e-6)

    def test_corrected_p_values_are_uniform_where_the_model_is_right(self):
        """Judgments hang together inside units; strengths alone make the outcomes."""
        rng = np.random.default_rng(5)
        found = [
            deviance_test(checked(agreeing_tables(rng, n_systems=5, n_units=60)))
            for _ in range(200)
        ]

        corrected = np.array([one.p_value for one in found])
        naive = np.array([one.naive_p_value for one in found])
        assert scipy.stats.kstest(corrected, "uniform").pvalue > 0.01
        assert (corrected < 0.05).mean() == pytest.approx(0.05, abs=0.04)
        assert (naive < 0.05).mean() > 0.3

    def test_finds_a_perfect_circle(self, rng):
        circle = np.array([[0, 9, 1], [1, 0, 9], [9, 1, 0]])
        tables = make_tables(rng.poisson(circle, size=(30, 3, 3)) * (1 - np.eye(3)))

        assert deviance_test(checked(tables)).p_value < 1e-4

    def test_has_nothing_to_test_with_two_systems(self):
        found = deviance_test(checked(make_tables([[[0, 3], [1, 0]], [[0, 1], [2, 0]]])))

        assert found.degrees_of_freedom == 0
        assert found.deviance == pytest.approx(0.0, abs=1e-9)
        assert np.isnan(found.p_value)

    def test_does_not_depend_on_the_scale_of_the_weights(self, rng):
        wins = rng.integers(1, 6, size=(12, 4, 4)) * (1 - np.eye(4))

        one, seven = (deviance_test(checked(make_tables(wins * by))) for by in (1, 7))

        assert seven.p_value == pytest.approx(one.p_value)
        assert seven.naive_p_value < one.naive_p_value


class TestResiduals:
    def test_have_the_clustered_variance_written_out(self, rng):
        """By its definition: each unit's own residual less what it does to the prediction."""
        tables = simulate_tables(rng, [0.4, 0.0, -0.4], n_units=8, n_per_pair=3)
        theta = fit_bradley_terry(tables.total()).log_strengths
        residuals = pair_residuals(tables, theta)
        bread = fisher_covariance(tables, theta)
        total = np.zeros(3)
        for unit in range(8):
            wins = tables.subset(np.array([unit])).total()
            score = tables.unit_scores(theta)[unit]
            for row, (i, j) in enumerate(zip(residuals.first, residuals.second, strict=True)):
                p = residuals.predicted[row]
                own = wins[i, j] * (1 - p) - wins[j, i] * p
                moved = residuals.model_variance[row] * (bread[i] - bread[j]) @ score
                total[row] += (own - moved) ** 2

        assert residuals.variance == pytest.approx(total * 8 / 7)

    def test_are_standard_normal_where_the_model_is_right(self):
        rng = np.random.default_rng(8)
        drawn = [
            checked(simulate_tables(rng, [0.5, 0, 0, -0.5], n_units=60, n_per_pair=4)).standardised
            for _ in range(100)
        ]

        assert np.std(drawn) == pytest.approx(1.0, abs=0.08)

    @settings(max_examples=20, deadline=None)
    @given(st.integers(0, 10_000))
    def test_add_up_to_nothing_for_every_system(self, seed):
        rng = np.random.default_rng(seed)
        wins = rng.integers(0, 5, size=(6, 4, 4)) + 0.1
        residuals = checked(make_tables(wins * (1 - np.eye(4))))

        sums = np.bincount(residuals.first, residuals.residual, 4)
        sums -= np.bincount(residuals.second, residuals.residual, 4)

        assert sums == pytest.approx(np.zeros(4), abs=1e-6)
        assert np.asarray(residuals.by_unit.sum(axis=0)) == pytest.approx(residuals.residual)

    def test_of_a_bridge_are_not_a_number(self):
        """One pair alone connects the two systems: it is predicted as it came out."""
        residuals = checked(make_tables([[[0, 3], [1, 0]], [[0, 1], [2, 0]]]))

        assert np.isnan(residuals.standardised).all()

    def test_are_refused_for_one_unit(self):
        with pytest.raises(ValueError, match="two units"):
            checked(make_tables([[[0, 3], [1, 0]]]))
