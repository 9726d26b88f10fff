"""Tests of all pairs at once, their adjustment, shares of replicates, and quasi-variances."""

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from ranking.numerics.few_units import expanded_intervals, robust_covariance
from ranking.numerics.multiplicity import benjamini_hochberg, holm
from ranking.numerics.pairwise import (
    difference_intervals,
    pairwise_p_values,
    quasi_variances,
    step_down_p_values,
    superiority,
)
from ranking.numerics.simultaneous import joint_intervals, rank_intervals
from tests.ranking.numerics import peers
from tests.ranking.numerics.helpers import simulate_tables, strengths_of

ESTIMATE = np.array([0.0, 0.3, 0.35, 2.0])
RARE = np.array([False, True, False, False])


def noise(rng, n_replicates=2_000):
    return ESTIMATE + rng.normal(0.0, 0.1, size=(n_replicates, len(ESTIMATE)))


class TestPairwisePValues:
    def test_are_those_of_the_t_distribution(self, rng):
        replicates = noise(rng)

        found = pairwise_p_values(ESTIMATE, replicates, n_units=30)

        ratio = 0.3 / (replicates[:, 1] - replicates[:, 0]).std(ddof=1)
        expected = 2 * scipy.stats.t.sf(ratio * np.sqrt(29 / 30), 29)
        assert found[0, 1] == found[1, 0] == pytest.approx(expected)
        assert (found.diagonal() == 1.0).all()

    @pytest.mark.parametrize("test", [pairwise_p_values, step_down_p_values])
    def test_a_difference_that_never_varies_is_as_sure_as_units_that_agree(self, test):
        replicates = np.eye(3)[[0] * 999]

        found = test(np.array([1.0, 0.0, 0.0]), replicates, n_units=5)

        assert found[0, 1] == pytest.approx(1 / 16)
        assert found[1, 2] == 1.0
        assert test(replicates[0], replicates, n_units=5_000)[0, 1] <= 0.001

    def test_refuses_an_estimate_of_another_length(self):
        with pytest.raises(ValueError, match="estimate"):
            pairwise_p_values(np.zeros(3), np.zeros((5, 4)), n_units=9)


@pytest.mark.parametrize(
    ("figures_of", "is_rare"),
    [
        (expanded_intervals, RARE),
        (joint_intervals, RARE),
        (difference_intervals, RARE[:, None] | RARE),
        (pairwise_p_values, RARE[:, None] | RARE),
    ],
)
def test_a_system_in_few_of_many_units_is_as_unsure_as_few_units_are(rng, figures_of, is_rare):
    given = ESTIMATE, noise(rng)

    found, many, few = (
        getattr(told, "high", told)
        for told in (figures_of(*given, n_units=n) for n in (np.where(RARE, 8, 60), 60, 8))
    )

    np.testing.assert_allclose(found, np.where(is_rare, few, many), rtol=1e-12)
    assert (few != many).any()


class TestStepDownPValues:
    def test_lie_between_those_of_single_tests_and_those_of_holm(self, rng):
        replicates, pairs = noise(rng, 20_000), np.triu_indices(4, 1)

        found = step_down_p_values(ESTIMATE, replicates, n_units=1_000)[pairs]

        alone = pairwise_p_values(ESTIMATE, replicates, n_units=1_000)[pairs]
        assert (found >= alone - 0.005).all()
        assert (found <= holm(alone) + 0.005).all()

    def test_are_the_share_of_replicates_that_stray_as_far(self):
        replicates = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [0.0, 3.0]])

        found = step_down_p_values(np.array([0.0, 2.0]), replicates, n_units=10**9)

        # Two of four replicates lie 2 or more from the estimate's difference of 2.
        assert found[0, 1] == pytest.approx((1 + 2) / (1 + 4))

    def test_no_difference_anywhere_is_rejected_in_few_studies_only(self):
        rng = np.random.default_rng(4)
        rejected = 0
        for _ in range(200):
            estimate = rng.normal(size=6)
            replicates = estimate + rng.normal(size=(300, 6))
            rejected += step_down_p_values(estimate, replicates, n_units=10**6).min() <= 0.05

        # 10 expected; 20 or more have probability 0.003
        assert rejected < 20


class TestDifferenceIntervals:
    def test_tell_apart_what_the_rank_intervals_tell_apart_at_once(self, rng):
        replicates = noise(rng)

        found = difference_intervals(ESTIMATE, replicates, n_units=40)

        better = (found.low > 0).sum(axis=0)
        assert (1 + better <= rank_intervals(ESTIMATE, replicates, n_units=40).best).all()

    def test_turn_round_with_the_pair(self, rng):
        found = difference_intervals(ESTIMATE, noise(rng), n_units=40)

        np.testing.assert_allclose(found.low, -found.high.T)


class TestSuperiority:
    def test_counts_who_is_ahead_and_splits_ties(self):
        replicates = np.array([[3.0, 1.0], [2.0, 2.0], [1.0, 2.0], [5.0, 0.0]])

        np.testing.assert_array_equal(superiority(replicates), [[0.5, 0.625], [0.375, 0.5]])

    def test_is_the_normal_probability_of_a_positive_difference(self, rng):
        found = superiority(rng.normal([1.0, 0.0], 2.0**-0.5, size=(20_000, 2)))

        # Phi(1) = 0.8413; 20,000 replicates know it to 0.003
        assert found[0, 1] == pytest.approx(0.8413, abs=0.01)
        np.testing.assert_allclose(found + found.T, 1.0)

    def test_refuses_replicates_without_a_maximum(self):
        with pytest.raises(ValueError, match="left out"):
            superiority(np.array([[0.0, 1.0], [np.nan, np.nan]]))


# Fifteen tests of a treatment after a heart attack: Benjamini & Hochberg (1995), section 3.2.
# At 0.05 they reject the four smallest where Bonferroni and Hochberg reject three.
PUBLISHED = np.array(
    [
        *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240),
        *(0.4262, 0.5719, 0.6528, 0.7590, 1.0000),
    ]
)


def test_the_published_numbers_of_tests_pass():
    assert (benjamini_hochberg(PUBLISHED) <= 0.05).sum() == 4
    assert (holm(PUBLISHED) <= 0.05).sum() == 3


@pytest.mark.parametrize("n", [1, 2, 7, 190])
def test_adjusted_p_values_agree_with_scipy_and_statsmodels(n, rng):
    p = np.round(rng.random(n) ** 3, 2)  # the smaller the more; some are equal, 0 or 1

    found = [adjust(p) for adjust in (holm, benjamini_hochberg)]

    peer = [peers.multipletests(p, method=name)[1] for name in ("holm", "fdr_bh")]
    np.testing.assert_allclose(found, peer, rtol=1e-12)
    other = scipy.stats.false_discovery_control(p, method="bh")
    np.testing.assert_allclose(found[1], other, rtol=1e-12)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
class TestAdjusting:
    @given(st.permutations(range(5)))
    def test_the_order_of_tests_does_not_matter(self, adjust, order):
        p = np.array([0.001, 0.2, 0.03, 0.03, 0.9])

        np.testing.assert_array_equal(adjust(p[order]), adjust(p)[order])

    @pytest.mark.parametrize("values", [[0.031], []], ids=["one test", "no tests"])
    def test_a_single_test_stays_as_it_is(self, adjust, values):
        assert adjust(np.array(values)).tolist() == values

    @pytest.mark.parametrize("values", [[0.5, 1.1], [-0.1], [np.nan], [[0.1]]])
    def test_refuses_what_is_no_probability(self, adjust, values):
        with pytest.raises(ValueError, match="between 0 and 1"):
            adjust(np.array(values))


class TestQuasiVariances:
    def test_are_the_variances_of_independent_strengths_in_any_gauge(self):
        variances = np.array([1.0, 4.0, 0.5, 2.0])
        centre = np.eye(4) - 0.25

        found = quasi_variances(centre @ np.diag(variances) @ centre)

        np.testing.assert_allclose(found.variances, variances, rtol=1e-6)
        assert found.worst_error < 1e-6

    def test_are_exact_for_three_systems(self):
        covariance = np.array([[2.0, 0.5, 0.3], [0.5, 1.0, -0.2], [0.3, -0.2, 1.5]])

        q = quasi_variances(covariance).variances

        # Three equations: Var(i - j) = q_i + q_j.
        expected = [2.0 - 0.5 - 0.3 - 0.2, 1.0 - 0.5 + 0.2 + 0.3, 1.5 - 0.3 + 0.2 + 0.5]
        np.testing.assert_allclose(q, expected, rtol=1e-6)

    def test_come_near_in_a_study(self, rng):
        tables = simulate_tables(rng, np.linspace(1, -1, 8), n_units=400, n_per_pair=2)
        theta = strengths_of(tables)
        covariance = robust_covariance(tables, theta)

        found = quasi_variances(covariance.covariance)

        errors = np.sqrt(found.variances[:, None] + found.variances[None, :])
        ratio = (errors / (covariance.difference_errors + np.eye(8)))[np.triu_indices(8, 1)]
        assert np.abs(ratio - 1.0).max() == pytest.approx(found.worst_error)
        assert found.worst_error < 0.12

    @pytest.mark.parametrize(
        ("covariance", "message"),
        [
            (np.eye(2), "three systems"),
            (np.ones((3, 4)), "three systems"),
            (np.zeros((3, 3)), "variance above 0"),
            (np.full((3, 3), np.nan), "variance above 0"),
        ],
        ids=["two", "oblong", "nothing", "nan"],
    )
    def test_refuse_what_has_none(self, covariance, message):
        with pytest.raises(ValueError, match=message):
            quasi_variances(covariance)
