"""Shares of replicates in which one system is ahead of another."""

import numpy as np
import pytest

from ranking.numerics.pairwise import superiority


class TestSuperiority:
    def test_counts_who_is_ahead_and_splits_ties(self):
        replicates = np.array([[3.0, 1.0], [2.0, 2.0], [1.0, 2.0], [5.0, 0.0]])

        np.testing.assert_array_equal(superiority(replicates), [[0.5, 0.625], [0.375, 0.5]])

    def test_the_shares_of_a_pair_add_up_to_one(self, rng):
        found = superiority(rng.normal(size=(50, 6)))

        np.testing.assert_allclose(found + found.T, 1.0)

    def test_is_the_normal_probability_of_a_positive_difference(self, rng):
        found = superiority(rng.normal([1.0, 0.0], 2.0**-0.5, size=(20_000, 2)))

        # Phi(1) = 0.8413; 20,000 replicates know it to 0.003
        assert found[0, 1] == pytest.approx(0.8413, abs=0.01)

    def test_refuses_replicates_without_a_maximum(self):
        with pytest.raises(ValueError, match="left out"):
            superiority(np.array([[0.0, 1.0], [np.nan, np.nan]]))
