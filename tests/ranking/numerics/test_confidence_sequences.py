"""Intervals that may be looked at any time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.numerics.confidence_sequences import confidence_sequence, stakes


class TestStakes:
    @pytest.mark.parametrize(
        ("draw", "mean"),
        [
            (lambda rng, n: rng.integers(0, 2, n).astype(float), 0.5),
            (lambda rng, n: rng.beta(0.5, 2.0, n), 0.2),
            (lambda rng, n: (rng.random(n) < 0.05).astype(float), 0.05),
        ],
        ids=["coins", "skewed", "rare"],
    )
    def test_raise_a_false_alarm_in_5_per_cent_of_studies_at_most_over_1000_looks(self, draw, mean):
        rng = np.random.default_rng(11)

        alarms = [stakes(draw(rng, 1000), mean).max() >= 20.0 for _ in range(200)]

        assert np.mean(alarms) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 1000)

    def test_are_1_on_average_under_the_true_mean(self):
        """A martingale: exactly so, over all 2**8 outcomes of coins."""
        outcomes = (np.arange(256)[:, None] >> np.arange(8)) & 1

        grown = [stakes(one.astype(float), 0.5)[-1] for one in outcomes]

        assert np.mean(grown) == pytest.approx(1.0)

    def test_grow_where_the_mean_is_another(self):
        rng = np.random.default_rng(12)

        assert stakes(rng.binomial(1, 0.7, 400).astype(float), 0.5)[-1] > 20


class TestConfidenceSequence:
    def test_has_ruled_out_what_the_stakes_have(self):
        values = np.random.default_rng(13).binomial(1, 0.7, 200).astype(float)

        found = confidence_sequence(values)

        for mean in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9):
            if not found.low[-1] < mean < found.high[-1]:
                assert stakes(values, mean).max() >= 20.0
            elif found.low[-1] + 0.002 < mean < found.high[-1] - 0.002:
                assert stakes(values, mean).max() < 20.0

    @settings(max_examples=10, deadline=None)
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
