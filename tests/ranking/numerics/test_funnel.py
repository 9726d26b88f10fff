"""Control limits of funnels, and intervals that may be looked at any time."""

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.numerics.intervals import (
    LARGEST_BET,
    confidence_sequence,
    control_limits,
    dispersion,
)

N = np.array([10.0, 40.0, 1000.0])


class TestControlLimits:
    def test_are_those_of_a_share_by_hand(self):
        limits = control_limits(np.array([100.0]), centre=0.8, variance=0.8 * 0.2, level=0.95)

        assert limits.low == pytest.approx(0.8 - 1.959964 * 0.04)
        assert limits.high == pytest.approx(0.8 + 1.959964 * 0.04)

    @pytest.mark.parametrize("level", [0.95, 0.998])
    def test_agree_with_the_intervals_of_scipy(self, level):
        limits = control_limits(N, centre=-0.1, variance=0.2, level=level)

        scale = np.sqrt(0.2 / N)
        low, high = scipy.stats.norm.interval(level, loc=-0.1, scale=scale)
        assert limits.low == pytest.approx(low, rel=1e-9)
        assert limits.high == pytest.approx(high, rel=1e-9)

    @settings(max_examples=50)
    @given(n=st.floats(1.0, 1e6), level=st.floats(0.5, 0.999), factor=st.floats(1.1, 50.0))
    def test_narrow_with_more_and_widen_with_the_level(self, n, level, factor):
        def reach(n, level):
            limits = control_limits(np.array([n]), centre=0.0, variance=1.0, level=level)
            assert limits.high[0] == -limits.low[0]
            return limits.high[0]

        assert reach(n * factor, level) == pytest.approx(reach(n, level) / np.sqrt(factor))
        assert reach(n, 0.9995) > reach(n, level)

    @pytest.mark.parametrize(
        "wrong",
        [{"n": np.array([0.0])}, {"variance": -1.0}, {"level": 1.0}],
        ids=lambda one: next(iter(one)),
    )
    def test_refuse_what_makes_no_sense(self, wrong):
        given = {"n": N, "centre": 0.0, "variance": 1.0, "level": 0.95} | wrong
        with pytest.raises(ValueError, match=r"must be|level"):
            control_limits(given.pop("n"), **given)


class TestDispersion:
    @pytest.mark.parametrize(
        ("scores", "found"),
        [([1.0, -2.0, 3.0], 14 / 3), ([0.0] * 10, 1.0), ([], 1.0)],
        ids=["the mean square by hand", "chance explains all", "nothing is known"],
    )
    def test_is_the_mean_square_and_at_least_one(self, scores, found):
        assert dispersion(np.array(scores), winsorised=0.0) == pytest.approx(found)

    def test_agrees_with_the_winsorising_of_scipy(self):
        scores = np.random.default_rng(1).standard_t(3, size=137) * 2.0

        peer = np.asarray(scipy.stats.mstats.winsorize(scores, limits=(0.1, 0.1)))
        assert dispersion(scores) == pytest.approx(np.mean(peer**2))

    def test_makes_limits_hold_where_estimates_vary_more_than_chance(self):
        rng = np.random.default_rng(3)
        n = rng.integers(50, 500, size=4_000)
        true = 0.7 + np.sqrt(2.0 * 0.21 / n) * rng.standard_normal(len(n))  # dispersion 3
        share = rng.binomial(n, np.clip(true, 0.0, 1.0)) / n
        found = dispersion((share - 0.7) / np.sqrt(0.21 / n), winsorised=0.0)

        assert found == pytest.approx(3.0, rel=0.1)
        limits = control_limits(n.astype(float), centre=0.7, variance=0.21 * found, level=0.95)
        held = ((share >= limits.low) & (share <= limits.high)).mean()
        assert held == pytest.approx(0.95, abs=0.01)

    @pytest.mark.parametrize(
        ("scores", "winsorised"), [([np.nan], 0.1), ([1.0], 0.5), ([1.0], -0.1)]
    )
    def test_refuses_what_makes_no_sense(self, scores, winsorised):
        with pytest.raises(ValueError, match="must be finite"):
            dispersion(np.array(scores), winsorised=winsorised)


def stakes(values, mean):
    """What stakes against means have grown to after each value, written out bet by bet."""
    above = below = 0.5
    seen, squares, spread, grown = 0.5, 0.25, 0.25, []
    for t, value in enumerate(values, start=1):
        bet = np.sqrt(2 * np.log(2 / 0.05) / (spread * t * np.log(t + 1)))
        above = above * (1 + np.minimum(bet, LARGEST_BET / mean) * (value - mean))
        below = below * (1 - np.minimum(bet, LARGEST_BET / (1 - mean)) * (value - mean))
        grown.append(above + below)
        seen += value
        squares += (value - seen / (t + 1)) ** 2
        spread = squares / (t + 1)
    return np.array(grown)


class TestConfidenceSequence:
    @pytest.mark.parametrize(
        ("draw", "mean"),
        [
            (lambda rng, n: rng.integers(0, 2, n).astype(float), 0.5),
            (lambda rng, n: rng.beta(0.5, 2.0, n), 0.2),
            (lambda rng, n: (rng.random(n) < 0.05).astype(float), 0.05),
        ],
        ids=["coins", "skewed", "rare"],
    )
    @pytest.mark.parametrize(
        ("n_looks", "n_studies"), [(100, 100), pytest.param(1000, 200, marks=pytest.mark.full)]
    )
    def test_raises_a_false_alarm_in_5_per_cent_of_studies_at_most_however_often_one_looks(
        self, draw, mean, n_looks, n_studies
    ):
        rng = np.random.default_rng(11)

        ends = [confidence_sequence(draw(rng, n_looks)) for _ in range(n_studies)]

        missed = [not found.low[-1] <= mean <= found.high[-1] for found in ends]
        assert np.mean(missed) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 1000)

    @pytest.mark.parametrize("level", [0.5, 0.8])
    def test_rules_the_mean_of_coins_out_in_no_more_of_all_outcomes_than_the_level_allows(
        self, level
    ):
        """The stakes are a martingale: exactly so, over all 2**8 outcomes of coins."""
        outcomes = (np.arange(256)[:, None] >> np.arange(8)) & 1

        ends = [confidence_sequence(one.astype(float), level=level) for one in outcomes]

        missed = [not found.low[-1] <= 0.5 <= found.high[-1] for found in ends]
        assert 0.0 < np.mean(missed) <= 1.0 - level

    def test_has_ruled_out_what_the_stakes_have(self):
        values = np.random.default_rng(13).binomial(1, 0.7, 200).astype(float)

        found = confidence_sequence(values)

        grid = np.arange(1, 1000) / 1000
        is_left = np.maximum.accumulate(stakes(values, grid)) < 20.0
        # Ends are a step of the grid further out.
        low, high = (np.array([end(grid[one]) for one in is_left]) for end in (np.min, np.max))
        assert found.low == pytest.approx(low - 0.001)
        assert found.high == pytest.approx(high + 0.001)

    @settings(max_examples=10)
    @given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
    def test_only_narrows_and_never_crosses(self, values):
        found = confidence_sequence(np.array(values))

        assert (np.diff(found.low) >= 0).all()
        assert (np.diff(found.high) <= 0).all()
        assert (found.low <= found.high).all()

    def test_turns_round_with_the_values(self):
        values = np.random.default_rng(14).random(100)

        one, other = confidence_sequence(values), confidence_sequence(1 - values)

        assert one.low == pytest.approx(1 - other.high)
        assert one.high == pytest.approx(1 - other.low)

    def test_narrows_towards_the_mean(self):
        values = np.random.default_rng(15).beta(6, 4, 2000)

        found = confidence_sequence(values)

        assert found.low[-1] < 0.6 < found.high[-1]
        assert found.high[-1] - found.low[-1] < 0.06

    def test_knows_nothing_before_the_first_value(self):
        found = confidence_sequence(np.empty(0))

        assert found.low.shape == found.high.shape == (0,)

    @pytest.mark.parametrize("values", [[1.2], [-0.1], [np.nan], [[0.5]]], ids=str)
    def test_refuses_values_that_are_no_shares(self, values):
        with pytest.raises(ValueError, match="between 0 and 1"):
            confidence_sequence(np.array(values))
