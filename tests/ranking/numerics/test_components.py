"""Fits inside the groups that can be compared."""

import numpy as np
import pytest

from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.components import fit_per_component


class TestFitPerComponent:
    def test_each_group_is_fitted_as_if_it_were_alone(self, rng):
        wins = np.zeros((5, 5))
        upper, lower = [0, 2, 3], [1, 4]
        wins[np.ix_(upper, upper)] = rng.integers(1, 9, (3, 3))
        wins[np.ix_(lower, lower)] = rng.integers(1, 9, (2, 2))
        wins[np.ix_(upper, lower)] = 7.0  # all one way: it joins nothing

        found = fit_per_component(wins)

        assert [group.systems for group in found] == [(0, 2, 3), (1, 4)]
        for group in found:
            alone = fit_bradley_terry(wins[np.ix_(group.systems, group.systems)])
            assert group.fit is not None
            np.testing.assert_allclose(group.fit.log_strengths, alone.log_strengths, atol=1e-12)

    def test_a_connected_table_is_one_group_with_the_whole_fit(self, rng):
        wins = rng.integers(1, 9, (4, 4)).astype(float)

        (found,) = fit_per_component(wins)

        expected = fit_bradley_terry(wins).log_strengths
        assert found.fit is not None
        np.testing.assert_array_equal(found.fit.log_strengths, expected)

    def test_a_system_alone_has_no_strength(self):
        found = fit_per_component(np.array([[0.0, 2.0], [0.0, 0.0]]))

        assert [(group.systems, group.fit) for group in found] == [((0,), None), ((1,), None)]

    def test_no_systems_no_groups(self):
        assert fit_per_component(np.zeros((0, 0))) == ()

    def test_refuses_what_is_not_a_table_of_wins(self):
        with pytest.raises(ValueError, match="negative"):
            fit_per_component(np.array([[0.0, 1.0, -1.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]))
