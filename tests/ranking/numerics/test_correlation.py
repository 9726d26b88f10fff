"""Correlations and agreement of orders: the published table, peers, properties, too little."""

import numpy as np
import pytest
import scipy

from access.later import call_of
from ranking.numerics.correlation import (
    TooFewError,
    order_agreement,
    pearson,
    resampled_kendall,
    spearman,
    unit_pearson,
    unit_spearman,
)
from ranking.numerics.few_units import expanded_intervals
from ranking.numerics.refits import draw_units
from tests.ranking.numerics import peers
from tests.ranking.numerics.helpers import published

PLAIN = pytest.mark.parametrize("correlate", [pearson, spearman])


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

    def test_intervals_of_the_ranks_of_five_hold_where_they_go_together(self, rng):
        """Of 200 studies those with one order in both have an interval as well."""
        draws = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], size=(200, 5))
        true = 6 / np.pi * np.arcsin(0.9 / 2)

        found = [spearman(*one.T, level=0.95) for one in draws]

        assert np.mean([one.low <= true <= one.high for one in found]) >= 0.92

    def test_p_value_of_few_ranks_is_over_all_orders(self):
        x, y = np.array([1.0, 2.0, 2.0, 4.0, 5.0, 6.0]), np.array([2.0, 1.0, 3.0, 6.0, 3.0, 7.0])

        peer = scipy.stats.permutation_test(
            (x,),
            lambda one: scipy.stats.spearmanr(one, y).statistic,
            permutation_type="pairings",
            n_resamples=1000,  # of 720 that there are
        )
        assert spearman(x, y, level=0.95).p_value == pytest.approx(peer.pvalue, abs=1e-12)


class TestProperties:
    @PLAIN
    def test_units_do_not_matter_and_a_sign_turns_it(self, correlate, rng):
        x, y = rng.normal(size=(2, 12))

        found = correlate(x, y, level=0.95)

        assert correlate(3 * x + 7, y, level=0.95).coefficient == pytest.approx(found.coefficient)
        turned = correlate(-x, y, level=0.95)
        assert turned.coefficient == pytest.approx(-found.coefficient)
        assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))

    @PLAIN
    def test_what_is_not_known_is_left_out(self, correlate, rng):
        x, y = rng.normal(size=(2, 10))
        gaps = np.append(x, [np.nan, 1.0]), np.append(y, [1.0, np.nan])

        assert correlate(*gaps, level=0.95) == correlate(x, y, level=0.95)


class TestTooLittle:
    @PLAIN
    @pytest.mark.parametrize(
        ("x", "y", "error", "message"),
        [
            (np.arange(3.0), np.arange(3.0), TooFewError, "3 have both figures, and 4 are needed"),
            (np.ones(5), np.arange(5.0), TooFewError, "the same for all"),
            (np.ones(5), np.arange(4.0), ValueError, "of one shape"),
        ],
    )
    def test_is_refused(self, correlate, x, y, error, message):
        with pytest.raises(error, match=message):
            correlate(x, y, level=0.95)

    @pytest.mark.parametrize(("n", "p_value"), [(4, 2 / 24), (6, 2 / 720)])
    def test_a_perfect_order_may_be_chance(self, n, p_value):
        """Of all orders two go together as much: the same one and its reverse."""
        found = spearman(np.arange(n) * 1.0, np.arange(n) ** 3.0, level=0.95)

        assert (found.coefficient, found.high) == (1.0, 1.0)
        assert found.p_value == pytest.approx(p_value)
        assert (found.low > 0.0) == (p_value < 0.05)


class TestOrderAgreement:
    @pytest.mark.parametrize(
        ("x", "y", "kendall", "spearman"),
        [
            ([1, 2, 3], [1, 3, 2], 1 / 3, 0.5),  # of three pairs two are in the same order
            ([1, 2, np.nan, 4], [1, 2, 3, 9], 1, 1),
        ],
        ids=["by hand", "what is in one order only is left out"],
    )
    def test_comes_out(self, x, y, kendall, spearman):
        found = order_agreement(np.array(x, dtype=float), np.array(y, dtype=float))

        assert (found.kendall, found.spearman) == pytest.approx((kendall, spearman))
        assert found.n == 3

    @pytest.mark.parametrize(
        ("x", "y", "error"),
        [
            ([1, 2], [2, 1], TooFewError),
            ([1, 1, 1], [1, 2, 3], TooFewError),
            ([1, 2, np.nan], [1, 2, 3], TooFewError),
            ([], [], TooFewError),
            ([1, 1, 1], [1, 1, 1, 1], ValueError),
        ],
        ids=["two", "ties", "two known", "nothing", "different systems"],
    )
    def test_refuses_too_little(self, x, y, error):
        with pytest.raises(error):
            order_agreement(np.array(x, dtype=float), np.array(y, dtype=float))


class TestResampledKendall:
    def test_agrees_with_scipy_row_by_row(self, rng):
        x, y = rng.integers(0, 6, (150, 8)).astype(float), rng.normal(size=(150, 8))

        found = resampled_kendall(x, y)

        peer = [scipy.stats.kendalltau(*rows).statistic for rows in zip(x, y, strict=True)]
        assert found == pytest.approx(peer, nan_ok=True)

    def test_a_row_of_ties_or_gaps_has_none(self):
        x = np.array([[1.0, 1.0, 1.0], [1.0, np.nan, 2.0], [1.0, 2.0, 3.0]])

        found = resampled_kendall(x, np.array([[1.0, 2.0, 3.0]] * 3))

        assert np.isnan(found[:2]).all()
        assert found[2] == pytest.approx(1)


def figures(rng, n_units=40):
    """Two figures of five messages a dialogue, with a part that the dialogue shares."""
    unit = np.repeat(np.arange(n_units), 5)
    shared = rng.normal(size=n_units)[unit]
    x = shared + rng.normal(size=len(unit))
    return x, np.round(0.5 * x + shared + rng.normal(size=len(unit)), 1), unit


def found_by(correlate, x, y, unit):
    return correlate(x, y, unit, n_replicates=200, rng=np.random.default_rng(3))


@pytest.mark.parametrize(
    ("correlate", "peer"),
    [
        (unit_pearson, call_of("scipy.stats.pearsonr")),
        (unit_spearman, call_of("scipy.stats.spearmanr")),
    ],
)
class TestBoth:
    def test_the_coefficient_is_scipys_whatever_dialogues_are_called(self, correlate, peer, rng):
        x, y, unit = figures(rng)

        found = found_by(correlate, x, y, unit)

        assert found.coefficient == pytest.approx(peer(x, y).statistic, abs=1e-12)
        assert (found.n, found.n_units) == (200, 40)
        assert found_by(correlate, x, y, 7 * unit + 100) == found
        assert found_by(correlate, y, x, unit).coefficient == pytest.approx(found.coefficient)

    def test_the_interval_is_that_of_the_samples_written_out(self, correlate, peer, rng):
        x, y, unit = figures(rng, n_units=25)

        found = found_by(correlate, x, y, unit)

        resampled = []
        for times in draw_units(25, 200, np.random.default_rng(3)):
            rows = np.repeat(np.arange(len(x)), times[unit].astype(int))
            resampled.append(peer(x[rows], y[rows]).statistic)
        reach = expanded_intervals(
            np.array([found.coefficient]), np.array(resampled)[:, None], n_units=25
        )
        assert (found.low, found.high) == pytest.approx((reach.low[0], reach.high[0]), abs=1e-10)

    def test_leaves_out_what_only_one_scored(self, correlate, peer, rng):
        x, y, unit = figures(rng)
        x[:3], y[10] = np.nan, np.nan

        found = found_by(correlate, x, y, unit)

        known = np.isfinite(x) & np.isfinite(y)
        assert found.n == 196
        assert found.coefficient == pytest.approx(peer(x[known], y[known]).statistic)


@pytest.mark.parametrize("correlate", [unit_pearson, unit_spearman])
class TestEither:
    def test_what_is_the_same_is_one(self, correlate, rng):
        x, _, unit = figures(rng)

        found = found_by(correlate, x, 2 * x + 1, unit)

        assert (found.coefficient, found.low, found.high) == pytest.approx((1, 1, 1))

    @pytest.mark.parametrize(
        ("x", "unit"),
        [
            ([1, 2, 3], [0, 1, 2]),
            ([1, 2, 3, 4], [0, 0, 0, 0]),
            ([1, 1, 1, 1], [0, 1, 2, 3]),
            ([], []),
        ],
    )
    def test_refuses_too_little(self, correlate, x, unit):
        figure = np.array(x, dtype=float)
        with pytest.raises(TooFewError):
            found_by(correlate, figure, np.arange(len(x), dtype=float), np.array(unit, dtype=int))


class TestCoverageOverUnits:
    def test_of_pearsons_interval_with_dialogues_that_share(self):
        """300 planted studies of 60 dialogues: x and y share 0.5 by dialogue and by message."""
        rng, held = np.random.default_rng(8), 0
        for _ in range(300):
            unit = np.repeat(np.arange(60), 5)
            whole = rng.normal(size=(2, 60))[:, unit] + rng.normal(size=(2, 300))
            x, y = whole[0], whole[0] / 2 + whole[1]
            truth = 1 / np.sqrt(2 * 2.5)  # covariance 1, variances 2 and 2.5
            found = unit_pearson(x, y, unit, n_replicates=300, rng=rng)
            held += found.low <= truth <= found.high
        assert 0.91 <= held / 300 <= 0.98
