"""The bootstrap and its chord steps against exact refits, the sandwich and their bookkeeping."""

from dataclasses import replace

import numpy as np
import pytest

from ranking.numerics import bootstrap
from ranking.numerics.batches import pair_ends, pair_numbers
from ranking.numerics.bootstrap import bootstrap_strengths
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.connectivity import strongly_connected
from ranking.numerics.refits import (
    draw_units,
    fit_by_chords,
    product_in_this_thread,
    pseudo_inverse,
    sampled_pair_totals,
)
from ranking.numerics.sandwich import clustered_covariance
from ranking.numerics.tables import WeightedPairs, tabulate
from tests.ranking.numerics.helpers import draw_pairs, make_tables, simulate_tables, strengths_of

TRUE_THETA = [0.6, 0.2, 0.0, -0.3, -0.5]


class TestBootstrapStrengths:
    def test_counts_the_replicates_without_a_maximum_and_keeps_their_rows(self, rng):
        circle = np.zeros((3, 3, 3))
        circle[0, 0, 1] = circle[1, 1, 2] = circle[2, 2, 0] = 1.0  # each unit is needed
        tables = make_tables(circle)

        found = bootstrap_strengths(tables, strengths_of(tables), n_replicates=2_000, rng=rng)

        assert found.n_replicates == len(found.log_strengths) == 2_000
        assert len(found.fitted()) == 2_000 - found.n_without_maximum
        assert np.isnan(found.log_strengths[~found.has_maximum]).all()
        all_three_drawn = 6 / 27
        assert len(found.fitted()) / 2_000 == pytest.approx(all_three_drawn, abs=0.04)

    def test_the_same_generator_gives_the_same_answer_in_blocks_of_any_size(self, rng, monkeypatch):
        tables = simulate_tables(rng, TRUE_THETA, n_units=20, n_per_pair=4)
        theta = strengths_of(tables)
        whole = bootstrap_strengths(tables, theta, n_replicates=50, rng=np.random.default_rng(7))

        monkeypatch.setattr(bootstrap, "TIMES_BYTES", 1)
        blocks = bootstrap_strengths(tables, theta, n_replicates=50, rng=np.random.default_rng(7))

        np.testing.assert_allclose(blocks.log_strengths, whole.log_strengths, atol=1e-12)

    @pytest.mark.parametrize("n_units", [3, 6, 12, 40])
    def test_says_of_each_sample_whether_whole_wins_give_it_a_maximum(self, rng, n_units):
        pairs = soft_pairs(rng, n_judgments=5 * n_units, n_units=n_units, n_systems=5)
        won = rng.random(5 * n_units) < 0.7
        whole = replace(pairs, to_first=won * 1.0, to_second=~won * 1.0)
        tables = tabulate(whole, n_units=n_units, n_systems=5)

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
        shuffled = pairs.part(order)
        tables, other = (
            tabulate(columns, n_units=40, n_systems=6) for columns in (pairs, shuffled)
        )
        theta = strengths_of(tables)

        found, again = (
            bootstrap_strengths(
                one, theta, n_replicates=130, rng=np.random.default_rng(2), n_threads=n
            ).log_strengths
            for one, n in ((tables, 2), (other, n_threads))
        )

        np.testing.assert_array_equal(strengths_of(other), theta)
        np.testing.assert_array_equal(found, again)

    @pytest.mark.parametrize(
        ("weight", "n"), [(1.0, 2_000), (40.0, 400), (99.0, 400), (4_000.0, 400), (1.0 / 3.0, 400)]
    )
    def test_weights_that_no_byte_holds_are_added_up_all_the_same(self, weight, n):
        pairs = soft_pairs(np.random.default_rng(11), n_judgments=n, n_units=12, n_systems=3)
        won = np.rint(pairs.to_first)
        heavy = replace(pairs, to_first=weight * won, to_second=weight * (1.0 - won))
        tables = tabulate(heavy, n_units=12, n_systems=3)

        found = bootstrap_strengths(
            tables, strengths_of(tables), n_replicates=30, rng=np.random.default_rng(5)
        )

        samples = tables.weighted(draw_units(12, 30, np.random.default_rng(5)))
        exact = [fit_bradley_terry(sample).log_strengths for sample in samples]
        np.testing.assert_allclose(found.log_strengths, exact, atol=3e-9)

    def test_tables_whose_systems_are_not_connected_have_no_replicates_with_a_maximum(self, rng):
        islands = np.zeros((6, 4, 4))
        islands[:, 0, 1] = islands[:, 1, 0] = islands[:, 2, 3] = islands[:, 3, 2] = 1.0

        found = bootstrap_strengths(make_tables(islands), np.zeros(4), n_replicates=9, rng=rng)

        assert found.n_without_maximum == found.n_replicates == 9


class TestBesideOneStep:
    def test_one_step_is_near_the_refits_of_the_same_samples_and_spreads_as_the_sandwich_says(
        self, rng
    ):
        """The infinitesimal jackknife as a bootstrap: Efron (1982), Kline & Santos (2012)."""
        tables = simulate_tables(rng, TRUE_THETA, n_units=400, n_per_pair=5)
        theta = strengths_of(tables)
        influence = tables.unit_scores(theta) @ pseudo_inverse(tables.information(theta))
        times = draw_units(tables.n_units, 8_000, np.random.default_rng(1))

        steps = theta - theta.mean() + (times - 1.0) @ influence

        refits = bootstrap_strengths(
            tables, theta, n_replicates=8_000, rng=np.random.default_rng(1)
        )
        errors = clustered_covariance(tables, theta).standard_errors
        np.testing.assert_allclose(steps.mean(axis=1), 0.0, atol=1e-12)
        np.testing.assert_allclose(steps[:50], refits.log_strengths[:50], atol=0.02)
        np.testing.assert_allclose(steps.std(axis=0), refits.fitted().std(axis=0), rtol=0.05)
        np.testing.assert_allclose(steps.std(axis=0, ddof=1), errors, rtol=0.04)


@pytest.mark.parametrize(("n_units", "n_replicates"), [(1, 10), (5, 0)])
def test_nothing_is_not_resampled(rng, n_units, n_replicates):
    tables = make_tables(np.ones((n_units, 2, 2)) - np.eye(2))

    with pytest.raises(ValueError, match="cannot draw"):
        bootstrap_strengths(tables, np.zeros(2), n_replicates=n_replicates, rng=rng)


class TestDrawUnits:
    @pytest.mark.parametrize(("n_units", "n_samples"), [(2, 5), (7, 5), (70_000, 5), (3, 0)])
    def test_each_sample_has_as_many_units_as_there_are(self, rng, n_units, n_samples):
        drawn = draw_units(n_units, n_samples, rng)

        assert drawn.shape == (n_samples, n_units)
        assert (drawn.sum(axis=1) == n_units).all()

    def test_a_longer_series_begins_as_a_shorter_one_does(self):
        short, long = (draw_units(9, size, np.random.default_rng(4)) for size in (70, 200))

        np.testing.assert_array_equal(short, long[:70])

    def test_counts_vary_and_hang_together_as_multinomial_ones_do(self, rng):
        drawn = draw_units(5, 40_000, rng)

        expected = np.eye(5) - 1 / 5
        np.testing.assert_allclose(np.cov(drawn.T), expected, atol=0.03)
        np.testing.assert_allclose(drawn.mean(axis=0), 1.0, atol=0.03)


def soft_pairs(rng, *, n_judgments, n_units, n_systems):
    """Draw judgments of random pairs, with shares in twentieths."""
    first, second = draw_pairs(rng, n_systems, n_judgments)
    share = rng.integers(1, 20, n_judgments) / 20
    unit = rng.integers(0, n_units, n_judgments)
    return WeightedPairs(unit, first, second, share, (20 - np.rint(20 * share)) / 20)


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

    def test_says_which_samples_did_not_settle_and_settles_the_others(self, rng):
        near, fit = prepared(rng, 3)
        near[4] = [[0.0, 1e6, 1e6], [1.0, 0.0, 1e6], [1.0, 1.0, 0.0]]  # far from the others

        found = refitted(near, fit.log_strengths, fit.covariance)

        assert np.flatnonzero(~found.settled).tolist() == [4]
        exact = fit_bradley_terry(near[7]).log_strengths
        np.testing.assert_allclose(found.log_strengths[:, 7], exact, atol=3e-9)


class TestSampledPairTotals:
    @pytest.mark.parametrize(
        ("n_systems", "weights", "most_times", "is_in_single"),
        [
            pytest.param(4, [1, 2, 3], 1, True, id="sums fit in bytes"),
            pytest.param(4, [5], 60, False, id="most sums run over"),
            pytest.param(4, [1] * 400 + [30], 12, False, id="a few sums run over"),
            pytest.param(2, [5], 255, False, id="sums run over two bytes"),
            pytest.param(4, [1, 1.5], 3, False, id="halves"),
            pytest.param(4, [1, 300], 3, False, id="a row too large for a byte"),
            pytest.param(4, [3], 900, False, id="times of two bytes"),
        ],
    )
    def test_is_what_exact_sums_give(self, rng, n_systems, weights, most_times, is_in_single):
        first, second = draw_pairs(rng, n_systems, 4000)
        weight = np.resize(np.array(weights, dtype=float), 4000)
        pairs = WeightedPairs(rng.integers(0, 40, 4000), first, second, weight, 0.0 * weight)
        tables = tabulate(pairs, n_units=40, n_systems=n_systems)
        times = rng.integers(0, most_times, size=(40, 64), endpoint=True)
        times = times.astype(np.uint8 if most_times < 256 else np.uint16)
        wins = tables.weighted(times.T.astype(float))
        low, high = pair_ends(n_systems)
        exact = (wins[:, low, high] + wins[:, high, low]).T

        found = sampled_pair_totals(tables, times, exact.sum(axis=0))

        np.testing.assert_array_equal(found, exact)
        assert (found.dtype == np.float32) == is_in_single

    def test_one_heavy_pair_takes_no_table_of_its_own_for_each_unit(self, rng):
        first, second = np.triu_indices(40, 1)
        heavy = WeightedPairs(
            np.concatenate([rng.integers(0, 500, len(first)), np.arange(500).repeat(20)]),
            np.concatenate([first, np.zeros(10_000, dtype=int)]),
            np.concatenate([second, np.ones(10_000, dtype=int)]),
            np.ones(len(first) + 10_000),
            np.zeros(len(first) + 10_000),
        )

        assert len(tabulate(heavy, n_units=500, n_systems=40).pair_totals) == 1


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
