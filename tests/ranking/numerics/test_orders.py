"""Agreement of orders: by hand, a peer, properties, and what is too little."""

import numpy as np
import pytest
import scipy

from ranking.numerics.correlation import TooFewError
from ranking.numerics.orders import order_agreement, resampled_kendall


class TestOrderAgreement:
    def test_by_hand(self):
        # Of three pairs two are in the same order.
        found = order_agreement(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))

        assert found.kendall == pytest.approx(1 / 3)
        assert found.spearman == pytest.approx(0.5)
        assert found.n == 3

    def test_leaves_out_what_is_in_one_order_only(self):
        x, y = np.array([1.0, 2.0, np.nan, 4.0]), np.array([1.0, 2.0, 3.0, 9.0])

        found = order_agreement(x, y)

        assert (found.kendall, found.spearman) == pytest.approx((1, 1))
        assert found.n == 3

    @pytest.mark.parametrize(
        ("x", "y"),
        [([1, 2], [2, 1]), ([1, 1, 1], [1, 2, 3]), ([1, 2, np.nan], [1, 2, 3]), ([], [])],
    )
    def test_refuses_too_little(self, x, y):
        with pytest.raises(TooFewError):
            order_agreement(np.array(x, dtype=float), np.array(y, dtype=float))

    def test_refuses_orders_of_different_systems(self):
        with pytest.raises(ValueError, match="one shape"):
            order_agreement(np.ones(3), np.ones(4))


class TestResampledKendall:
    def test_agrees_with_scipy_row_by_row(self, rng):
        x, y = rng.integers(0, 6, (150, 8)).astype(float), rng.normal(size=(150, 8))

        found = resampled_kendall(x, y)

        peer = [scipy.stats.kendalltau(*rows).statistic for rows in zip(x, y, strict=True)]
        assert found == pytest.approx(peer, nan_ok=True)

    def test_a_row_of_ties_or_gaps_has_none(self):
        x = np.array([[1.0, 1.0, 1.0], [1.0, np.nan, 2.0], [1.0, 2.0, 3.0]])

        found = resampled_kendall(x, np.array([[1.0, 2.0, 3.0]] * 3))

        assert np.isnan(found[:2]).all()
        assert found[2] == pytest.approx(1)

    def test_nothing_gives_nothing(self):
        assert resampled_kendall(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0,)
