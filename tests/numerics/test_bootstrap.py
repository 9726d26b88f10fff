"""The bootstrap against exact refits, the sandwich formula and its own bookkeeping."""

import numpy as np
import pytest

from ranking.numerics import bootstrap
from ranking.numerics.bootstrap import bootstrap_strengths
from ranking.numerics.bradley_terry import fit_bradley_terry
from tests.numerics.helpers import make_tables, simulate_tables

TRUE_THETA = [0.6, 0.2, 0.0, -0.3, -0.5]


def clustered_sandwich(tables, theta):
    """Compute V = H^- (sum_c U_c U_c') H^- from the definition, unit by unit."""
    n = len(theta)
    p = 1.0 / (1.0 + np.exp(theta[None, :] - theta[:, None]))
    games = tables.total() + tables.total().T
    weight = games * p * (1.0 - p)
    inverse = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight)
    meat = np.zeros((n, n))
    for wins in tables.weighted(np.eye(tables.n_units)):
        score = wins.sum(axis=1) - ((wins + wins.T) * p).sum(axis=1)
        meat += np.outer(score, score)
    return inverse @ meat @ inverse


def strengths(tables):
    return fit_bradley_terry(tables.total()).log_strengths


class TestBootstrapStrengths:
    def test_each_replicate_is_the_exact_fit_of_its_sample(self, rng):
        tables = simulate_tables(rng, TRUE_THETA, n_units=30, n_per_pair=4)
        times = np.random.default_rng(5).multinomial(30, np.full(30, 1 / 30), size=20)

        found = bootstrap_strengths(
            tables, strengths(tables), n_replicates=20, rng=np.random.default_rng(5)
        )

        exact = [
            fit_bradley_terry(tables.weighted(row[None].astype(float))[0]).log_strengths
            for row in times
        ]
        np.testing.assert_allclose(found.log_strengths, exact, atol=1e-9)

    def test_its_spread_is_that_of_the_clustered_sandwich(self, rng):
        tables = simulate_tables(rng, TRUE_THETA, n_units=400, n_per_pair=5)
        theta = strengths(tables)

        found = bootstrap_strengths(tables, theta, n_replicates=4_000, rng=rng)

        sandwich = np.sqrt(np.diag(clustered_sandwich(tables, theta)))
        np.testing.assert_allclose(found.fitted().std(axis=0, ddof=1), sandwich, rtol=0.05)

    def test_judgments_that_hang_together_widen_it_beyond_the_model(self, rng):
        tables = simulate_tables(rng, TRUE_THETA, n_units=200, n_per_pair=5, shared_sd=1.0)
        fit = fit_bradley_terry(tables.total())

        found = bootstrap_strengths(tables, fit.log_strengths, n_replicates=500, rng=rng)

        model = np.sqrt(np.diag(fit.covariance))
        assert (found.fitted().std(axis=0, ddof=1) > 1.3 * model).all()

    def test_counts_the_replicates_without_a_maximum_and_keeps_their_rows(self, rng):
        circle = np.zeros((3, 3, 3))
        circle[0, 0, 1] = circle[1, 1, 2] = circle[2, 2, 0] = 1.0  # each unit is needed
        tables = make_tables(circle)

        found = bootstrap_strengths(tables, strengths(tables), n_replicates=2_000, rng=rng)

        assert found.n_replicates == len(found.log_strengths) == 2_000
        assert len(found.fitted()) == 2_000 - found.n_without_maximum
        assert np.isnan(found.log_strengths[~found.has_maximum]).all()
        all_three_drawn = 6 / 27
        assert len(found.fitted()) / 2_000 == pytest.approx(all_three_drawn, abs=0.04)

    def test_the_same_generator_gives_the_same_answer_in_blocks_of_any_size(self, rng, monkeypatch):
        tables = simulate_tables(rng, TRUE_THETA, n_units=20, n_per_pair=4)
        theta = strengths(tables)
        whole = bootstrap_strengths(tables, theta, n_replicates=50, rng=np.random.default_rng(7))

        monkeypatch.setattr(bootstrap, "BLOCK_BYTES", 8 * 25 * 7)
        blocks = bootstrap_strengths(tables, theta, n_replicates=50, rng=np.random.default_rng(7))

        np.testing.assert_allclose(blocks.log_strengths, whole.log_strengths, atol=1e-12)

    def test_units_without_judgments_are_drawn_too(self):
        wins = np.array([[[0.0, 3.0], [1.0, 0.0]]] * 4)
        full, half_empty = make_tables(wins), make_tables([*wins, *np.zeros((4, 2, 2))])

        spread = [
            bootstrap_strengths(
                tables, strengths(tables), n_replicates=200, rng=np.random.default_rng(1)
            )
            for tables in (full, half_empty)
        ]

        assert spread[0].n_without_maximum == 0
        assert spread[1].n_without_maximum >= 0
        np.testing.assert_allclose(spread[0].fitted().std(axis=0), 0.0, atol=1e-9)

    @pytest.mark.parametrize(("n_units", "n_replicates"), [(1, 10), (5, 0)])
    def test_refuses_to_resample_nothing(self, rng, n_units, n_replicates):
        tables = make_tables(np.ones((n_units, 2, 2)) - np.eye(2))

        with pytest.raises(ValueError, match="cannot draw"):
            bootstrap_strengths(tables, np.zeros(2), n_replicates=n_replicates, rng=rng)
