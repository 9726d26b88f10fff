"""Slopes with other figures held equal."""

import numpy as np
import pytest

from ranking.numerics.clustered_means import TooFewDialoguesError, clustered_difference
from ranking.numerics.partial import NothingLeftError, partial_slope
from tests.ranking.numerics import peers


@pytest.fixture
def sample(rng):
    """A figure that goes with y through a third one alone."""
    cluster = np.repeat(np.arange(40), 10)
    third = rng.normal(size=400)
    x = third + rng.normal(size=400)
    y = 2 * third + rng.normal(size=40)[cluster] + rng.normal(size=400)
    return y, x, np.column_stack([third, rng.normal(size=400)]), cluster


class TestPeers:
    def test_agrees_with_a_joint_regression(self, sample):
        y, x, controls, cluster = sample

        found = partial_slope(y, x, controls, cluster)

        design = peers.add_constant(np.column_stack([x, controls]))
        peer = peers.OLS(y, design).fit(cov_type="cluster", cov_kwds={"groups": cluster})
        small = np.sqrt((400 - 4) / (400 - 1))  # their correction for parameters
        assert found.mean == pytest.approx(peer.params[1], abs=1e-10)
        assert found.error == pytest.approx(peer.bse[1] * small, abs=1e-10)

    def test_without_controls_a_mark_gives_the_difference_of_means(self, sample):
        y, x, _, cluster = sample
        mark = x > 0

        found = partial_slope(y, mark.astype(float), np.empty((400, 0)), cluster)

        difference = clustered_difference(y, cluster, mark)
        assert (found.mean, found.error) == pytest.approx((difference.mean, difference.error))


class TestHeldEqual:
    def test_what_goes_through_a_third_figure_goes(self, sample):
        y, x, controls, cluster = sample

        raw = partial_slope(y, x, np.empty((400, 0)), cluster)
        held = partial_slope(y, x, controls, cluster)

        assert raw.p_value() < 0.001
        assert abs(held.mean) < 0.2 < raw.mean


class TestRefused:
    def test_a_figure_that_the_others_say(self, sample):
        y, _, controls, cluster = sample
        for x in (controls @ [1.0, 2.0] + 3, np.ones(400)):
            with pytest.raises(NothingLeftError):
                partial_slope(y, x, controls, cluster)

    def test_one_dialogue_and_what_does_not_fit(self, sample):
        y, x, controls, cluster = sample
        with pytest.raises(TooFewDialoguesError):
            partial_slope(y, x, controls, np.zeros(400, dtype=int))
        with pytest.raises(ValueError, match="shapes differ"):
            partial_slope(y, x[:-1], controls, cluster)
        with pytest.raises(ValueError, match="finite"):
            partial_slope(np.full(400, np.nan), x, controls, cluster)
