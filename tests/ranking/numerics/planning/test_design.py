"""Power under a study's own design."""

import numpy as np
import pytest
import scipy

from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.planning.design import (
    Contrast,
    contrast,
    detectable_difference,
    needed_units,
    predicted_power,
    simulated_power,
)
from ranking.numerics.sandwich import clustered_covariance
from tests.ranking.numerics.helpers import make_tables, simulate_tables


@pytest.fixture
def study(rng):
    tables = simulate_tables(rng, [0.3, 0.1, 0.0, -0.4], n_units=120, n_per_pair=3)
    return tables, fit_bradley_terry(tables.total()).log_strengths


def of_pair(study, pair):
    tables, theta = study
    return contrast(tables, theta, pair)


class TestContrast:
    def test_has_the_clustered_error_of_the_difference(self, study):
        found = of_pair(study, (0, 2))

        errors = clustered_covariance(*study).difference_errors
        assert found.standard_error(120) == pytest.approx(errors[0, 2])
        assert found.standard_error(480) == pytest.approx(errors[0, 2] / 2)

    def test_has_a_design_effect_of_1_for_independent_judgments(self, rng):
        tables = simulate_tables(rng, [0.3, 0, -0.3], n_units=3000, n_per_pair=1, shared_sd=0.0)
        theta = fit_bradley_terry(tables.total()).log_strengths

        assert contrast(tables, theta, (0, 1)).design_effect == pytest.approx(1.0, abs=0.1)

    def test_has_a_design_effect_of_5_when_five_raters_always_agree(self, rng):
        """Two systems: every unit is one opinion five times."""
        wins = np.zeros((2000, 2, 2))
        first = rng.integers(0, 2, size=2000)
        wins[np.arange(2000), first, 1 - first] = 5
        tables = make_tables(wins)

        found = contrast(tables, fit_bradley_terry(tables.total()).log_strengths, (0, 1))

        assert found.design_effect == pytest.approx(5.0, abs=0.02)


class TestPower:
    def test_of_no_difference_is_the_level(self, study):
        assert predicted_power(of_pair(study, (0, 1)), 0.0, 60) == pytest.approx(0.05)

    def test_is_that_of_a_t_test(self):
        """Peer: the noncentral t distribution, for a plain sample of 200."""
        of = Contrast(np.tile([1.0, -1.0], 100) / 200, 1.0)

        peer = scipy.stats.nct.sf(scipy.stats.t.ppf(0.975, 199), 199, 0.2 / of.standard_error(200))

        assert predicted_power(of, 0.2, 200) == pytest.approx(peer, abs=0.005)

    def test_is_reached_by_the_number_of_units_said_to_be_needed(self, study):
        of = of_pair(study, (0, 1))

        n = needed_units(of, 0.2)

        assert predicted_power(of, 0.2, n) >= 0.8 > predicted_power(of, 0.2, n - 1)

    def test_is_reached_by_the_difference_said_to_be_detectable(self, study):
        of = of_pair(study, (0, 1))

        assert predicted_power(of, detectable_difference(of, 90), 90) == pytest.approx(
            0.8, abs=1e-4
        )

    def test_agrees_with_simulated_studies(self, study, rng):
        of = of_pair(study, (0, 1))
        n = needed_units(of, 0.25)

        found = simulated_power(of, 0.25, n, n_studies=4000, rng=rng)

        assert found == pytest.approx(predicted_power(of, 0.25, n), abs=0.02)

    def test_is_certain_where_nothing_varies(self):
        of = Contrast(np.zeros(5), 0.0)

        assert predicted_power(of, 0.1, 5) == 1.0
        assert predicted_power(of, 0.0, 5) == 0.0

    def test_is_refused_without_units_or_difference(self, study, rng):
        of = of_pair(study, (0, 1))
        with pytest.raises(ValueError, match="two units"):
            predicted_power(of, 0.1, 1)
        with pytest.raises(ValueError, match="two units"):
            detectable_difference(of, 1)
        with pytest.raises(ValueError, match="difference of 0"):
            needed_units(of, 0.0)
        with pytest.raises(ValueError, match="cannot simulate"):
            simulated_power(of, 0.1, 10, n_studies=0, rng=rng)
