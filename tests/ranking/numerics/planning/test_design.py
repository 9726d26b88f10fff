"""Numbers of judgments in closed form, and the correlation that they rest on."""

import numpy as np
import pytest
import scipy

from ranking.numerics.elo import ELO_PER_LOG_UNIT
from ranking.numerics.planning.design import (
    design_effect,
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
        won = rng.binomial(783, 0.55, size=20_000)

        found = np.abs(won - 783 / 2) > 1.959964 * np.sqrt(783) / 2

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
