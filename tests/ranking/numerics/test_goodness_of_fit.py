"""Residuals and deviance of pairs, predicted shares against counted ones, and circles of three."""

import itertools

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from ranking.numerics.connectivity import circular_triads, expected_circles
from ranking.numerics.goodness_of_fit import (
    calibration_bins,
    deviance_test,
    pair_residuals,
    stretch,
)
from ranking.numerics.sandwich import fisher_covariance
from tests.ranking.numerics import peers
from tests.ranking.numerics.helpers import BASEBALL, make_tables, simulate_tables, strengths_of


def agreeing_tables(rng, *, n_systems, n_units):
    """Equal systems; five raters of a pair in a unit lean the same way."""
    upper = np.triu(np.ones((n_systems, n_systems)), 1)
    leaning = rng.beta(1.0, 1.0, size=(n_units, n_systems, n_systems))
    wins = rng.binomial(5, leaning) * upper
    return make_tables(wins + ((5 - wins) * upper).swapaxes(1, 2))


def checked(tables):
    return pair_residuals(tables, strengths_of(tables))


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

    def test_does_not_depend_on_the_scale_of_the_weights(self, rng):
        wins = rng.integers(1, 6, size=(12, 4, 4)) * (1 - np.eye(4))

        one, seven = (deviance_test(checked(make_tables(wins * by))) for by in (1, 7))

        assert seven.p_value == pytest.approx(one.p_value)
        assert seven.naive_p_value < one.naive_p_value


class TestResiduals:
    def test_have_the_clustered_variance_written_out(self, rng):
        """By its definition: each unit's own residual less what it does to the prediction."""
        tables = simulate_tables(rng, [0.4, 0.0, -0.4], n_units=8, n_per_pair=3)
        theta = strengths_of(tables)
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

    @settings(max_examples=20)
    @given(st.integers(0, 10_000))
    def test_add_up_to_nothing_for_every_system(self, seed):
        rng = np.random.default_rng(seed)
        wins = rng.integers(0, 5, size=(6, 4, 4)) + 0.1
        residuals = checked(make_tables(wins * (1 - np.eye(4))))

        sums = np.bincount(residuals.first, residuals.residual, 4)
        sums -= np.bincount(residuals.second, residuals.residual, 4)

        assert sums == pytest.approx(np.zeros(4), abs=1e-6)
        assert np.asarray(residuals.by_unit.sum(axis=0)) == pytest.approx(residuals.residual)

    def test_of_a_bridge_are_not_a_number_and_leave_nothing_to_test(self):
        """One pair alone connects the two systems: it is predicted as it came out."""
        residuals = checked(make_tables([[[0, 3], [1, 0]], [[0, 1], [2, 0]]]))

        found = deviance_test(residuals)

        assert np.isnan(residuals.standardised).all()
        assert found.degrees_of_freedom == 0
        assert found.deviance == pytest.approx(0.0, abs=1e-9)
        assert np.isnan(found.p_value)

    def test_are_refused_for_one_unit(self):
        with pytest.raises(ValueError, match="two units"):
            checked(make_tables([[[0, 3], [1, 0]]]))


class TestStretch:
    def test_finds_the_factor_by_which_strengths_were_shrunk(self):
        """A third of the log odds, as in the published table: 2.96."""
        odds = np.array([0.2, 0.9, -1.4, 2.1])

        assert stretch(odds / 2.96, special.expit(odds), np.full(4, 50.0)) == pytest.approx(2.96)

    @settings(max_examples=25)
    @given(st.integers(0, 10_000))
    def test_is_the_slope_of_a_logistic_regression(self, seed):
        rng = np.random.default_rng(seed)
        difference, n = rng.normal(size=8), rng.integers(5, 50, size=8).astype(float)
        won = rng.uniform(0.1, 0.9, size=8)
        outcomes = np.stack([n * won, n - n * won], axis=1)

        peer = peers.GLM(outcomes, difference[:, None], family=peers.Binomial()).fit(tol=1e-12)

        assert stretch(difference, won, n) == pytest.approx(peer.params[0], abs=1e-6)

    @pytest.mark.parametrize(
        ("difference", "won", "slope"),
        [
            ([0.0, 0.0], [0.5, 0.7], np.nan),
            ([1.0, -1.0], [1.0, 0.0], np.inf),
            ([1.0], [0.0], -np.inf),
        ],
        ids=["all equal", "always won", "always lost"],
    )
    def test_says_where_there_is_no_slope(self, difference, won, slope):
        found = stretch(np.array(difference), np.array(won), np.ones(len(won)))

        assert found == pytest.approx(slope, nan_ok=True)


class TestCalibrationBins:
    def test_average_pairs_with_alike_predictions(self):
        predicted, counted = np.array([0.8, 0.2, 0.3, 0.7]), np.array([1.0, 0.1, 0.3, 0.6])

        bins = calibration_bins(predicted, counted, np.array([1.0, 2.0, 2.0, 3.0]), n_bins=2)

        assert bins.n == pytest.approx([4, 4])
        assert bins.predicted == pytest.approx([0.25, 0.725])
        assert bins.counted == pytest.approx([0.2, 0.7])

    def test_are_fewer_for_fewer_pairs(self):
        bins = calibration_bins(np.array([0.4]), np.array([0.5]), np.array([3.0]))

        assert bins.n == pytest.approx([3])

    def test_refuse_weights_of_0(self):
        with pytest.raises(ValueError, match="positive"):
            calibration_bins(np.array([0.4]), np.array([0.5]), np.array([0.0]))


def tournament(n: int, seed: int) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).integers(0, 2, size=(n, n)), 1)
    return upper + np.tril(1 - upper.T, -1)


class TestCircularTriads:
    @pytest.mark.parametrize(
        ("wins", "found"),
        [
            (np.triu(np.ones((6, 6)), 1), (20, 0, 1.0)),
            (np.array([[0, 5, 0], [0, 0, 5], [5, 0, 0]]), (1, 1, 0.0)),
            (np.array([[0, 5, 2], [0, 0, 5], [2, 0, 0]]), (0, 0, None)),
            (np.array([[0, 2], [1, 0]]), (0, 0, None)),
        ],
        ids=["a perfect order", "a circle", "a pair that is not decided", "two systems"],
    )
    def test_are_counted_among_threes_that_are_decided(self, wins, found):
        triads = circular_triads(wins)

        assert (triads.n_decided, triads.n_circular, triads.consistence) == found

    @pytest.mark.parametrize(("n", "most"), [(5, 5), (7, 14), (9, 30)])
    def test_as_many_as_there_can_be_make_the_consistence_0(self, n, most):
        """Each beats the next half: Kendall & Babington Smith (1940), (K^3 - K) / 24 circles."""
        ahead = (np.arange(n)[None, :] - np.arange(n)[:, None]) % n
        found = circular_triads((ahead > 0) & (ahead <= n // 2))

        assert (found.n_circular, found.consistence) == (most, 0.0)

    @given(st.integers(3, 8), st.integers(0, 10_000))
    def test_are_those_of_the_formula_by_the_numbers_of_wins(self, n, seed):
        """d = K(K-1)(K-2)/6 - sum a(a-1)/2, Kendall & Babington Smith (1940)."""
        beats = tournament(n, seed)
        a = beats.sum(axis=1)

        expected = n * (n - 1) * (n - 2) / 6 - (a * (a - 1) / 2).sum()

        assert circular_triads(beats).n_circular == expected

    @pytest.mark.parametrize(
        "wins",
        [np.ones((2, 3)), -np.ones((3, 3)), np.ones(3)],
        ids=["oblong", "negative", "flat"],
    )
    def test_refuse_other_arrays(self, wins):
        with pytest.raises(ValueError, match="wins must be"):
            circular_triads(wins)


class TestExpectedCircles:
    @given(st.integers(0, 1000))
    def test_are_the_sum_over_all_threes(self, seed):
        p = np.triu(np.random.default_rng(seed).uniform(size=(5, 5)), 1)
        p += np.tril(1 - p.T, -1)

        by_hand = sum(
            p[a, b] * p[b, c] * p[c, a] + p[b, a] * p[c, b] * p[a, c]
            for a, b, c in itertools.combinations(range(5), 3)
        )

        assert expected_circles(p) == pytest.approx(by_hand)
