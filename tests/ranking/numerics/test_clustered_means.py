"""Means over dialogues: a peer, closed forms, properties and what is too little."""

import numpy as np
import pytest
import scipy

from ranking.numerics.clustered_means import (
    TooFewDialoguesError,
    clustered_difference,
    clustered_mean,
)
from tests.ranking.numerics import peers


@pytest.fixture
def sample(rng):
    cluster = np.repeat(np.arange(25), rng.integers(1, 9, 25))
    shared = rng.normal(size=25)
    return shared[cluster] + rng.normal(size=len(cluster)), cluster


class TestPeers:
    def test_agrees_with_a_regression_on_a_constant(self, sample):
        values, cluster = sample
        n, n_clusters = len(values), 25

        found = clustered_mean(values, cluster)

        peer = peers.OLS(values, np.ones(n)).fit(cov_type="cluster", cov_kwds={"groups": cluster})
        # Their correction also has (n - 1) / (n - k), which is 1 here.
        assert found.mean == pytest.approx(peer.params[0], abs=1e-12)
        assert found.error == pytest.approx(peer.bse[0], abs=1e-10)
        assert (found.n, found.n_clusters) == (n, n_clusters)

    def test_a_difference_agrees_with_a_regression_on_the_part(self, sample, rng):
        values, cluster = sample
        n, is_second = len(values), rng.random(len(values)) < 0.4

        found = clustered_difference(values, cluster, is_second)

        design = np.column_stack([np.ones(n), is_second])
        peer = peers.OLS(values, design).fit(cov_type="cluster", cov_kwds={"groups": cluster})
        assert found.mean == pytest.approx(peer.params[1], abs=1e-12)
        # Their correction has (n - 1) / (n - 2) besides.
        assert found.error == pytest.approx(peer.bse[1] * np.sqrt((n - 2) / (n - 1)), abs=1e-10)

    def test_single_values_are_a_t_test(self, rng):
        values = rng.normal(0.3, size=30)

        found = clustered_mean(values, np.arange(30))

        peer = scipy.stats.ttest_1samp(values, 0.0)
        assert found.p_value() == pytest.approx(peer.pvalue, abs=1e-12)
        low, high = peer.confidence_interval(0.9)
        assert found.interval(0.9) == pytest.approx((low, high), abs=1e-12)


class TestProperties:
    def test_a_copy_of_every_judgment_tells_nothing_new(self, sample):
        values, cluster = sample

        found = clustered_mean(values, cluster)
        twice = clustered_mean(np.tile(values, 2), np.tile(cluster, 2))

        assert (twice.mean, twice.error) == pytest.approx((found.mean, found.error))

    def test_names_and_order_do_not_matter(self, sample, rng):
        values, cluster = sample
        order = rng.permutation(len(values))

        found = clustered_mean(values[order], 100 - 3 * cluster[order])

        assert found.error == pytest.approx(clustered_mean(values, cluster).error)

    def test_values_that_never_vary_are_tested_by_turning_signs(self):
        found = clustered_mean(np.ones(6), np.arange(6) // 2)

        # Three dialogues agree in one of four throws of three coins.
        assert (found.varies, found.p_value(), found.p_value(1.0)) == (False, 0.25, 1.0)

    def test_rounding_is_no_variation(self):
        found = clustered_mean(np.full(30, 0.1), np.arange(30) % 7)

        assert not found.varies
        assert found.p_value() == 2.0**-6

    def test_a_difference_has_the_degrees_of_the_part_in_fewer_dialogues(self, rng):
        cluster = np.repeat(np.arange(40), 2)
        is_second = (cluster < 3) & (np.arange(80) % 2 == 1)

        found = clustered_difference(rng.normal(size=80), cluster, is_second)

        assert found.n_clusters == 3


class TestTooLittle:
    def test_is_refused(self):
        for n in (0, 1):
            with pytest.raises(TooFewDialoguesError, match=f"{n} clusters, and 2 are needed"):
                clustered_mean(np.ones(3 * n), np.zeros(3 * n, dtype=int))
        with pytest.raises(TooFewDialoguesError, match="one of the two parts is empty"):
            clustered_difference(np.ones(4), np.arange(4), np.ones(4, dtype=bool))
        # All of the second part is in one dialogue, around whose mean nothing is left.
        with pytest.raises(TooFewDialoguesError, match="1 clusters"):
            clustered_difference(np.arange(6.0), np.arange(6) // 2, np.arange(6) < 2)
        with pytest.raises(ValueError, match="finite values"):
            clustered_mean(np.array([1.0, np.nan]), np.arange(2))
