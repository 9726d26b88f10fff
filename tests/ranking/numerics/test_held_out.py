"""Strengths that a rater's own answers had no part in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.held_out import strengths_without_each


def answers(seed: int, n_raters: int = 4, n_systems: int = 3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    wins = rng.integers(1, 9, size=(n_raters, n_systems, n_systems)).astype(float)
    wins[:, np.arange(n_systems), np.arange(n_systems)] = 0
    return wins


class TestStrengthsWithoutEach:
    def test_of_two_systems_are_the_log_odds_of_the_others_wins(self):
        """By hand: without the first rater 6 wins to 2, without the second 1 to 3."""
        wins = np.array([[[0.0, 1.0], [3.0, 0.0]], [[0.0, 6.0], [2.0, 0.0]]])

        strengths = strengths_without_each(wins)

        difference = strengths[:, 0] - strengths[:, 1]
        assert difference == pytest.approx([np.log(6 / 2), np.log(1 / 3)])

    @given(st.integers(0, 1000))
    def test_are_those_of_a_fit_of_the_others(self, seed):
        wins = answers(seed)

        strengths = strengths_without_each(wins)

        for rater in range(len(wins)):
            others = np.delete(wins, rater, axis=0).sum(axis=0)
            assert strengths[rater] == pytest.approx(
                fit_bradley_terry(others).log_strengths, abs=1e-7
            )

    @given(st.permutations(range(4)))
    def test_do_not_depend_on_the_order_of_the_raters(self, order):
        wins = answers(1)

        assert strengths_without_each(wins[order]) == pytest.approx(
            strengths_without_each(wins)[order]
        )

    def test_are_not_a_number_where_the_others_connect_nothing(self):
        wins = np.array([[[0.0, 1.0], [1.0, 0.0]], [[0.0, 2.0], [0.0, 0.0]]])

        strengths = strengths_without_each(wins)

        assert np.isnan(strengths[0]).all()
        assert np.isfinite(strengths[1]).all()

    def test_are_refused_when_all_answers_connect_nothing(self):
        with pytest.raises(NotConnectedError):
            strengths_without_each(np.array([[[0.0, 1.0], [0.0, 0.0]]]))

    def test_of_nobody_are_none(self):
        assert strengths_without_each(np.empty((0, 3, 3))).shape == (0, 3)

    @pytest.mark.parametrize(
        "wins", [np.ones((2, 2)), np.ones((2, 2, 3)), -np.ones((1, 2, 2))], ids=str
    )
    def test_are_refused_for_arrays_of_another_shape_or_sign(self, wins):
        with pytest.raises(ValueError, match=r"wins must be|shape"):
            strengths_without_each(wins)
