"""Soft scores against the table of the protocol, and the Elo scale."""

from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ranking.numerics.elo import paper_standard_errors, to_elo
from ranking.numerics.strength import grade_to_strength, shares
from ranking.numerics.strength_mode import StrengthMode

strengths = st.lists(st.integers(-5, 5), min_size=1, max_size=50).map(np.array)
modes = st.sampled_from(StrengthMode)


class TestShares:
    @pytest.mark.parametrize(
        ("mode", "first", "second"),
        [
            (
                StrengthMode.SOFT,
                [0.55, 0.65, 0.85, 0.95, 0.5, 0.25],
                [0.45, 0.35, 0.15, 0.05, 0.5, 0.75],
            ),
            (StrengthMode.MULTIPLY, [1, 2, 4, 5, 0.5, 0], [0, 0, 0, 0, 0.5, 3]),
            (StrengthMode.IGNORE, [1, 1, 1, 1, 0.5, 0], [0, 0, 0, 0, 0.5, 1]),
        ],
    )
    def test_are_those_of_the_protocol(self, mode, first, second):
        split = shares(np.array([1, 2, 4, 5, 0, -3]), mode)

        assert (split.first.tolist(), split.second.tolist()) == (first, second)

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

    @pytest.mark.parametrize(
        ("strength", "mode", "message"),
        [
            (-6, StrengthMode.SOFT, "-5 and 5"),
            (6, StrengthMode.SOFT, "-5 and 5"),
            (1, cast("StrengthMode", "halve"), "halve"),
        ],
    )
    def test_refuse_what_is_not_on_the_scale(self, strength, mode, message):
        with pytest.raises(ValueError, match=message):
            shares(np.array([strength]), mode)


class TestGradeToStrength:
    def test_takes_slightly_and_much_from_its_caller(self):
        grades = np.array([-2, -1, 0, 1, 2])

        assert grade_to_strength(grades, slightly=2, much=4).tolist() == [-4, -2, 0, 2, 4]
        assert grade_to_strength(grades, slightly=1, much=5).tolist() == [-5, -1, 0, 1, 5]

    @pytest.mark.parametrize(
        ("grade", "slightly", "much", "message"),
        [
            (1, 0, 4, "slightly"),
            (1, 2, 6, "slightly"),
            (1, 4, 2, "slightly"),
            (3, 2, 4, "-2 and 2"),
        ],
    )
    def test_refuses_what_is_out_of_range_or_order(self, grade, slightly, much, message):
        with pytest.raises(ValueError, match=message):
            grade_to_strength(np.array([grade]), slightly=slightly, much=much)


thetas = hnp.arrays(float, 4, elements=st.floats(-5.0, 5.0))


class TestToElo:
    def test_ten_to_one_odds_are_400_points(self):
        ratings = to_elo(np.array([np.log(10.0), 0.0]))

        assert ratings[0] - ratings[1] == pytest.approx(400.0)

    @given(thetas, st.floats(-100.0, 100.0))
    def test_adding_a_constant_changes_nothing(self, theta, constant):
        np.testing.assert_allclose(to_elo(theta + constant), to_elo(theta), atol=1e-8)

    @given(thetas)
    def test_the_mean_is_the_centre(self, theta):
        assert to_elo(theta, centre=1000.0).mean() == pytest.approx(1000.0)

    def test_every_replicate_is_centred_on_its_own(self):
        ratings = to_elo(np.array([[1.0, 3.0], [10.0, 12.0]]))

        np.testing.assert_allclose(ratings[0], ratings[1])


class TestPaperStandardErrors:
    def test_is_one_over_the_root_of_the_comparisons(self):
        np.testing.assert_allclose(paper_standard_errors(np.array([4.0, 100.0])), [0.5, 0.1])

    def test_refuses_a_system_without_comparisons(self):
        with pytest.raises(ValueError, match="at least one"):
            paper_standard_errors(np.array([3.0, 0.0]))
