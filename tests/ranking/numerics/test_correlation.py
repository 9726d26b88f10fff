"""Correlations: the published table, peers, properties and what is too little."""

import csv

import numpy as np
import pytest
import scipy

from ranking.numerics.correlation import TooFewError, pearson, spearman
from tests.helpers.datasets import shared_file
from tests.ranking.numerics import peers


def published(*names):
    text = shared_file("heart-published-leaderboard.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    known = [row for row in rows if all(row[name] for name in names)]
    return tuple(np.array([float(row[name]) for row in known]) for name in names)


class TestPublishedTable:
    def test_elo_goes_with_the_index(self):
        elo, index = published("elo", "aa_index")

        found = pearson(elo, index, level=0.95)

        assert found.coefficient == pytest.approx(0.704, abs=5e-4)
        assert (found.low, found.high) == pytest.approx((0.30, 0.89), abs=0.005)
        assert found.p_value == pytest.approx(0.0034, abs=1e-4)
        assert found.n == 15
        assert spearman(elo, index, level=0.95).coefficient == pytest.approx(0.734, abs=5e-4)


class TestPeers:
    def test_pearson_is_the_slope_of_standardised_figures(self, rng):
        x = rng.normal(size=30)
        y = 0.6 * x + rng.normal(size=30)

        found = pearson(x, y, level=0.9)

        peer = peers.OLS(scipy.stats.zscore(y), peers.add_constant(scipy.stats.zscore(x))).fit()
        assert found.coefficient == pytest.approx(peer.params[1], abs=1e-10)
        assert found.p_value == pytest.approx(peer.pvalues[1], abs=1e-10)
        assert found.low < found.coefficient < found.high

    def test_spearman_is_pearson_of_ranks(self, rng):
        x = rng.integers(0, 8, 25).astype(float)
        y = x + rng.normal(size=25)

        found = spearman(x, y, level=0.95)

        ranks = pearson(scipy.stats.rankdata(x), scipy.stats.rankdata(y), level=0.95)
        assert found.coefficient == pytest.approx(ranks.coefficient, abs=1e-12)
        assert found.low < ranks.low  # ranks vary more than normal figures would

    def test_intervals_hold_as_often_as_they_say(self, rng):
        draws = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=(400, 25))

        held = [
            found.low <= 0.5 <= found.high
            for found in (pearson(one[:, 0], one[:, 1], level=0.95) for one in draws)
        ]

        assert 0.92 <= np.mean(held) <= 0.98


class TestProperties:
    @pytest.mark.parametrize("correlate", [pearson, spearman], ids=["pearson", "spearman"])
    def test_units_do_not_matter_and_a_sign_turns_it(self, correlate, rng):
        x, y = rng.normal(size=(2, 12))

        found = correlate(x, y, level=0.95)

        assert correlate(3 * x + 7, y, level=0.95).coefficient == pytest.approx(found.coefficient)
        turned = correlate(-x, y, level=0.95)
        assert turned.coefficient == pytest.approx(-found.coefficient)
        assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))

    @pytest.mark.parametrize("correlate", [pearson, spearman], ids=["pearson", "spearman"])
    def test_what_is_not_known_is_left_out(self, correlate, rng):
        x, y = rng.normal(size=(2, 10))
        gaps = np.append(x, [np.nan, 1.0]), np.append(y, [1.0, np.nan])

        assert correlate(*gaps, level=0.95) == correlate(x, y, level=0.95)


class TestTooLittle:
    @pytest.mark.parametrize("correlate", [pearson, spearman], ids=["pearson", "spearman"])
    def test_is_refused(self, correlate):
        three = np.arange(3.0)
        with pytest.raises(TooFewError, match="3 have both figures, and 4 are needed"):
            correlate(three, three, level=0.95)
        with pytest.raises(TooFewError, match="the same for all"):
            correlate(np.ones(5), np.arange(5.0), level=0.95)
        with pytest.raises(ValueError, match="of one shape"):
            correlate(np.ones(5), np.arange(4.0), level=0.95)

    def test_a_perfect_order_has_an_interval_of_one_point(self):
        found = spearman(np.arange(6.0), np.arange(6.0) ** 3, level=0.95)

        assert (found.coefficient, found.low, found.high) == (1.0, 1.0, 1.0)
