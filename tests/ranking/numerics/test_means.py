"""Means by dialogue and rater, slopes with other figures held equal, and rates of use."""

import numpy as np
import pytest
import scipy

from ranking.analyses.strategies import usage
from ranking.numerics.clustered_means import (
    NothingLeftError,
    TooFewDialoguesError,
    clustered_difference,
    clustered_mean,
    crossed_mean,
    partial_slope,
    resampled_means,
)
from ranking.numerics.refits import draw_units
from tests.ranking.numerics import peers


@pytest.fixture
def sample(rng):
    cluster = np.repeat(np.arange(25), rng.integers(1, 9, 25))
    shared = rng.normal(size=25)
    return shared[cluster] + rng.normal(size=len(cluster)), cluster


class TestClusteredPeers:
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
    def test_names_and_order_do_not_matter_and_a_copy_tells_nothing_new(self, sample, rng):
        values, cluster = sample
        order = rng.permutation(len(values))

        found = clustered_mean(values, cluster)
        other = clustered_mean(values[order], 100 - 3 * cluster[order])
        twice = clustered_mean(np.tile(values, 2), np.tile(cluster, 2))

        assert other.error == pytest.approx(found.error)
        assert (twice.mean, twice.error) == pytest.approx((found.mean, found.error))

    @pytest.mark.parametrize(
        ("values", "cluster", "p"),
        [
            # Three dialogues agree in one of four throws of three coins.
            (np.ones(6), np.arange(6) // 2, 0.25),
            (np.full(30, 0.1), np.arange(30) % 7, 2.0**-6),
        ],
        ids=["ones", "rounding is no variation"],
    )
    def test_values_that_never_vary_are_tested_by_turning_signs(self, values, cluster, p):
        found = clustered_mean(values, cluster)

        assert (found.varies, found.p_value(), found.p_value(values[0])) == (False, p, 1.0)

    def test_the_interval_of_a_rare_share_holds(self, rng):
        studies = ((rng.random(100) < 0.03).astype(float) for _ in range(300))
        ends = [clustered_mean(one, np.arange(100)).share_interval(0.95) for one in studies]

        # Those of Student's t hold in some 250: that of studies with one such value ends below.
        assert sum(low <= 0.03 <= high for low, high in ends) >= 280

    def test_a_difference_has_the_degrees_of_the_part_in_fewer_dialogues(self, rng):
        cluster = np.repeat(np.arange(40), 2)
        is_second = (cluster < 3) & (np.arange(80) % 2 == 1)

        found = clustered_difference(rng.normal(size=80), cluster, is_second)

        assert found.n_clusters == 3

    @pytest.mark.parametrize("is_turned", [False, True])
    @pytest.mark.parametrize(
        ("per_dialogue", "times"), [(1, 1 + 90 / 10), (4, 1 + 360 / 10)], ids=["one", "four"]
    )
    def test_a_part_that_is_all_alike_may_vary_as_the_other_does(
        self, per_dialogue, times, is_turned
    ):
        # 10 dialogues with one message each, none of which shows what the others do at times.
        others = np.repeat(np.arange(90) % 9 == 0, per_dialogue).astype(float)
        values = np.concatenate([others, np.zeros(10)])
        cluster = np.concatenate([np.repeat(np.arange(90), per_dialogue), np.arange(90, 100)])
        is_second = (np.arange(len(values)) >= len(others)) ^ is_turned

        found = clustered_difference(values, cluster, is_second)

        alone = others.var() / 90 * 100 / 99
        assert found.error == pytest.approx(np.sqrt(alone * times))
        assert found.p_value() > 0.2

    def test_a_rare_share_that_a_small_part_lacks_is_no_difference(self, rng):
        # Both have 5 %: without more doubt, every study in which the 20 have none finds one.
        is_second = np.arange(820) >= 800
        cluster = np.concatenate([np.repeat(np.arange(100), 8), np.arange(20)])
        studies = (rng.random(820) < 0.05 for _ in range(200))
        found = [clustered_difference(one.astype(float), cluster, is_second) for one in studies]

        assert sum(one.p_value() < 0.05 for one in found) <= 20


NONE_OF, ONE_UNIT = np.zeros(0, dtype=int), np.zeros(3, dtype=int)


@pytest.mark.parametrize(
    ("refused", "error", "message"),
    [
        (lambda: clustered_mean(np.ones(0), NONE_OF), TooFewDialoguesError, "0 clusters, and 2"),
        (lambda: clustered_mean(np.ones(3), ONE_UNIT), TooFewDialoguesError, "1 clusters, and 2"),
        (
            lambda: clustered_difference(np.ones(4), np.arange(4), np.ones(4, dtype=bool)),
            TooFewDialoguesError,
            "one of the two parts is empty",
        ),
        # All of the second part is in one dialogue, around whose mean nothing is left.
        (
            lambda: clustered_difference(np.arange(6.0), np.arange(6) // 2, np.arange(6) < 2),
            TooFewDialoguesError,
            "1 clusters",
        ),
        (lambda: crossed_mean(np.arange(3.0), np.arange(3), ONE_UNIT), TooFewDialoguesError, None),
        (lambda: clustered_mean(np.array([1.0, np.nan]), np.arange(2)), ValueError, "finite"),
        (
            lambda: clustered_difference(np.full(4, np.nan), np.arange(4), np.arange(4) < 2),
            ValueError,
            "finite",
        ),
    ],
    ids=[
        "nothing",
        "one dialogue",
        "no second part",
        "part of one",
        "one rater",
        "nan",
        "nan apart",
    ],
)
def test_too_little_is_refused(refused, error, message):
    with pytest.raises(error, match=message):
        refused()


def crossed(rng, *, by_rater=0.5):
    """Three raters of each dialogue's message: mean 3, shared parts of dialogue and rater."""
    dialogue = np.repeat(np.arange(30), 3)
    rater = np.concatenate([rng.choice(15, 3, replace=False) for _ in range(30)])
    shared = 0.4 * rng.normal(size=30)
    mildness = by_rater * rng.normal(size=15)
    noise = 0.5 * rng.normal(size=len(rater))
    return 3 + shared[dialogue] + mildness[rater] + noise, dialogue, rater


class TestCrossedMean:
    def test_agrees_with_a_regression_clustered_in_two_ways(self, rng):
        values, dialogue, rater = crossed(rng)

        found = crossed_mean(values, dialogue, rater)

        groups = np.column_stack([dialogue, rater])
        peer = peers.OLS(values, np.ones(len(values))).fit(
            cov_type="cluster", cov_kwds={"groups": groups}
        )
        assert found.mean == pytest.approx(peer.params[0], abs=1e-12)
        assert found.error == pytest.approx(peer.bse[0], abs=1e-10)
        assert (found.n, found.n_clusters) == (90, 15)

    def test_is_never_surer_than_either_alone(self, rng):
        values, dialogue, rater = rng.normal(size=12), np.arange(12), np.arange(12) % 4

        found = crossed_mean(values, dialogue, rater)

        ways = (clustered_mean(values, dialogue), clustered_mean(values, rater))
        assert found.error >= max(one.error for one in ways)


class TestCoverage:
    """500 planted studies of 30 dialogues and 15 raters, the mean being 3."""

    @staticmethod
    def share(by_rater):
        rng, held = np.random.default_rng(20261122), {"one": 0, "two": 0}
        for _ in range(500):
            values, dialogue, rater = crossed(rng, by_rater=by_rater)
            for name, found in (
                ("one", clustered_mean(values, dialogue)),
                ("two", crossed_mean(values, dialogue, rater)),
            ):
                low, high = found.interval(0.95)
                held[name] += low <= 3 <= high
        return {name: n / 500 for name, n in held.items()}

    def test_by_dialogue_holds_where_raters_are_alike(self):
        found = self.share(by_rater=0.0)

        assert 0.93 <= found["one"] <= 0.97
        assert found["two"] >= 0.93

    def test_by_both_holds_where_raters_differ(self):
        found = self.share(by_rater=0.5)

        assert found["one"] < 0.85
        assert 0.92 <= found["two"] <= 0.98


class TestResampledMeans:
    def test_is_the_mean_of_each_sample_written_out(self, rng):
        values, unit, system = rng.normal(size=60), rng.integers(0, 8, 60), rng.integers(0, 3, 60)
        found = resampled_means(
            values, system, unit, shape=(8, 3), n_replicates=20, rng=np.random.default_rng(4)
        )

        drawn = draw_units(8, 20, np.random.default_rng(4))
        for times, means in zip(drawn, found, strict=True):
            for one in range(3):
                weight = times[unit] * (system == one)
                assert means[one] == pytest.approx(np.average(values, weights=weight))

    def test_a_system_of_one_dialogue_is_not_in_every_sample(self):
        values, system, unit = np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 1, 1])

        found = resampled_means(
            values, system, unit, shape=(2, 2), n_replicates=64, rng=np.random.default_rng(1)
        )

        assert np.isnan(found[:, 1]).any()
        assert set(found[np.isfinite(found[:, 1]), 1]) == {5.0}


@pytest.fixture
def confounded(rng):
    """A figure that goes with y through a third one alone."""
    cluster = np.repeat(np.arange(40), 10)
    third = rng.normal(size=400)
    x = third + rng.normal(size=400)
    y = 2 * third + rng.normal(size=40)[cluster] + rng.normal(size=400)
    return y, x, np.column_stack([third, rng.normal(size=400)]), cluster


class TestPartialSlope:
    def test_agrees_with_a_joint_regression(self, confounded):
        y, x, controls, cluster = confounded

        found = partial_slope(y, x, controls, cluster)

        design = peers.add_constant(np.column_stack([x, controls]))
        peer = peers.OLS(y, design).fit(cov_type="cluster", cov_kwds={"groups": cluster})
        small = np.sqrt((400 - 4) / (400 - 1))  # their correction for parameters
        assert found.mean == pytest.approx(peer.params[1], abs=1e-10)
        assert found.error == pytest.approx(peer.bse[1] * small, abs=1e-10)

    def test_without_controls_a_mark_gives_the_difference_of_means(self, confounded):
        y, x, _, cluster = confounded
        mark = x > 0

        found = partial_slope(y, mark.astype(float), np.empty((400, 0)), cluster)

        difference = clustered_difference(y, cluster, mark)
        assert (found.mean, found.error) == pytest.approx((difference.mean, difference.error))

    def test_what_goes_through_a_third_figure_goes(self, confounded):
        y, x, controls, cluster = confounded

        raw = partial_slope(y, x, np.empty((400, 0)), cluster)
        held = partial_slope(y, x, controls, cluster)

        assert raw.p_value() < 0.001
        assert abs(held.mean) < 0.2 < raw.mean


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda y, x, held, unit: (y, held @ [1.0, 2.0] + 3, held, unit), NothingLeftError, None),
        (lambda y, x, held, unit: (y, np.ones(400), held, unit), NothingLeftError, None),
        (lambda y, x, held, unit: (y, x, held, 0 * unit), TooFewDialoguesError, None),
        (lambda y, x, held, unit: (y, x[:-1], held, unit), ValueError, "shapes differ"),
        (lambda y, x, held, unit: (np.nan * y, x, held, unit), ValueError, "finite"),
    ],
    ids=["what the others say", "a constant", "one dialogue", "other shapes", "nan"],
)
def test_a_slope_of_too_little_is_refused(confounded, change, error, message):
    with pytest.raises(error, match=message):
        partial_slope(*change(*confounded))


SHOWN = np.array([[1, 0, 0, 0], [1, 1, 0.5, 0], [0, 1, 0, 0], [1, 1, 1, 1]])
SYSTEM = np.array([0, 0, 2, 2])


class TestUsage:
    def test_is_what_can_be_counted_by_hand_with_the_entropy_of_scipy(self):
        found = usage(SHOWN, SYSTEM, n_systems=3)

        assert found.n_messages.tolist() == [2, 0, 2]
        np.testing.assert_allclose(found.rates[0], [1.0, 0.5, 0.25, 0.0])
        np.testing.assert_allclose(found.per_message, [1.75, np.nan, 2.5])
        np.testing.assert_allclose(found.coverage, [0.75, np.nan, 1.0])
        entropy = [scipy.stats.entropy(used, base=2) for used in ([2, 1, 0.5], [1, 2, 1, 1])]
        np.testing.assert_allclose(found.entropy, [entropy[0], np.nan, entropy[1]])

    def test_refuses_what_is_no_share(self):
        with pytest.raises(ValueError, match="between 0 and 1"):
            usage(np.array([[1.5]]), np.zeros(1, dtype=int), n_systems=1)
        with pytest.raises(ValueError, match="a row for each message"):
            usage(np.ones((2, 1)), np.zeros(1, dtype=int), n_systems=1)
