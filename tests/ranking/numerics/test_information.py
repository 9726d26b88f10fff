"""What one more judgment on each pair would tell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.information import (
    GREATEST_RATIO,
    expected_reduction,
    sampling_weights,
    strength_covariance,
)


@st.composite
def fits(draw):
    k = draw(st.integers(2, 6))
    theta = draw(arrays(np.float64, k, elements=st.floats(-2, 2)))
    counts = np.triu(draw(arrays(np.float64, (k, k), elements=st.integers(0, 30))), 1)
    return theta, counts + counts.T


def mean_contrast_variance(covariance):
    """Average the variance of each contrast, one by one."""
    k = len(covariance)
    contrasts = [np.eye(k)[i] - np.eye(k)[j] for i in range(k) for j in range(i)]
    return np.mean([d @ covariance @ d for d in contrasts])


def one_more(counts, i, j):
    more = counts.copy()
    more[i, j] += 1
    more[j, i] += 1
    return more


class TestStrengthCovariance:
    def test_is_that_of_the_maximum_likelihood_fit_where_the_prior_is_weak(self):
        wins = np.array([[0, 30, 22], [18, 0, 25], [11, 19, 0]], dtype=float)
        fit = fit_bradley_terry(wins)

        weak = strength_covariance(fit.log_strengths, wins + wins.T, prior_precision=1e-9)

        centre = np.eye(3) - 1 / 3
        assert centre @ weak @ centre == pytest.approx(fit.covariance, rel=1e-5, abs=1e-7)

    def test_is_the_prior_s_where_nothing_was_judged(self):
        covariance = strength_covariance(np.zeros(3), np.zeros((3, 3)), prior_precision=0.5)

        assert covariance == pytest.approx(2 * np.eye(3))

    def test_ignores_the_diagonal_and_leaves_its_arguments_alone(self):
        counts = np.array([[9.0, 2.0], [2.0, 9.0]])

        covariance = strength_covariance(np.zeros(2), counts)

        without = strength_covariance(np.zeros(2), counts * (1 - np.eye(2)))
        assert covariance == pytest.approx(without)
        assert counts[0, 0] == 9.0

    @pytest.mark.parametrize(
        ("theta", "counts", "prior", "reason"),
        [
            ([0, 0], np.zeros((3, 3)), 1.0, "2 systems"),
            ([0, np.inf], np.zeros((2, 2)), 1.0, "finite"),
            ([0, 0], [[0, -1], [-1, 0]], 1.0, "negative"),
            ([0, 0], [[0, 1], [2, 0]], 1.0, "symmetric"),
            ([0, 0], np.zeros((2, 2)), 0.0, "prior"),
        ],
        ids=["shape", "infinite", "negative", "lopsided", "no prior"],
    )
    def test_refuses_what_cannot_be_meant(self, theta, counts, prior, reason):
        with pytest.raises(ValueError, match=reason):
            strength_covariance(np.array(theta), np.array(counts), prior_precision=prior)


class TestExpectedReduction:
    @given(fits())
    def test_is_what_computing_the_covariance_anew_gives(self, fit):
        theta, counts = fit
        before = strength_covariance(theta, counts)

        reduction = expected_reduction(theta, before)

        for i, j in np.argwhere(~np.eye(len(theta), dtype=bool)):
            after = strength_covariance(theta, one_more(counts, i, j))
            fall = mean_contrast_variance(before) - mean_contrast_variance(after)
            assert reduction[i, j] == pytest.approx(fall, rel=1e-6, abs=1e-12)
            assert reduction[i, j] > 0
        assert reduction == pytest.approx(reduction.T)
        assert reduction.diagonal() == pytest.approx(np.zeros(len(theta)))

    @pytest.mark.parametrize(
        ("theta", "covariance"),
        [(np.zeros(1), np.eye(1)), (np.zeros(2), np.eye(3))],
        ids=["one system", "another shape"],
    )
    def test_refuses_what_does_not_fit_together(self, theta, covariance):
        with pytest.raises(ValueError, match="do not go with"):
            expected_reduction(theta, covariance)


class TestSamplingWeights:
    @given(arrays(np.float64, st.integers(1, 20), elements=st.floats(0, 1e6)))
    def test_average_one_and_never_differ_beyond_the_ratio(self, reduction):
        weights = sampling_weights(reduction)

        assert weights.mean() == pytest.approx(1.0)
        assert (weights > 0).all()
        assert weights.max() <= weights.min() * GREATEST_RATIO * (1 + 1e-9)

    @pytest.mark.parametrize(
        ("reduction", "ratio", "weights"),
        [
            ([4.0, 2.0, 0.0], 4, [12 / 7, 6 / 7, 3 / 7]),
            ([5.0, 1.0], 1, [1, 1]),
            ([0.0, 0.0, 0.0], GREATEST_RATIO, [1, 1, 1]),
            ([], GREATEST_RATIO, []),
        ],
        ids=["in proportion above the floor", "a ratio of one", "nothing told", "no pairs"],
    )
    def test_are_in_proportion_as_far_as_the_ratio_lets_them(self, reduction, ratio, weights):
        found = sampling_weights(np.array(reduction), greatest_ratio=ratio)

        assert found.tolist() == pytest.approx(weights)

    @pytest.mark.parametrize(
        ("reduction", "ratio"), [([-1.0], 2), ([np.nan], 2), ([1.0], 0.5)], ids=["<0", "nan", "<1"]
    )
    def test_refuse_what_cannot_be_meant(self, reduction, ratio):
        with pytest.raises(ValueError, match="must be"):
            sampling_weights(np.array(reduction), greatest_ratio=ratio)
