"""Clustered covariances against statsmodels, their definition, closed forms; few units."""

import dataclasses

import numpy as np
import pytest
import scipy
from scipy import special

from ranking.numerics import sandwich
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.few_units import (
    FEW_UNITS,
    bias_reduced_covariance,
    expanded_intervals,
    few_units_warning,
    robust_covariance,
)
from ranking.numerics.intervals import percentile_intervals
from ranking.numerics.sandwich import (
    ClusteredCovariance,
    clustered_covariance,
    fisher_covariance,
    two_way_covariance,
)
from ranking.numerics.tables import WeightedPairs, tabulate
from tests.ranking.numerics import peers
from tests.ranking.numerics.helpers import make_tables, simulate_tables

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


def strengths_of(tables):
    return fit_bradley_terry(tables.total()).log_strengths


def scaled(pairs, factor):
    return dataclasses.replace(
        pairs, to_first=pairs.to_first * factor, to_second=pairs.to_second * factor
    )


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
        once, seven = tables_of(pairs), tables_of(scaled(pairs, 7.0))
        theta = strengths_of(once)

        errors = clustered_covariance(seven, strengths_of(seven)).standard_errors

        np.testing.assert_allclose(strengths_of(seven), theta, atol=1e-9)
        np.testing.assert_allclose(errors, clustered_covariance(once, theta).standard_errors)
        # ... while the model's own errors take a five for five judgments.
        ratio = fisher_covariance(once, theta) / fisher_covariance(seven, theta)
        np.testing.assert_allclose(ratio, 7.0)

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


class TestFisherCovariance:
    def test_is_that_of_a_regression_that_takes_judgments_as_independent(self, rng):
        pairs, _ = judged(rng, soft=False)
        tables = tables_of(pairs)

        found = fisher_covariance(tables, strengths_of(tables))

        np.testing.assert_allclose(found, regression(pairs), atol=1e-8)

    def test_is_what_the_fit_returns(self, rng):
        tables = tables_of(judged(rng)[0])
        fit = fit_bradley_terry(tables.total())

        found = fisher_covariance(tables, fit.log_strengths)

        np.testing.assert_allclose(found, fit.covariance, rtol=1e-6, atol=1e-12)


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


THETA = [0.6, 0.1, -0.7]


def simulated(rng, n_units=12):
    tables = simulate_tables(rng, THETA, n_units=n_units, n_per_pair=3)
    return tables, fit_bradley_terry(tables.total()).log_strengths


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
        theta = fit_bradley_terry(tables.total()).log_strengths

        found = bias_reduced_covariance(tables, theta)

        expected = clustered_covariance(tables, theta)
        np.testing.assert_allclose(found.covariance, expected.covariance)
        np.testing.assert_allclose(found.degrees_of_freedom, 5.0)

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
        theta = fit_bradley_terry(tables.total()).log_strengths

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

        found = expanded_intervals(np.zeros(3), replicates, n_units=FEW_UNITS)

        expected = percentile_intervals(replicates)
        np.testing.assert_array_equal([found.low, found.high], [expected.low, expected.high])

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
