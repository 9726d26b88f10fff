"""Predicted shares against counted win rates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from ranking.numerics.checks.calibration import calibration_bins, stretch
from tests.ranking.numerics import peers


class TestStretch:
    def test_finds_the_factor_by_which_strengths_were_shrunk(self):
        """A third of the log odds, as in the published table: 2.96."""
        odds = np.array([0.2, 0.9, -1.4, 2.1])

        assert stretch(odds / 2.96, special.expit(odds), np.full(4, 50.0)) == pytest.approx(2.96)

    @settings(max_examples=25, deadline=None)
    @given(st.integers(0, 10_000))
    def test_is_the_slope_of_a_logistic_regression(self, seed):
        rng = np.random.default_rng(seed)
        difference, n = rng.normal(size=8), rng.integers(5, 50, size=8).astype(float)
        won = rng.uniform(0.1, 0.9, size=8)
        outcomes = np.stack([n * won, n - n * won], axis=1)

        peer = peers.GLM(outcomes, difference[:, None], family=peers.Binomial()).fit(tol=1e-12)

        assert stretch(difference, won, n) == pytest.approx(peer.params[0], abs=1e-6)

    @pytest.mark.parametrize(
        ("difference", "won", "slope"),
        [
            ([0.0, 0.0], [0.5, 0.7], np.nan),
            ([1.0, -1.0], [1.0, 0.0], np.inf),
            ([1.0], [0.0], -np.inf),
        ],
        ids=["all equal", "always won", "always lost"],
    )
    def test_says_where_there_is_no_slope(self, difference, won, slope):
        found = stretch(np.array(difference), np.array(won), np.ones(len(won)))

        assert found == pytest.approx(slope, nan_ok=True)


class TestCalibrationBins:
    def test_average_pairs_with_alike_predictions(self):
        predicted, counted = np.array([0.8, 0.2, 0.3, 0.7]), np.array([1.0, 0.1, 0.3, 0.6])

        bins = calibration_bins(predicted, counted, np.array([1.0, 2.0, 2.0, 3.0]), n_bins=2)

        assert bins.n == pytest.approx([4, 4])
        assert bins.predicted == pytest.approx([0.25, 0.725])
        assert bins.counted == pytest.approx([0.2, 0.7])

    def test_are_fewer_for_fewer_pairs(self):
        bins = calibration_bins(np.array([0.4]), np.array([0.5]), np.array([3.0]))

        assert bins.n == pytest.approx([3])

    def test_refuse_weights_of_0(self):
        with pytest.raises(ValueError, match="positive"):
            calibration_bins(np.array([0.4]), np.array([0.5]), np.array([0.0]))
