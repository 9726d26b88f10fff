"""The chance that resampling itself adds."""

import numpy as np
import pytest
import scipy

from ranking.numerics.intervals import percentile_intervals, quantile_errors


class TestQuantileErrors:
    @pytest.mark.parametrize("level", [0.9, 0.95])
    def test_agree_with_scipy_whose_name_for_them_is_maritz_and_jarrett(self, rng, level):
        replicates = rng.normal(size=(400, 3))

        found = quantile_errors(replicates, level=level)

        tail = (1.0 - level) / 2.0
        peer = scipy.stats.mstats.mjci(replicates, prob=[tail, 1.0 - tail], axis=0)
        np.testing.assert_allclose([found.low, found.high], peer, rtol=1e-6)

    def test_are_what_bootstraps_done_anew_vary_by(self, rng):
        ends = [
            [interval.low[0], interval.high[0]]
            for interval in (percentile_intervals(rng.normal(size=(1_000, 1))) for _ in range(400))
        ]

        found = quantile_errors(rng.normal(size=(1_000, 200)))

        spread = np.std(ends, axis=0)
        assert [found.low.mean(), found.high.mean()] == pytest.approx(spread, rel=0.15)
        assert found.low.mean() == pytest.approx(0.08, abs=0.015)

    def test_replicates_that_do_not_vary_have_none(self):
        found = quantile_errors(np.ones((50, 2)))

        np.testing.assert_allclose([found.low, found.high], 0.0, atol=1e-12)

    @pytest.mark.parametrize("n", [2, 3, 10, 39, 41])
    def test_few_replicates_give_finite_errors(self, rng, n):
        found = quantile_errors(rng.normal(size=(n, 2)))

        assert np.isfinite([found.low, found.high]).all()

    @pytest.mark.parametrize(
        ("replicates", "level"),
        [
            (np.ones((1, 2)), 0.95),
            (np.array([[1.0], [np.nan]]), 0.95),
            (np.ones((4, 2)), 1.0),
        ],
        ids=["one replicate", "not finite", "no level"],
    )
    def test_refuse_what_has_no_quantiles(self, replicates, level):
        with pytest.raises(ValueError, match=r"replicates|level"):
            quantile_errors(replicates, level=level)
