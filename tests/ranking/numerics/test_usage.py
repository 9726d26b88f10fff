"""How much and how evenly strategies are used."""

import numpy as np
import pytest
import scipy

from ranking.numerics.usage import usage

SHOWN = np.array([[1, 0, 0, 0], [1, 1, 0.5, 0], [0, 1, 0, 0], [1, 1, 1, 1]])
SYSTEM = np.array([0, 0, 2, 2])


class TestUsage:
    def test_is_what_can_be_counted_by_hand(self):
        found = usage(SHOWN, SYSTEM, n_systems=3)

        assert found.n_messages.tolist() == [2, 0, 2]
        np.testing.assert_allclose(found.rates[0], [1.0, 0.5, 0.25, 0.0])
        np.testing.assert_allclose(found.per_message, [1.75, np.nan, 2.5])
        np.testing.assert_allclose(found.coverage, [0.75, np.nan, 1.0])

    def test_entropy_agrees_with_scipy(self):
        found = usage(SHOWN, SYSTEM, n_systems=3)

        assert found.entropy[0] == pytest.approx(scipy.stats.entropy([2, 1, 0.5], base=2))
        assert found.entropy[2] == pytest.approx(scipy.stats.entropy([1, 2, 1, 1], base=2))
        assert np.isnan(found.entropy[1])

    def test_even_use_has_the_most_entropy_and_one_strategy_none(self):
        even = usage(np.eye(4), np.zeros(4, dtype=int), n_systems=1)
        one = usage(np.eye(4)[:1], np.zeros(1, dtype=int), n_systems=1)

        assert (even.entropy[0], one.entropy[0]) == pytest.approx((2.0, 0.0))

    def test_refuses_what_is_no_share(self):
        with pytest.raises(ValueError, match="between 0 and 1"):
            usage(np.array([[1.5]]), np.zeros(1, dtype=int), n_systems=1)
        with pytest.raises(ValueError, match="a row for each message"):
            usage(np.ones((2, 1)), np.zeros(1, dtype=int), n_systems=1)
