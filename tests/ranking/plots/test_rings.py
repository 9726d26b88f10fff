"""Rings of radars: round, around all values, and never with a corner in the middle."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.plots.radar import RINGS, Rings, anchor, corner

VALUES = st.lists(st.floats(-1e5, 1e5, allow_nan=False), min_size=1, max_size=20)


class TestRings:
    def test_are_round_numbers_of_points(self):
        rings = Rings.around([1478.0, 1561.0], least=5.0)

        assert rings == Rings(1400.0, 50.0)
        assert rings.values == (1450.0, 1500.0, 1550.0, 1600.0)

    def test_of_one_value_are_the_least_apart(self):
        assert Rings.around([1500.0], least=5.0) == Rings(1495.0, 5.0)

    def test_of_shares_are_round_in_spite_of_rounding_of_machines(self):
        assert Rings.around([0.3, 0.55], least=0.05).values == (0.3, 0.4, 0.5, 0.6)

    @settings(max_examples=200)
    @given(values=VALUES)
    def test_hold_all_values_and_none_in_the_middle(self, values):
        rings = Rings.around(values, least=5.0)

        reaches = [rings.reach(value) for value in values]
        assert min(reaches) >= 1.0 / RINGS - 1e-6
        assert max(reaches) <= 1.0 + 1e-6

    def test_reach_grows_with_the_value_in_proportion(self):
        rings = Rings(1400.0, 50.0)

        assert [rings.reach(one) for one in (1400.0, 1500.0, 1600.0)] == [0.0, 0.5, 1.0]


class TestCorner:
    def test_begins_upwards_and_goes_clockwise(self):
        places = [corner(place, 4, 2.0) for place in range(4)]

        assert places == [
            pytest.approx(one, abs=1e-12) for one in ((0, -2), (2, 0), (0, 2), (-2, 0))
        ]

    @pytest.mark.parametrize("n", [3, 5, 8])
    def test_is_as_far_from_the_middle_on_every_axis(self, n):
        assert {round(math.hypot(*corner(place, n, 0.7)), 12) for place in range(n)} == {0.7}

    def test_words_stand_away_from_the_middle(self):
        assert [anchor(corner(place, 4, 1.0)[0]) for place in range(4)] == [
            "middle",
            "start",
            "middle",
            "end",
        ]
