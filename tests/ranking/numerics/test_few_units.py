"""Errors of few units against their definition and closed forms."""

import numpy as np
import pytest
import scipy
from scipy import special

from ranking.numerics.clustered_means import clustered_mean
from ranking.numerics.few_units import (
    FEW_UNITS,
    bias_reduced_covariance,
    expanded_intervals,
    few_units_warning,
    robust_covariance,
)
from ranking.numerics.intervals import percentile_intervals
from ranking.numerics.sandwich import clustered_covariance
from ranking.numerics.simultaneous import effective_units
from tests.ranking.numerics.helpers import make_tables, simulate_tables, strengths_of

THETA = [0.6, 0.1, -0.7]


def simulated(rng, n_units=12):
    tables = simulate_tables(rng, THETA, n_units=n_units, n_per_pair=3)
    return tables, strengths_of(tables)


def root(matrix, power):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.maximum(values, 1e-12) ** power) @ vectors.T


def by_definition(tables, theta):
    """Compute CR2 and its degrees of freedom with matrices over all pairs of all units."""
    n, pairs = tables.n_systems, np.triu_indices(tables.n_systems, 1)
    wins = tables.rows.toarray().reshape(-1, n, n)
    counts = (wins + wins.swapaxes(1, 2))[:, *pairs]
    p = special.expit(theta[pairs[0]] - theta[pairs[1]])
    design = np.tile(np.eye(n)[pairs[0]] - np.eye(n)[pairs[1]], (len(wins), 1))
    weight = (counts * p * (1.0 - p)).ravel()
    residual = (wins[:, *pairs] - counts * p).ravel() / weight
    bread = np.linalg.pinv(design.T @ (weight[:, None] * design))
    rest = np.eye(len(weight)) - design @ bread @ (design.T * weight)
    variance = rest @ np.diag(1.0 / weight) @ rest.T
    pulls = np.zeros((len(wins), n, len(weight)))
    for number, here in enumerate(np.arange(len(weight)).reshape(len(wins), -1)):
        scale = np.diag(weight[here] ** 0.5)
        inner = scale @ variance[np.ix_(here, here)] @ scale
        adjusted = np.linalg.inv(scale) @ root(inner, -0.5) @ scale
        pulls[number][:, here] = bread @ (design[here].T * weight[here]) @ adjusted
    terms = pulls @ residual
    spread = np.einsum("cka,ab,dkb->kcd", pulls, variance, pulls)
    freedom = np.trace(spread, axis1=1, axis2=2) ** 2 / (spread**2).sum(axis=(1, 2))
    return terms.T @ terms, freedom


class TestBiasReducedCovariance:
    def test_is_what_its_definition_on_single_pairs_gives(self, rng):
        tables, theta = simulated(rng)

        found = bias_reduced_covariance(tables, theta)

        covariance, freedom = by_definition(tables, theta)
        np.testing.assert_allclose(found.covariance, covariance, atol=1e-9)
        np.testing.assert_allclose(found.degrees_of_freedom, freedom, rtol=1e-7)

    def test_units_alike_are_those_of_a_mean(self):
        # One pair judged ten times in each unit: the log odds are a mean over units, for which
        # the correction is n / (n - 1) exactly, with n - 1 degrees of freedom.
        tables = make_tables([[[0, wins], [10 - wins, 0]] for wins in (3, 8, 6, 7, 4, 9)])
        theta = strengths_of(tables)

        found = bias_reduced_covariance(tables, theta)

        expected = clustered_covariance(tables, theta)
        np.testing.assert_allclose(found.covariance, expected.covariance)
        np.testing.assert_allclose(found.degrees_of_freedom, 5.0)

    def test_weights_times_seven_change_nothing(self, rng):
        tables, theta = simulated(rng)
        seven = make_tables(7.0 * tables.rows.toarray().reshape(-1, 3, 3))

        found, expected = (bias_reduced_covariance(one, theta) for one in (seven, tables))

        np.testing.assert_allclose(found.covariance, expected.covariance)
        np.testing.assert_allclose(found.degrees_of_freedom, expected.degrees_of_freedom)

    @pytest.mark.parametrize("weight", [0.001, 0.5, 1.0, 7.0])
    @pytest.mark.parametrize("n_systems", [3, 5, 8])
    def test_units_that_each_determine_something_alone_have_one_degree_of_freedom(
        self, n_systems, weight
    ):
        chain = np.zeros((n_systems - 1, n_systems, n_systems))
        for unit, wins in enumerate(chain):
            wins[unit, unit + 1] = wins[unit + 1, unit] = weight

        found = bias_reduced_covariance(make_tables(chain), np.zeros(n_systems))

        assert np.isfinite(found.intervals(np.zeros(n_systems)).high).all()
        np.testing.assert_array_equal(found.degrees_of_freedom, 1.0)

    def test_a_unit_that_alone_joins_two_systems_gives_finite_errors(self):
        first = [[0, 2, 0], [1, 0, 0], [0, 0, 0]]
        tables = make_tables([first, first, [[0, 0, 0], [0, 0, 2], [0, 1, 0]]])
        theta = strengths_of(tables)

        found = bias_reduced_covariance(tables, theta)

        assert np.isfinite(found.standard_errors).all()


class TestRobustCovariance:
    def test_corrects_for_few_units_where_they_are_few(self, rng):
        few, many = simulated(rng, FEW_UNITS - 1), simulated(rng, FEW_UNITS)

        found = [robust_covariance(*one).covariance for one in (few, many)]

        np.testing.assert_array_equal(found[0], bias_reduced_covariance(*few).covariance)
        np.testing.assert_array_equal(found[1], clustered_covariance(*many).covariance)


class TestExpandedIntervals:
    def test_many_units_leave_the_percentiles_as_they_are(self, rng):
        replicates = rng.normal(size=(500, 3))

        found = expanded_intervals(np.zeros(3), replicates, n_units=10**9)

        expected = percentile_intervals(replicates)
        np.testing.assert_allclose([found.low, found.high], [expected.low, expected.high])

    def test_are_those_of_student_for_a_mean_of_few_normal_units(self, rng):
        n, spread = 10, 0.9**0.5  # as the bootstrap of a mean of variance 1 has it

        found = expanded_intervals(
            np.zeros(1), rng.normal(0.0, spread, size=(200_000, 1)), n_units=n
        )

        assert found.high[0] == pytest.approx(scipy.stats.t.ppf(0.975, n - 1), abs=0.03)

    def test_never_leave_the_estimate_out(self):
        found = expanded_intervals(np.array([5.0]), np.array([[1.0], [2.0]]), n_units=60)

        assert found.high[0] == 5.0

    def test_two_units_reach_to_the_ends(self, rng):
        replicates = rng.normal(size=(100, 1))

        found = expanded_intervals(np.zeros(1), replicates, n_units=2)

        assert found.low[0] == pytest.approx(replicates.min(), abs=0.1)


UNEVEN = np.repeat([1, 20], [55, 5])
"""Contexts of sixty dialogues, five of which hold nearly two thirds."""


class TestEffectiveUnits:
    @pytest.mark.parametrize(
        ("weights", "n"),
        [([3.0] * 7, 7), ([3.0, 0.0] * 7, 7), (UNEVEN, 12), ([1.0, 1e9], 2), ([0.0, 0.0], 2)],
    )
    def test_are_as_many_as_there_are_unless_some_outweigh_others(self, weights, n):
        assert effective_units(np.array(weights)) == n
        assert effective_units(np.array([weights, weights]).T).tolist() == [n, n]

    def test_intervals_of_means_hold_where_few_clusters_have_most_of_the_values(self, rng):
        cluster = np.arange(60).repeat(UNEVEN)
        ends = np.array(
            [
                clustered_mean(
                    rng.normal(size=60)[cluster] + rng.normal(size=len(cluster)), cluster
                ).interval(0.95)
                for _ in range(3_000)
            ]
        )

        # 0.910 in 20,000 studies; by the number of clusters 0.883
        assert ((ends[:, 0] <= 0.0) & (ends[:, 1] >= 0.0)).mean() > 0.897


class TestFewUnitsWarning:
    @pytest.mark.parametrize(
        ("n_units", "words"), [(19, "no interval"), (20, "correction"), (49, "correction")]
    )
    def test_says_what_few_units_do(self, n_units, words):
        assert words in (few_units_warning(n_units) or "")
        assert few_units_warning(50) is None


@pytest.mark.parametrize("covariance", [bias_reduced_covariance, clustered_covariance])
def test_a_single_unit_is_refused(covariance):
    with pytest.raises(ValueError, match="two units"):
        covariance(make_tables([[[0, 2], [1, 0]]]), np.zeros(2))
