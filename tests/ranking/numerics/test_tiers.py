"""Tiers with fixed anchors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking.numerics.tiers import tiers


def tiers_of(estimate, margin):
    estimate = np.asarray(estimate, dtype=float)
    return tiers(estimate, estimate - margin, estimate + margin).tolist()


class TestTiers:
    def test_a_chain_of_overlaps_does_not_creep_down(self):
        # Neighbours 15 apart overlap; the third no longer reaches the first.
        assert tiers_of([30.0, 15.0, 0.0, -15.0], 10.0) == [1, 1, 2, 2]

    def test_touching_the_anchor_is_reaching_it(self):
        assert tiers_of([20.0, 0.0], 10.0) == [1, 1]

    def test_the_best_system_opens_the_first_tier_wherever_it_stands(self):
        assert tiers_of([0.0, 100.0, 50.0], 1.0) == [3, 1, 2]

    def test_a_wide_interval_below_the_next_anchor_does_not_return_to_the_tier_above(self):
        estimate = np.array([100.0, 50.0, 40.0])
        margin = np.array([5.0, 5.0, 80.0])

        found = tiers(estimate, estimate - margin, estimate + margin)

        assert found.tolist() == [1, 2, 2]

    def test_one_system_is_a_tier_and_none_are_none(self):
        assert tiers_of([7.0], 1.0) == [1]
        assert tiers_of([], 1.0) == []

    @given(st.lists(st.integers(-300, 300), min_size=1, max_size=8), st.integers(0, 100))
    def test_go_down_with_the_estimate_and_leave_no_number_out(self, values, margin):
        found = np.array(tiers_of(values, margin))

        down = found[np.argsort(values)[::-1]]
        assert (np.diff(down) >= 0).all()
        assert set(found) == set(range(1, found.max() + 1))

    @given(st.permutations(range(6)))
    def test_relabelling_systems_relabels_the_tiers(self, order):
        values = np.array([0.0, 12.0, 31.0, 33.0, 60.0, 95.0])

        assert tiers_of(values[order], 10.0) == np.array(tiers_of(values, 10.0))[order].tolist()

    @pytest.mark.parametrize(
        ("low", "high", "message"),
        [
            ([0.0], [1.0, 2.0], "shapes"),
            ([0.0, np.nan], [3.0, 3.0], "finite"),
            ([0.0, 3.0], [3.0, 4.0], "inside"),
        ],
        ids=["lengths", "nan", "outside"],
    )
    def test_refuses_intervals_that_do_not_fit(self, low, high, message):
        with pytest.raises(ValueError, match=message):
            tiers(np.array([1.0, 2.0]), np.array(low), np.array(high))
