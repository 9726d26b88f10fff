"""Numbers of judgments in closed form, and what one more judgment on each pair would tell."""

from itertools import combinations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.elo import ELO_PER_LOG_UNIT
from ranking.numerics.information import (
    GREATEST_RATIO,
    expected_reduction,
    sampling_weights,
    strength_covariance,
)
from ranking.numerics.planning.design import (
    design_effect,
    design_effect_of_ranking,
    intraclass_correlation,
    judgments_per_pair,
)


class TestJudgmentsPerPair:
    def test_are_783_for_55_per_cent_and_grow_by_the_design_effect(self):
        """p = 0.55 (34.9 Elo points), 5 % two-sided, power 80 %."""
        assert judgments_per_pair(0.55) == 783
        assert np.log(0.55 / 0.45) * ELO_PER_LOG_UNIT == pytest.approx(34.9, abs=0.05)
        assert judgments_per_pair(0.55, design_effect=design_effect(5, 0.4)) == 2035

    def test_reach_the_power_in_simulation(self, rng):
        n = judgments_per_pair(0.55)
        won = rng.binomial(n, 0.55, size=20_000)

        found = np.abs(won - n / 2) > 1.959964 * np.sqrt(n) / 2

        assert found.mean() == pytest.approx(0.8, abs=0.02)

    @pytest.mark.parametrize(
        "wrong",
        [{"share": 0.5}, {"share": 1.0}, {"power": 1.0}, {"level": 0.0}, {"design_effect": 0.0}],
        ids=str,
    )
    def test_refuse_what_is_out_of_range(self, wrong):
        with pytest.raises(ValueError, match=r"must|needs"):
            judgments_per_pair(**{"share": 0.6, **wrong})


class TestDesignEffect:
    @pytest.mark.parametrize(("m", "rho", "effect"), [(1, 0.9, 1.0), (8, 0.0, 1.0), (5, 1.0, 5.0)])
    def test_grows_to_the_number_of_judgments_when_all_are_the_same(self, m, rho, effect):
        assert design_effect(m, rho) == effect

    @pytest.mark.parametrize(("m", "rho"), [(0.5, 0.1), (3, 1.1), (3, -0.5), (2, np.nan)])
    def test_refuses_what_cannot_be(self, m, rho):
        with pytest.raises(ValueError, match="no design effect"):
            design_effect(m, rho)


class TestDesignEffectOfARanking:
    @pytest.mark.parametrize("n_pairs", [1, 2, 4, 6])
    def test_is_what_the_texts_of_four_systems_add_to_the_variance(self, n_pairs):
        """All choices of so many pairs: one system's wins less another's, text by text."""
        sides = np.array([np.eye(4)[a] - np.eye(4)[b] for a, b in combinations(range(4), 2)])
        pull, per_pair, rho = sides @ [1.0, -1.0, 0.0, 0.0], 3, 0.2
        found = alone = 0.0
        for chosen in map(list, combinations(range(6), n_pairs)):
            judged, weight = sides[chosen], per_pair * pull[chosen]
            found += (rho / 2.0) * float(((weight @ judged) ** 2).sum())
            alone += per_pair * float((pull[chosen] ** 2).sum())

        effect = design_effect_of_ranking(4, n_pairs, per_pair, rho)

        assert effect == pytest.approx((found + (1.0 - rho) * alone) / alone)

    def test_of_two_systems_is_that_of_their_pair(self):
        assert design_effect_of_ranking(2, 1, 5, 0.2) == design_effect(5, 0.2)


class TestIntraclassCorrelation:
    def test_is_the_published_one(self):
        """Shrout & Fleiss (1979), table 2: six targets, four judges, ICC(1,1) = .17."""
        ratings = np.array(
            [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
        )
        cluster = np.repeat(np.arange(6), 4)

        found = intraclass_correlation(ratings.ravel().astype(float), cluster, np.zeros(24, int))

        assert found == pytest.approx(0.17, abs=0.005)

    def test_is_recovered_with_means_that_differ_between_pairs(self, rng):
        pair = np.repeat(np.arange(10), 300)
        cluster = np.repeat(np.arange(600), 5)
        values = pair + rng.normal(size=600)[cluster] * 0.7 + rng.normal(size=3000)

        assert intraclass_correlation(values, cluster, pair) == pytest.approx(0.49 / 1.49, abs=0.05)

    def test_of_unequal_clusters_is_that_of_the_one_way_table(self, rng):
        """Peer: the F test of SciPy, whose ratio of mean squares is B / W."""
        cluster = np.repeat(np.arange(7), [2, 5, 3, 1, 6, 2, 4])
        values = rng.normal(size=23) + cluster * 0.3
        f = scipy.stats.f_oneway(*(values[cluster == one] for one in range(7))).statistic
        size = np.bincount(cluster)
        usual = (23 - (size**2).sum() / 23) / 6

        found = intraclass_correlation(values, cluster, np.zeros(23, int))

        assert found == pytest.approx((f - 1) / (f + usual - 1), abs=1e-9)

    @pytest.mark.parametrize(
        ("values", "cluster"),
        [
            ([0, 1, 0, 1, 1, 0], np.arange(6)),
            ([0, 1, 0, 1, 1, 0], np.zeros(6, int)),
            ([1, 1, 1, 1, 1, 1], np.arange(6) // 2),
        ],
        ids=["one judgment each", "one unit", "nothing varies"],
    )
    def test_is_not_a_number_where_it_could_be_anything(self, values, cluster):
        found = intraclass_correlation(np.array(values, dtype=float), cluster, np.zeros(6, int))

        assert np.isnan(found)

    def test_never_leaves_what_a_correlation_can_be(self):
        # Rounding alone would make it -1.0000000000000004.
        values, cluster = np.array([0.5, 1.0, 0.0]), np.array([0, 1, 1])
        low = [
            intraclass_correlation(scale * values, cluster, np.zeros(3, int))
            for scale in np.linspace(0.1, 2.0, 200)
        ]

        assert min(low) >= -1.0

    def test_refuses_columns_of_other_lengths(self):
        with pytest.raises(ValueError, match="length"):
            intraclass_correlation(np.ones(4), np.zeros(3, int), np.zeros(4, int))


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
            more = counts.copy()
            more[[i, j], [j, i]] += 1
            after = strength_covariance(theta, more)
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
