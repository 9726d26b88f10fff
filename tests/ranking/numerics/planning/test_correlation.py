"""The correlation of judgments of one pair in one unit."""

import numpy as np
import pytest
import scipy

from ranking.numerics.planning.closed_form import intraclass_correlation


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
        "cluster",
        [np.arange(6), np.zeros(6, int)],
        ids=["one judgment each", "one unit"],
    )
    def test_is_not_a_number_without_two_judgments_or_two_units(self, cluster):
        values = np.array([0.0, 1, 0, 1, 1, 0])

        assert np.isnan(intraclass_correlation(values, cluster, np.zeros(6, int)))

    def test_is_not_a_number_when_nothing_varies(self):
        cluster = np.array([0, 0, 1, 1])

        assert np.isnan(intraclass_correlation(np.ones(4), cluster, np.zeros(4, int)))

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
