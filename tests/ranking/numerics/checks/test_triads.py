"""Circles of three, counted and expected."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking.numerics.checks.triads import circular_triads, expected_circles


def tournament(n: int, seed: int) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).integers(0, 2, size=(n, n)), 1)
    return upper + np.tril(1 - upper.T, -1)


class TestCircularTriads:
    def test_none_in_a_perfect_order(self):
        found = circular_triads(np.triu(np.ones((6, 6)), 1))

        assert (found.n_decided, found.n_circular, found.consistence) == (20, 0, 1.0)

    def test_one_in_a_circle_of_three(self):
        found = circular_triads(np.array([[0, 5, 0], [0, 0, 5], [5, 0, 0]]))

        assert (found.n_decided, found.n_circular, found.consistence) == (1, 1, 0.0)

    @pytest.mark.parametrize(("n", "most"), [(5, 5), (7, 14), (9, 30)])
    def test_as_many_as_there_can_be_make_the_consistence_0(self, n, most):
        """Each beats the next half: Kendall & Babington Smith (1940), (K^3 - K) / 24 circles."""
        ahead = (np.arange(n)[None, :] - np.arange(n)[:, None]) % n
        found = circular_triads((ahead > 0) & (ahead <= n // 2))

        assert (found.n_circular, found.consistence) == (most, 0.0)

    @given(st.integers(3, 8), st.integers(0, 10_000))
    def test_are_those_of_the_formula_by_the_numbers_of_wins(self, n, seed):
        """d = K(K-1)(K-2)/6 - sum a(a-1)/2, Kendall & Babington Smith (1940)."""
        beats = tournament(n, seed)
        a = beats.sum(axis=1)

        expected = n * (n - 1) * (n - 2) / 6 - (a * (a - 1) / 2).sum()

        assert circular_triads(beats).n_circular == expected

    def test_pairs_that_are_not_decided_make_no_circle_and_no_coefficient(self):
        wins = np.array([[0, 5, 2], [0, 0, 5], [2, 0, 0]])

        found = circular_triads(wins)

        assert (found.n_decided, found.n_circular, found.consistence) == (0, 0, None)

    def test_two_systems_have_none(self):
        assert circular_triads(np.array([[0, 2], [1, 0]])).consistence is None

    @pytest.mark.parametrize("wins", [np.ones((2, 3)), -np.ones((3, 3)), np.ones(3)], ids=str)
    def test_refuse_other_arrays(self, wins):
        with pytest.raises(ValueError, match="wins must be"):
            circular_triads(wins)


class TestExpectedCircles:
    def test_coins_make_a_quarter_of_all_threes(self):
        assert expected_circles(np.full((6, 6), 0.5)) == pytest.approx(20 / 4)

    @given(st.integers(0, 1000))
    def test_are_the_sum_over_all_threes(self, seed):
        p = np.triu(np.random.default_rng(seed).uniform(size=(5, 5)), 1)
        p += np.tril(1 - p.T, -1)

        by_hand = sum(
            p[a, b] * p[b, c] * p[c, a] + p[b, a] * p[c, b] * p[a, c]
            for a, b, c in itertools.combinations(range(5), 3)
        )

        assert expected_circles(p) == pytest.approx(by_hand)
