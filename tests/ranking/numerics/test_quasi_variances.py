"""Quasi-variances: exact cases, and how near they come."""

import numpy as np
import pytest

from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.few_units import robust_covariance
from ranking.numerics.quasi_variances import quasi_variances
from tests.ranking.numerics.helpers import simulate_tables


class TestQuasiVariances:
    def test_are_the_variances_of_independent_strengths_in_any_gauge(self):
        variances = np.array([1.0, 4.0, 0.5, 2.0])
        centre = np.eye(4) - 0.25

        found = quasi_variances(centre @ np.diag(variances) @ centre)

        np.testing.assert_allclose(found.variances, variances, rtol=1e-6)
        assert found.worst_error < 1e-6

    def test_are_exact_for_three_systems(self):
        covariance = np.array([[2.0, 0.5, 0.3], [0.5, 1.0, -0.2], [0.3, -0.2, 1.5]])

        q = quasi_variances(covariance).variances

        # Three equations: Var(i - j) = q_i + q_j.
        expected = [2.0 - 0.5 - 0.3 - 0.2, 1.0 - 0.5 + 0.2 + 0.3, 1.5 - 0.3 + 0.2 + 0.5]
        np.testing.assert_allclose(q, expected, rtol=1e-6)

    def test_come_near_in_a_study(self, rng):
        tables = simulate_tables(rng, np.linspace(1, -1, 8), n_units=400, n_per_pair=2)
        theta = fit_bradley_terry(tables.total()).log_strengths
        covariance = robust_covariance(tables, theta)

        found = quasi_variances(covariance.covariance)

        errors = np.sqrt(found.variances[:, None] + found.variances[None, :])
        ratio = (errors / (covariance.difference_errors + np.eye(8)))[np.triu_indices(8, 1)]
        assert np.abs(ratio - 1.0).max() == pytest.approx(found.worst_error)
        assert found.worst_error < 0.12

    @pytest.mark.parametrize(
        ("covariance", "message"),
        [
            (np.eye(2), "three systems"),
            (np.ones((3, 4)), "three systems"),
            (np.zeros((3, 3)), "variance above 0"),
            (np.full((3, 3), np.nan), "variance above 0"),
        ],
        ids=["two", "oblong", "nothing", "nan"],
    )
    def test_refuse_what_has_none(self, covariance, message):
        with pytest.raises(ValueError, match=message):
            quasi_variances(covariance)
