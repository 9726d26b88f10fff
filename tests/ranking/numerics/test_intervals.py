"""Percentile intervals."""

import numpy as np
import pytest

from ranking.numerics.intervals import percentile_intervals


class TestPercentileIntervals:
    def test_holds_the_central_share_of_the_replicates(self):
        replicates = np.column_stack([np.arange(101.0), 2.0 * np.arange(101.0)])

        interval = percentile_intervals(replicates, level=0.9)

        np.testing.assert_allclose(interval.low, [5.0, 10.0])
        np.testing.assert_allclose(interval.high, [95.0, 190.0])

    @pytest.mark.parametrize(
        ("replicates", "level", "message"),
        [
            (np.ones((1, 3)), 0.95, "two rows"),
            (np.ones(3), 0.95, "two rows"),
            (np.array([[0.0], [np.nan]]), 0.95, "left out"),
            (np.ones((4, 2)), 1.0, "level"),
            (np.ones((4, 2)), 0.0, "level"),
        ],
        ids=["one row", "flat", "nan", "certainty", "nothing"],
    )
    def test_refuses_what_it_cannot_answer(self, replicates, level, message):
        with pytest.raises(ValueError, match=message):
            percentile_intervals(replicates, level=level)
