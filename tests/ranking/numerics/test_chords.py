"""Chord steps against Newton's, and what they cannot do."""

import numpy as np
import pytest

from ranking.numerics.batches import pair_ends, pair_numbers
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.refits import fit_by_chords, product_in_this_thread


def refitted(wins, start, inverse):
    """Refit a stack of win matrices from their pair totals and the systems' wins."""
    low, high = pair_ends(wins.shape[1])
    totals = wins[:, low, high] + wins[:, high, low]
    return fit_by_chords(totals.T, wins.sum(axis=2).T, start, inverse)


def prepared(rng, n_systems):
    """Return a table, twenty tables near it, the fit of the first, and its inverse."""
    wins = rng.integers(50, 400, size=(n_systems, n_systems)).astype(float)
    np.fill_diagonal(wins, 0.0)
    near = rng.poisson(wins, size=(20, n_systems, n_systems)).astype(float)
    fit = fit_bradley_terry(wins)
    return near, fit


class TestFitByChords:
    @pytest.mark.parametrize("n_systems", [2, 3, 20])
    def test_ends_where_newton_ends(self, rng, n_systems):
        near, fit = prepared(rng, n_systems)

        found = refitted(near, fit.log_strengths, fit.covariance)

        exact = np.array([fit_bradley_terry(one).log_strengths for one in near]).T
        assert found.settled.all()
        np.testing.assert_allclose(found.log_strengths, exact, atol=3e-9)

    def test_leaves_next_to_no_gradient(self, rng):
        near, fit = prepared(rng, 10)

        theta = refitted(near, fit.log_strengths, fit.covariance).log_strengths.T

        p = 1.0 / (1.0 + np.exp(theta[:, None, :] - theta[:, :, None]))
        gradient = (near - (near + near.swapaxes(1, 2)) * p).sum(axis=2)
        assert (np.abs(gradient).max(axis=1) / near.sum(axis=(1, 2))).max() < 1e-10

    def test_the_level_of_the_start_does_not_matter(self, rng):
        near, fit = prepared(rng, 4)

        one, other = (
            refitted(near, fit.log_strengths + level, fit.covariance) for level in (0.0, 5.0)
        )

        np.testing.assert_allclose(one.log_strengths, other.log_strengths, atol=1e-9)

    def test_says_which_samples_did_not_settle_and_settles_the_others(self, rng):
        near, fit = prepared(rng, 3)
        near[4] = [[0.0, 1e6, 1e6], [1.0, 0.0, 1e6], [1.0, 1.0, 0.0]]  # far from the others

        found = refitted(near, fit.log_strengths, fit.covariance)

        assert np.flatnonzero(~found.settled).tolist() == [4]
        exact = fit_bradley_terry(near[7]).log_strengths
        np.testing.assert_allclose(found.log_strengths[:, 7], exact, atol=3e-9)


class TestProductInThisThread:
    @pytest.mark.parametrize(("n", "n_columns"), [(3, 5), (90, 64), (600, 3)])
    def test_is_the_product(self, rng, n, n_columns):
        matrix, columns = rng.normal(size=(n, n)), rng.normal(size=(n, n_columns))

        np.testing.assert_allclose(
            product_in_this_thread(matrix, columns), matrix @ columns, atol=1e-10
        )


class TestPairNumbers:
    def test_a_pair_has_one_number_from_both_sides(self):
        numbers = pair_numbers(4)

        low, high = pair_ends(4)
        assert numbers[low, high].tolist() == numbers[high, low].tolist() == [*range(6)]
        assert list(zip(low, high, strict=True))[:3] == [(0, 1), (0, 2), (0, 3)]
