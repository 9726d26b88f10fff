"""Halves of the evaluators."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking.numerics.best_of import draw_halves


class TestDrawHalves:
    @given(st.lists(st.integers(0, 2), min_size=2, max_size=12), st.integers(0, 1000))
    def test_are_even_in_all_and_in_each_stratum(self, strata, seed):
        halves = draw_halves(np.array(strata), n_splits=3, rng=np.random.default_rng(seed))

        assert halves.shape == (3, len(strata))
        for among in (np.array(strata) >= 0, *(np.array(strata) == one for one in set(strata))):
            assert (np.abs(2 * halves[:, among].sum(axis=1) - among.sum()) <= 1).all()

    def test_put_every_two_together_and_apart(self, rng):
        halves = draw_halves(np.zeros(5, int), n_splits=200, rng=rng)

        together = (halves[:, :, None] == halves[:, None, :]).mean(axis=0)
        assert together[np.triu_indices(5, 1)] == pytest.approx(0.4, abs=0.15)

    def test_follow_from_the_generator(self):
        one, other = (
            draw_halves(np.zeros(9, int), n_splits=4, rng=np.random.default_rng(seed))
            for seed in (1, 1)
        )

        assert (one == other).all()

    @pytest.mark.parametrize(("n_evaluators", "n_splits"), [(0, 1), (1, 1), (2, 0)])
    def test_are_refused_where_there_are_none(self, n_evaluators, n_splits, rng):
        with pytest.raises(ValueError, match="cannot split"):
            draw_halves(np.zeros(n_evaluators, int), n_splits=n_splits, rng=rng)
