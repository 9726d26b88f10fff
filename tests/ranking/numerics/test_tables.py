"""Win tables against one-by-one addition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.tables import tabulate
from tests.ranking.numerics.helpers import make_pairs, make_tables, simulate_tables

weights = st.integers(0, 20).map(lambda twentieths: twentieths / 20)
judgment = st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(1, 4), weights, weights).map(
    lambda row: (row[0], row[1], (row[1] + row[2]) % 5, row[3], row[4])
)
judgments = st.lists(judgment, min_size=1, max_size=30)


class TestTabulate:
    @given(judgments)
    def test_adds_each_share_to_its_unit_winner_and_loser(self, rows):
        expected = np.zeros((4, 5, 5))
        for unit, first, second, to_first, to_second in rows:
            expected[unit, first, second] += to_first
            expected[unit, second, first] += to_second

        tables = tabulate(make_pairs(rows), n_units=4, n_systems=5)

        np.testing.assert_allclose(tables.weighted(np.eye(4)), expected, atol=1e-12)
        np.testing.assert_allclose(tables.total(), expected.sum(axis=0), atol=1e-12)

    @given(judgments, st.randoms())
    def test_the_order_of_the_judgments_does_not_matter(self, rows, random):
        shuffled = random.sample(rows, len(rows))

        there, here = (
            tabulate(make_pairs(r), n_units=4, n_systems=5).total() for r in (rows, shuffled)
        )

        np.testing.assert_allclose(there, here, atol=1e-12)

    def test_no_judgments_give_tables_of_zeros(self):
        tables = make_tables(np.zeros((2, 3, 3)))

        assert tables.n_units == 2
        np.testing.assert_array_equal(tables.total(), np.zeros((3, 3)))

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ((2, 0, 1, 1.0, 0.0), "unit"),
            ((-1, 0, 1, 1.0, 0.0), "unit"),
            ((0, 3, 1, 1.0, 0.0), "first"),
            ((0, 0, 3, 1.0, 0.0), "second"),
            ((0, 1, 1, 1.0, 0.0), "itself"),
            ((0, 0, 1, -0.5, 0.0), "negative"),
            ((0, 0, 1, np.nan, 0.0), "finite"),
        ],
        ids=["unit", "negative unit", "first", "second", "same system", "negative", "nan"],
    )
    def test_refuses_rows_that_make_no_sense(self, row, message):
        with pytest.raises(ValueError, match=message):
            tabulate(make_pairs([row]), n_units=2, n_systems=3)

    def test_refuses_columns_of_different_length(self):
        pairs = make_pairs([(0, 0, 1, 1.0, 0.0)])
        short = type(pairs)(pairs.unit, pairs.first, pairs.second, pairs.to_first, np.zeros(2))

        with pytest.raises(ValueError, match="length"):
            tabulate(short, n_units=1, n_systems=2)


def log_likelihood(wins, theta):
    """Compute the log likelihood from its definition."""
    return (wins * -np.logaddexp(0.0, theta[None, :] - theta[:, None])).sum()


class TestUnitScores:
    @given(judgments)
    def test_are_the_gradient_of_each_unit_s_log_likelihood(self, rows):
        tables = tabulate(make_pairs(rows), n_units=4, n_systems=5)
        theta, step = np.array([0.9, -0.2, 0.4, 0.0, -1.1]), 1e-5

        found = tables.unit_scores(theta)

        expected = [
            [
                (log_likelihood(wins, theta + move) - log_likelihood(wins, theta - move)) / 2 / step
                for move in step * np.eye(5)
            ]
            for wins in tables.weighted(np.eye(4))
        ]
        np.testing.assert_allclose(found, expected, atol=1e-6)

    def test_add_up_to_nothing_at_the_maximum(self, rng):
        tables = simulate_tables(rng, [0.5, 0.0, -0.5], n_units=20, n_per_pair=3)

        scores = tables.unit_scores(fit_bradley_terry(tables.total()).log_strengths)

        np.testing.assert_allclose(scores.sum(axis=0), 0.0, atol=1e-9)
        np.testing.assert_allclose(scores.sum(axis=1), 0.0, atol=1e-12)

    def test_refuse_strengths_of_other_systems(self):
        with pytest.raises(ValueError, match="shape"):
            make_tables(np.zeros((2, 3, 3))).unit_scores(np.zeros(4))


class TestInformation:
    def test_is_what_the_fit_s_covariance_inverts(self, rng):
        tables = simulate_tables(rng, [0.5, 0.0, -0.5], n_units=20, n_per_pair=3)
        fit = fit_bradley_terry(tables.total())

        found = tables.information(fit.log_strengths)

        np.testing.assert_allclose(np.linalg.pinv(found), fit.covariance, atol=1e-9)
        np.testing.assert_allclose(found.sum(axis=1), 0.0, atol=1e-9)


class TestPlus:
    @given(judgments, judgments)
    def test_equals_tabulating_everything_anew(self, old, new):
        together = tabulate(make_pairs(old + new), n_units=4, n_systems=5)

        one, other = (tabulate(make_pairs(rows), n_units=4, n_systems=5) for rows in (old, new))

        expected = together.weighted(np.eye(4))
        np.testing.assert_allclose(one.plus(other).weighted(np.eye(4)), expected, atol=1e-12)

    def test_takes_in_units_that_were_not_there_before(self):
        old, new = make_tables(np.ones((2, 3, 3)) - np.eye(3)), np.zeros((4, 3, 3))
        new[3, 0, 1] = 5.0

        for both in (old.plus(make_tables(new)), make_tables(new).plus(old)):
            assert both.n_units == 4
            assert both.total()[0, 1] == 2.0 + 5.0

    def test_refuses_tables_of_other_systems(self):
        with pytest.raises(ValueError, match="3 systems to tables of 4"):
            make_tables(np.zeros((2, 4, 4))).plus(make_tables(np.zeros((2, 3, 3))))


class TestSubset:
    def test_has_the_units_asked_for_in_their_order(self, rng):
        tables = simulate_tables(rng, [0.5, 0.0, -0.5], n_units=6, n_per_pair=3)

        found = tables.subset(np.array([4, 1]))

        expected = tables.weighted(np.eye(6)[[4, 1]])
        np.testing.assert_allclose(found.weighted(np.eye(2)), expected, atol=1e-12)
