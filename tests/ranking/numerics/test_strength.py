"""Soft scores against the table of the protocol, and what must hold for any strengths."""

from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking.numerics.strength import grade_to_strength, shares
from ranking.numerics.strength_mode import StrengthMode

strengths = st.lists(st.integers(-5, 5), min_size=1, max_size=50).map(np.array)
modes = st.sampled_from(StrengthMode)


class TestShares:
    def test_soft_scores_are_those_of_the_protocol(self):
        split = shares(np.array([1, 2, 3, 4, 5, 0]), StrengthMode.SOFT)

        assert split.first.tolist() == [0.55, 0.65, 0.75, 0.85, 0.95, 0.5]
        assert split.second.tolist() == [0.45, 0.35, 0.25, 0.15, 0.05, 0.5]

    def test_multiply_counts_a_win_as_often_as_its_strength(self):
        split = shares(np.array([1, -5, 0]), StrengthMode.MULTIPLY)

        assert split.first.tolist() == [1.0, 0.0, 0.5]
        assert split.second.tolist() == [0.0, 5.0, 0.5]

    def test_ignore_counts_a_win_once(self):
        split = shares(np.array([4, -2, 0]), StrengthMode.IGNORE)

        assert split.first.tolist() == [1.0, 0.0, 0.5]
        assert split.second.tolist() == [0.0, 1.0, 0.5]

    @given(strengths, modes)
    def test_swapping_the_sides_swaps_the_shares(self, values, mode):
        there, back = shares(values, mode), shares(-values, mode)

        np.testing.assert_array_equal(there.first, back.second)
        np.testing.assert_array_equal(there.second, back.first)

    @given(strengths)
    def test_a_soft_judgment_weighs_one_and_gives_each_side_something(self, values):
        split = shares(values, StrengthMode.SOFT)

        np.testing.assert_allclose(split.first + split.second, 1.0, rtol=0, atol=1e-15)
        assert min(split.first.min(), split.second.min()) >= 0.05

    def test_no_judgments_give_no_shares(self):
        assert shares(np.array([], dtype=int), StrengthMode.SOFT).first.size == 0

    @pytest.mark.parametrize("strength", [-6, 6])
    def test_refuses_a_strength_off_the_scale(self, strength):
        with pytest.raises(ValueError, match="-5 and 5"):
            shares(np.array([strength]), StrengthMode.SOFT)

    def test_refuses_a_mode_it_does_not_know(self):
        with pytest.raises(ValueError, match="halve"):
            shares(np.array([1]), cast("StrengthMode", "halve"))


class TestGradeToStrength:
    def test_takes_slightly_and_much_from_its_caller(self):
        grades = np.array([-2, -1, 0, 1, 2])

        assert grade_to_strength(grades, slightly=2, much=4).tolist() == [-4, -2, 0, 2, 4]
        assert grade_to_strength(grades, slightly=1, much=5).tolist() == [-5, -1, 0, 1, 5]

    @pytest.mark.parametrize(("slightly", "much"), [(0, 4), (2, 6), (4, 2)])
    def test_refuses_strengths_out_of_range_or_order(self, slightly, much):
        with pytest.raises(ValueError, match="slightly"):
            grade_to_strength(np.array([1]), slightly=slightly, much=much)

    def test_refuses_a_grade_off_the_scale(self):
        with pytest.raises(ValueError, match="-2 and 2"):
            grade_to_strength(np.array([3]), slightly=2, much=4)
