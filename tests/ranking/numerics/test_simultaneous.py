"""Intervals that hold together, and the correction for few units."""

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from ranking.numerics.simultaneous import as_if_many_units, for_few_units, joint_intervals


class TestJointIntervals:
    def test_eighteen_independent_systems_need_the_known_cut_off(self, rng):
        found = joint_intervals(np.zeros(18), rng.normal(size=(20_000, 18)))

        # (2 Phi(c) - 1)**18 = 0.95
        assert found.critical_value == pytest.approx(2.98, abs=0.04)

    def test_one_system_needs_no_more_than_alone(self, rng):
        found = joint_intervals(np.zeros(1), rng.normal(size=(20_000, 1)))

        assert found.critical_value == pytest.approx(1.96, abs=0.03)

    def test_hold_in_the_share_of_replicates_that_the_level_says(self, rng):
        replicates = rng.normal(size=(500, 6)) * np.array([1, 2, 3, 4, 5, 6])

        found = joint_intervals(np.zeros(6), replicates, level=0.9)

        inside = (found.low <= replicates) & (replicates <= found.high)
        assert inside.all(axis=1).mean() == pytest.approx(0.9, abs=1e-9)

    def test_few_units_make_them_wider(self, rng):
        replicates = rng.normal(size=(500, 6))

        few, many = (joint_intervals(np.zeros(6), replicates, n_units=n) for n in (20, 300))

        assert (few.high > 1.1 * many.high).all()

    def test_another_scale_scales_them(self, rng):
        replicates = rng.normal(size=(200, 4))

        one, thousand = (joint_intervals(np.zeros(4), scale * replicates) for scale in (1, 1e3))

        np.testing.assert_allclose(thousand.high, 1e3 * one.high)

    def test_a_system_that_never_varies_has_no_width(self, rng):
        replicates = np.column_stack([np.ones(100), rng.normal(size=100)])

        found = joint_intervals(np.array([1.0, 0.0]), replicates)

        assert found.low[0] == found.high[0] == 1.0

    @pytest.mark.parametrize(
        ("estimate", "n_units", "message"),
        [(np.zeros(3), None, "estimate"), (np.zeros(2), 1, "two or more")],
        ids=["length", "one unit"],
    )
    def test_refuse_what_does_not_fit(self, estimate, n_units, message):
        with pytest.raises(ValueError, match=message):
            joint_intervals(estimate, np.eye(2), n_units=n_units)


class TestForFewUnits:
    def test_is_exact_for_a_mean_of_normal_units(self):
        # The bootstrap's standard deviation of a mean is s * sqrt((n - 1) / n) / sqrt(n).
        n = 12

        found = for_few_units(scipy.stats.norm.ppf(0.975), n) * np.sqrt((n - 1) / n)

        assert found == pytest.approx(scipy.stats.t.ppf(0.975, n - 1))

    def test_fades_with_the_number_of_units(self):
        assert for_few_units(3.5, 1_000_000) == pytest.approx(3.5, abs=1e-4)
        assert for_few_units(3.5, None) == 3.5

    @given(st.floats(0.0, 6.0), st.integers(2, 500))
    def test_is_undone_by_its_inverse(self, critical, n_units):
        stretched = for_few_units(critical, n_units)

        found = as_if_many_units(np.array([stretched]), n_units)

        assert found[0] == pytest.approx(critical, abs=1e-6)
