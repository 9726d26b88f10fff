"""One more system among rated ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.placement import place_among

NONE = np.zeros((1, 2))


class TestPlaceAmong:
    def test_against_one_system_is_the_log_odds_of_the_wins(self):
        """By hand: 3 wins to 1 against a system at 0.5."""
        placed = place_among(np.array([[3.0]]), np.array([[1.0]]), np.array([[0.5]]))

        assert placed == pytest.approx([0.5 + np.log(3.0)])

    @given(st.integers(0, 1000))
    def test_puts_a_system_where_the_joint_fit_has_it(self, seed):
        wins = np.random.default_rng(seed).integers(1, 9, size=(4, 4)).astype(float)
        np.fill_diagonal(wins, 0.0)
        strengths = fit_bradley_terry(wins).log_strengths

        placed = place_among(wins[None, 0, 1:], wins[None, 1:, 0], strengths[None, 1:])

        assert placed == pytest.approx(strengths[:1], abs=1e-7)

    def test_moves_along_with_the_strengths(self):
        wins, losses = np.array([[3.0, 1.0]]), np.array([[2.0, 2.0]])
        strengths = np.array([[0.2, -0.4]])

        moved = place_among(wins, losses, strengths + 5.0)

        assert moved == pytest.approx(place_among(wins, losses, strengths) + 5.0)

    @pytest.mark.parametrize(
        ("wins", "losses", "strengths"),
        [
            (NONE, NONE, NONE),
            (NONE + 1.0, NONE, NONE),
            (NONE, NONE + 1.0, NONE),
            (NONE + 1.0, NONE + 1.0, NONE + np.nan),
        ],
        ids=["nothing", "all won", "all lost", "no strengths"],
    )
    def test_is_not_a_number_without_a_maximum(self, wins, losses, strengths):
        assert np.isnan(place_among(wins, losses, strengths)).all()

    @pytest.mark.parametrize(
        ("wins", "losses"),
        [(np.ones((1, 3)), np.ones((1, 2))), (NONE - 1.0, NONE), (NONE + np.inf, NONE)],
        ids=["another shape", "negative", "infinite"],
    )
    def test_refuses_what_are_no_weights(self, wins, losses):
        with pytest.raises(ValueError, match=r"shape|finite"):
            place_among(wins, losses, NONE)
