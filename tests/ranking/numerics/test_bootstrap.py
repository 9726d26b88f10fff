"""The bootstrap against exact refits, the sandwich formula and its own bookkeeping."""

import numpy as np
import pytest

from ranking.numerics import bootstrap
from ranking.numerics.bootstrap import bootstrap_strengths, draw_units, one_step_bootstrap
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.connectivity import strongly_connected
from ranking.numerics.tables import WeightedPairs, tabulate
from tests.ranking.numerics.helpers import make_tables, simulate_tables

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
        times = draw_units(30, 20, np.random.default_rng(5))

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

        monkeypatch.setattr(bootstrap, "TIMES_BYTES", 1)
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

    @pytest.mark.parametrize("n_units", [3, 6, 12, 40])
    def test_says_of_each_sample_whether_whole_wins_give_it_a_maximum(self, rng, n_units):
        first = rng.integers(0, 5, 5 * n_units)
        second = (first + rng.integers(1, 5, len(first))) % 5
        won = rng.random(len(first)) < 0.7
        unit = np.concatenate([np.arange(n_units), rng.integers(0, n_units, 4 * n_units)])
        tables = tabulate(
            WeightedPairs(unit, first, second, won * 1.0, ~won * 1.0), n_units=n_units, n_systems=5
        )

        found = bootstrap_strengths(
            tables, np.zeros(5), n_replicates=200, rng=np.random.default_rng(3)
        )

        samples = tables.weighted(draw_units(n_units, 200, np.random.default_rng(3)))
        assert found.has_maximum.tolist() == strongly_connected(samples).tolist()
        for sample, theta in zip(samples, found.log_strengths, strict=True):
            if np.isfinite(theta).all():
                exact = fit_bradley_terry(sample).log_strengths
                np.testing.assert_allclose(theta, exact, atol=3e-9)

    @pytest.mark.parametrize("n_threads", [1, 3])
    def test_neither_threads_nor_the_order_of_judgments_change_a_bit(self, rng, n_threads):
        pairs = soft_pairs(rng, n_judgments=3_000, n_units=40, n_systems=6)
        order = rng.permutation(3_000)
        shuffled = WeightedPairs(*(getattr(pairs, name)[order] for name in COLUMNS))
        tables, other = (
            tabulate(columns, n_units=40, n_systems=6) for columns in (pairs, shuffled)
        )
        theta = strengths(tables)

        found, again = (
            bootstrap_strengths(
                one, theta, n_replicates=130, rng=np.random.default_rng(2), n_threads=n
            ).log_strengths
            for one, n in ((tables, 2), (other, n_threads))
        )

        np.testing.assert_array_equal(strengths(other), theta)
        np.testing.assert_array_equal(found, again)

    def test_tables_that_grew_give_what_tables_made_anew_give(self, rng):
        pairs = soft_pairs(rng, n_judgments=900, n_units=30, n_systems=5)
        whole = tabulate(pairs, n_units=30, n_systems=5)
        grown = tabulate(pairs.part(slice(0, 500)), n_units=30, n_systems=5)
        for start in range(500, 900, 10):
            grown = grown.plus(
                tabulate(pairs.part(slice(start, start + 10)), n_units=30, n_systems=5)
            )

        found = [
            bootstrap_strengths(
                tables, strengths(tables), n_replicates=70, rng=np.random.default_rng(2)
            )
            for tables in (whole, grown)
        ]

        np.testing.assert_array_equal(found[0].log_strengths, found[1].log_strengths)

    @pytest.mark.parametrize("weight", [40.0, 99.0, 4_000.0, 1.0 / 3.0])
    def test_weights_that_no_byte_holds_are_added_up_all_the_same(self, weight):
        rng = np.random.default_rng(11)
        pairs = soft_pairs(rng, n_judgments=400, n_units=12, n_systems=3)
        heavy = WeightedPairs(
            pairs.unit,
            pairs.first,
            pairs.second,
            weight * np.rint(pairs.to_first),
            weight * (1.0 - np.rint(pairs.to_first)),
        )
        tables = tabulate(heavy, n_units=12, n_systems=3)

        found = bootstrap_strengths(
            tables, strengths(tables), n_replicates=30, rng=np.random.default_rng(5)
        )

        samples = tables.weighted(draw_units(12, 30, np.random.default_rng(5)))
        exact = [fit_bradley_terry(sample).log_strengths for sample in samples]
        np.testing.assert_allclose(found.log_strengths, exact, atol=3e-9)

    def test_tables_whose_systems_are_not_connected_have_no_replicates_with_a_maximum(self, rng):
        islands = np.zeros((6, 4, 4))
        islands[:, 0, 1] = islands[:, 1, 0] = islands[:, 2, 3] = islands[:, 3, 2] = 1.0

        found = bootstrap_strengths(make_tables(islands), np.zeros(4), n_replicates=9, rng=rng)

        assert found.n_without_maximum == found.n_replicates == 9

    @pytest.mark.parametrize(("n_units", "n_replicates"), [(1, 10), (5, 0)])
    def test_refuses_to_resample_nothing(self, rng, n_units, n_replicates):
        tables = make_tables(np.ones((n_units, 2, 2)) - np.eye(2))

        with pytest.raises(ValueError, match="cannot draw"):
            bootstrap_strengths(tables, np.zeros(2), n_replicates=n_replicates, rng=rng)


class TestOneStepBootstrap:
    def test_its_spread_is_the_clustered_sandwich_and_near_the_bootstrap_s(self, rng):
        tables = simulate_tables(rng, TRUE_THETA, n_units=300, n_per_pair=5)
        theta = strengths(tables)

        steps = one_step_bootstrap(tables, theta, n_replicates=8_000, rng=np.random.default_rng(1))

        refits = bootstrap_strengths(
            tables, theta, n_replicates=8_000, rng=np.random.default_rng(1)
        ).fitted()
        sandwich = np.sqrt(np.diag(clustered_sandwich(tables, theta)))
        np.testing.assert_allclose(steps.std(axis=0, ddof=1), sandwich, rtol=0.04)
        np.testing.assert_allclose(steps.std(axis=0), refits.std(axis=0), rtol=0.05)

    def test_each_step_is_near_the_refit_of_the_same_sample(self, rng):
        tables = simulate_tables(rng, TRUE_THETA, n_units=400, n_per_pair=5)
        theta = strengths(tables)

        steps = one_step_bootstrap(tables, theta, n_replicates=50, rng=np.random.default_rng(1))
        refits = bootstrap_strengths(tables, theta, n_replicates=50, rng=np.random.default_rng(1))

        np.testing.assert_allclose(steps.mean(axis=1), 0.0, atol=1e-12)
        np.testing.assert_allclose(steps, refits.log_strengths, atol=0.02)

    @pytest.mark.parametrize(("n_units", "n_replicates"), [(1, 10), (5, 0)])
    def test_refuses_to_resample_nothing(self, rng, n_units, n_replicates):
        tables = make_tables(np.ones((n_units, 2, 2)) - np.eye(2))

        with pytest.raises(ValueError, match="cannot draw"):
            one_step_bootstrap(tables, np.zeros(2), n_replicates=n_replicates, rng=rng)


class TestDrawUnits:
    @pytest.mark.parametrize("n_units", [2, 7, 70_000])
    def test_each_sample_has_as_many_units_as_there_are(self, rng, n_units):
        drawn = draw_units(n_units, 5, rng)

        assert drawn.shape == (5, n_units)
        assert (drawn.sum(axis=1) == n_units).all()

    def test_a_longer_series_begins_as_a_shorter_one_does(self):
        short, long = (draw_units(9, size, np.random.default_rng(4)) for size in (70, 200))

        np.testing.assert_array_equal(short, long[:70])

    def test_counts_vary_and_hang_together_as_multinomial_ones_do(self, rng):
        drawn = draw_units(5, 40_000, rng)

        expected = np.eye(5) - 1 / 5
        np.testing.assert_allclose(np.cov(drawn.T), expected, atol=0.03)
        np.testing.assert_allclose(drawn.mean(axis=0), 1.0, atol=0.03)

    def test_no_samples_no_rows(self, rng):
        assert draw_units(3, 0, rng).shape == (0, 3)


COLUMNS = ("unit", "first", "second", "to_first", "to_second")


def soft_pairs(rng, *, n_judgments, n_units, n_systems):
    """Draw judgments of random pairs, with shares in twentieths."""
    first = rng.integers(0, n_systems, n_judgments)
    second = (first + rng.integers(1, n_systems, n_judgments)) % n_systems
    share = rng.integers(1, 20, n_judgments) / 20
    unit = rng.integers(0, n_units, n_judgments)
    return WeightedPairs(unit, first, second, share, (20 - np.rint(20 * share)) / 20)
