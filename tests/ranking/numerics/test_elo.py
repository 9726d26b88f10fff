"""The Elo scale and the paper's standard error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ranking.numerics.elo import ELO_PER_LOG_UNIT, paper_standard_errors, to_elo

thetas = hnp.arrays(float, 4, elements=st.floats(-5.0, 5.0))


class TestToElo:
    def test_ten_to_one_odds_are_400_points(self):
        ratings = to_elo(np.array([np.log(10.0), 0.0]))

        assert ratings[0] - ratings[1] == pytest.approx(400.0)

    def test_a_share_of_55_percent_is_about_35_points(self):
        assert ELO_PER_LOG_UNIT * np.log(0.55 / 0.45) == pytest.approx(34.86, abs=0.01)

    @given(thetas, st.floats(-100.0, 100.0))
    def test_adding_a_constant_changes_nothing(self, theta, constant):
        np.testing.assert_allclose(to_elo(theta + constant), to_elo(theta), atol=1e-8)

    @given(thetas)
    def test_the_mean_is_the_centre(self, theta):
        assert to_elo(theta, centre=1000.0).mean() == pytest.approx(1000.0)

    def test_every_replicate_is_centred_on_its_own(self):
        ratings = to_elo(np.array([[1.0, 3.0], [10.0, 12.0]]))

        np.testing.assert_allclose(ratings[0], ratings[1])


class TestPaperStandardErrors:
    def test_is_one_over_the_root_of_the_comparisons(self):
        np.testing.assert_allclose(paper_standard_errors(np.array([4.0, 100.0])), [0.5, 0.1])

    def test_refuses_a_system_without_comparisons(self):
        with pytest.raises(ValueError, match="at least one"):
            paper_standard_errors(np.array([3.0, 0.0]))
