"""Win tables against one-by-one addition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking.numerics.tables import tabulate
from tests.numerics.helpers import make_pairs, make_tables

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
