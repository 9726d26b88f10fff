"""Clustered covariances against statsmodels, the bootstrap and their own invariants."""

from dataclasses import replace

import numpy as np
import pytest
import scipy
from scipy import special

from ranking.numerics import sandwich
from ranking.numerics.bootstrap import bootstrap_strengths
from ranking.numerics.sandwich import (
    ClusteredCovariance,
    clustered_covariance,
    fisher_covariance,
    two_way_covariance,
)
from ranking.numerics.tables import WeightedPairs, tabulate
from tests.ranking.numerics import peers
from tests.ranking.numerics.helpers import simulate_tables, strengths_of

N_SYSTEMS, N_UNITS, N_RATERS = 5, 40, 8


def judged(rng, *, n=900, soft=True):
    """Draw judgments one by one, with luck shared in a unit and habits of each rater."""
    unit, rater = rng.integers(N_UNITS, size=n), rng.integers(N_RATERS, size=n)
    first = rng.integers(N_SYSTEMS, size=n)
    second = (first + rng.integers(1, N_SYSTEMS, size=n)) % N_SYSTEMS
    quality = np.linspace(0.8, -0.8, N_SYSTEMS) + rng.normal(0, 0.7, size=(N_UNITS, N_SYSTEMS))
    habit = rng.normal(0, 0.3, size=(N_RATERS, N_SYSTEMS))
    seen = quality[unit, first] - quality[unit, second] + habit[rater, first] - habit[rater, second]
    won = rng.random(n) < special.expit(seen)
    share = np.where(won, 0.85, 0.15) if soft else won.astype(float)
    return WeightedPairs(unit, first, second, share, 1.0 - share), rater


def tables_of(pairs):
    return tabulate(pairs, n_units=N_UNITS, n_systems=N_SYSTEMS)


def regression(pairs, groups=None):
    """Fit the same model as a regression, the last system at 0; centre its covariance."""
    rows = np.arange(len(pairs.unit))
    design = np.zeros((len(rows), N_SYSTEMS))
    design[rows, pairs.first] += 1.0
    design[rows, pairs.second] -= 1.0
    model = peers.GLM(pairs.to_first, design[:, :-1], family=peers.Binomial())
    options = {} if groups is None else {"cov_type": "cluster", "cov_kwds": groups}
    fitted = model.fit(tol=1e-13, **options)
    full = np.zeros((N_SYSTEMS, N_SYSTEMS))
    full[:-1, :-1] = fitted.cov_params()
    centre = np.eye(N_SYSTEMS) - 1.0 / N_SYSTEMS
    return centre @ full @ centre


def clusters_factor(n_clusters):
    """Return the correction of R's vcovCL (type HC0, cadjust), which statsmodels leaves out."""
    return n_clusters / (n_clusters - 1.0)


class TestClusteredCovariance:
    @pytest.mark.parametrize("soft", [True, False], ids=["soft", "whole"])
    def test_is_that_of_a_regression_clustered_by_unit(self, rng, soft):
        pairs, _ = judged(rng, soft=soft)
        tables = tables_of(pairs)

        found = clustered_covariance(tables, strengths_of(tables))

        peer = regression(pairs, {"groups": pairs.unit, "use_correction": False})
        np.testing.assert_allclose(found.covariance, peer * clusters_factor(N_UNITS), atol=1e-8)
        np.testing.assert_allclose(found.covariance.sum(axis=0), 0.0, atol=1e-12)
        assert found.n_clusters == N_UNITS

    def test_weights_times_seven_change_neither_strengths_nor_errors(self, rng):
        pairs, _ = judged(rng, soft=False)
        heavy = replace(pairs, to_first=7 * pairs.to_first, to_second=7 * pairs.to_second)
        once, seven = tables_of(pairs), tables_of(heavy)
        theta = strengths_of(once)

        errors = clustered_covariance(seven, strengths_of(seven)).standard_errors

        np.testing.assert_allclose(strengths_of(seven), theta, atol=1e-9)
        np.testing.assert_allclose(errors, clustered_covariance(once, theta).standard_errors)
        # ... while the model's own errors take a five for five judgments.
        ratio = fisher_covariance(once, theta) / fisher_covariance(seven, theta)
        np.testing.assert_allclose(ratio, 7.0)

    def test_is_within_five_per_cent_of_the_bootstrap(self, rng):
        tables = simulate_tables(rng, [0.6, 0.2, 0.0, -0.8], n_units=300, n_per_pair=4)
        theta = strengths_of(tables)

        drawn = bootstrap_strengths(tables, theta, n_replicates=4_000, rng=rng).fitted()

        # 4,000 replicates know a standard deviation to about 1.1 %
        ratio = drawn.std(axis=0, ddof=1) / clustered_covariance(tables, theta).standard_errors
        np.testing.assert_allclose(ratio, 1.0, atol=0.05)

    def test_a_unit_without_judgments_does_not_count(self, rng):
        pairs, _ = judged(rng)
        tables = tables_of(pairs)
        wider = tabulate(pairs, n_units=N_UNITS + 5, n_systems=N_SYSTEMS)
        theta = strengths_of(tables)

        found = clustered_covariance(wider, theta)

        assert found.n_clusters == N_UNITS
        np.testing.assert_allclose(
            found.covariance, clustered_covariance(tables, theta).covariance, rtol=1e-10
        )

    def test_a_ridge_makes_errors_smaller(self, rng):
        tables = tables_of(judged(rng)[0])
        theta = strengths_of(tables)

        free, held = (clustered_covariance(tables, theta, ridge=ridge) for ridge in (0.0, 50.0))

        assert (held.standard_errors < free.standard_errors).all()


class TestFisherCovariance:
    def test_is_that_of_a_regression_that_takes_judgments_as_independent(self, rng):
        pairs, _ = judged(rng, soft=False)
        tables = tables_of(pairs)

        found = fisher_covariance(tables, strengths_of(tables))

        np.testing.assert_allclose(found, regression(pairs), atol=1e-8)


class TestTwoWayCovariance:
    def test_is_that_of_a_regression_clustered_in_both_ways(self, rng):
        pairs, rater = judged(rng)
        theta = strengths_of(tables_of(pairs))
        both = np.unique(pairs.unit * N_RATERS + rater, return_inverse=True)[1]

        found = two_way_covariance(pairs, rater, theta)

        one, other, crossed = (
            regression(pairs, {"groups": group, "use_correction": False})
            * clusters_factor(len(np.unique(group)))
            for group in (pairs.unit, rater, both)
        )
        np.testing.assert_allclose(found.covariance, one + other - crossed, atol=1e-8)
        assert found.n_clusters == N_RATERS
        assert set(found.degrees_of_freedom) == {N_RATERS - 1}

    def test_raters_of_their_own_for_each_judgment_change_nothing(self, rng):
        pairs, _ = judged(rng)
        tables = tables_of(pairs)
        theta = strengths_of(tables)

        found = two_way_covariance(pairs, np.arange(len(pairs.unit)), theta)

        expected = clustered_covariance(tables, theta)
        np.testing.assert_allclose(found.covariance, expected.covariance, atol=1e-12)
        assert found.n_clusters == N_UNITS

    def test_blocks_of_units_add_up_to_all(self, rng, monkeypatch):
        pairs, rater = judged(rng)
        theta = strengths_of(tables_of(pairs))
        whole = two_way_covariance(pairs, rater, theta)
        monkeypatch.setattr(sandwich, "BLOCK_CELLS", 7 * N_SYSTEMS)

        in_blocks = two_way_covariance(pairs, rater, theta)

        np.testing.assert_allclose(in_blocks.covariance, whole.covariance, atol=1e-14)

    @pytest.mark.parametrize("seed", range(5))
    def test_is_never_negative_in_any_direction(self, seed):
        rng = np.random.default_rng(seed)
        pairs, _ = judged(rng, n=60)
        rater = rng.integers(2, size=60)

        found = two_way_covariance(pairs, rater, np.zeros(N_SYSTEMS)).covariance

        assert np.linalg.eigvalsh(found).min() > -1e-12

    @pytest.mark.parametrize(
        ("n_raters", "message"),
        [(900, "two units"), (899, "differ in length")],
        ids=["one", "short"],
    )
    def test_refuses_a_single_rater_and_raters_of_another_length(self, rng, n_raters, message):
        pairs, _ = judged(rng)

        with pytest.raises(ValueError, match=message):
            two_way_covariance(pairs, np.zeros(n_raters, dtype=int), np.zeros(N_SYSTEMS))


class TestIntervals:
    COVARIANCE = ClusteredCovariance(np.array([[1.0, -1.0], [-1.0, 1.0]]), 10, np.array([9.0, 9.0]))

    def test_reach_as_far_as_the_t_distribution_says(self):
        found = self.COVARIANCE.intervals(np.array([3.0, -3.0]), level=0.9)

        margin = scipy.stats.t.ppf(0.95, 9)
        np.testing.assert_allclose(found.low, [3.0 - margin, -3.0 - margin])
        np.testing.assert_allclose(found.high, [3.0 + margin, -3.0 + margin])
        # The error of a difference knows how the two go together.
        np.testing.assert_allclose(self.COVARIANCE.difference_errors, [[0.0, 2.0], [2.0, 0.0]])

    def test_refuse_a_level_that_is_no_share(self):
        with pytest.raises(ValueError, match="level"):
            self.COVARIANCE.intervals(np.zeros(2), level=95.0)
