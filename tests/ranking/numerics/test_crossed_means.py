"""Means by dialogue and rater: a peer, resamples, and how often intervals hold."""

import numpy as np
import pytest

from ranking.numerics.clustered_means import TooFewDialoguesError, clustered_mean
from ranking.numerics.crossed_means import crossed_mean, resampled_means, unit_totals
from ranking.numerics.refits import draw_units
from tests.ranking.numerics import peers


def crossed(rng, *, n_dialogues=30, n_raters=15, by_dialogue=0.4, by_rater=0.5):
    """Three raters of each dialogue's message: mean 3, shared parts of dialogue and rater."""
    dialogue = np.repeat(np.arange(n_dialogues), 3)
    rater = np.concatenate([rng.choice(n_raters, 3, replace=False) for _ in range(n_dialogues)])
    shared = by_dialogue * rng.normal(size=n_dialogues)
    mildness = by_rater * rng.normal(size=n_raters)
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

    def test_one_rater_says_nothing_of_raters(self):
        with pytest.raises(TooFewDialoguesError):
            crossed_mean(np.arange(4.0), np.arange(4), np.zeros(4, dtype=np.int64))


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
        totals = unit_totals(values, system, unit, n_systems=3, n_units=8)

        found = resampled_means(totals, n_replicates=20, rng=np.random.default_rng(4))

        drawn = draw_units(8, 20, np.random.default_rng(4))
        for times, means in zip(drawn, found, strict=True):
            for one in range(3):
                weight = times[unit] * (system == one)
                assert means[one] == pytest.approx(np.average(values, weights=weight))

    def test_spreads_as_the_error_says(self, rng):
        values, dialogue, _ = crossed(rng, n_dialogues=200, by_rater=0.0)
        totals = unit_totals(values, 0 * dialogue, dialogue, n_systems=1, n_units=200)

        found = resampled_means(totals, n_replicates=4000, rng=rng)

        assert found.std() == pytest.approx(clustered_mean(values, dialogue).error, rel=0.05)

    def test_a_system_of_one_dialogue_is_not_in_every_sample(self):
        system, unit = np.array([0, 0, 1]), np.array([0, 1, 1])
        totals = unit_totals(np.array([1.0, 2.0, 5.0]), system, unit, n_systems=2, n_units=2)

        found = resampled_means(totals, n_replicates=64, rng=np.random.default_rng(1))

        assert np.isnan(found[:, 1]).any()
        assert set(found[np.isfinite(found[:, 1]), 1]) == {5.0}
