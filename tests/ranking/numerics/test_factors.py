"""Factors and reliability, held against published figures and other packages."""

import numpy as np
import pytest

from ranking.numerics.factors import (
    FactorsUndefinedError,
    correlations,
    cronbach_alphas,
    factor_analysis,
    independent_things,
    mcdonald_omegas,
    moments,
    most_factors,
    parallel_analysis,
)
from tests.ranking.numerics import peers
from tests.ranking.numerics.helpers import published

# Six tests of 112 people: Smith & Stanley (1983), as ability.cov in R's datasets.
ABILITY_COVARIANCE = np.array(
    [
        [24.641, 5.991, 33.520, 6.023, 20.755, 29.701],
        [5.991, 6.700, 18.137, 1.782, 4.936, 7.204],
        [33.520, 18.137, 149.831, 19.424, 31.430, 50.753],
        [6.023, 1.782, 19.424, 12.711, 4.757, 9.075],
        [20.755, 4.936, 31.430, 4.757, 52.604, 66.762],
        [29.701, 7.204, 50.753, 9.075, 66.762, 135.292],
    ]
)
# What factanal prints for them in R's own examples.
ONE_FACTOR = [0.682, 0.384, 0.502, 0.300, 0.877, 0.849]
UNIQUE_OF_TWO = [0.455, 0.589, 0.218, 0.769, 0.052, 0.334]
VARIMAX = np.transpose(
    [[0.499, 0.156, 0.206, 0.109, 0.956, 0.785], [0.543, 0.622, 0.860, 0.468, 0.182, 0.225]]
)

EQUAL = np.full((6, 6), 0.4) + 0.6 * np.eye(6)


def to_correlation(covariance):
    spread = np.sqrt(np.diag(covariance))
    return covariance / np.outer(spread, spread)


@pytest.fixture
def ability():
    return to_correlation(ABILITY_COVARIANCE)


def simulate_two(rng, n=4000):
    """Six measures, three of each of two factors that correlate."""
    factors = rng.multivariate_normal([0, 0], [[1, 0.4], [0.4, 1]], size=n)
    loadings = np.array([[0.8, 0], [0.7, 0], [0.6, 0], [0, 0.9], [0, 0.7], [0, 0.5]])
    unique = 1 - (loadings**2).sum(axis=1)
    return factors @ loadings.T + rng.normal(size=(n, 6)) * np.sqrt(unique), loadings


def simulate_many(n_measures, n_factors):
    """Correlations of measures that each have most of one factor, and a little of every other."""
    rng = np.random.default_rng(n_measures)
    loadings = rng.uniform(-0.3, 0.3, (n_factors, n_measures))
    loadings[np.arange(n_measures) % n_factors, np.arange(n_measures)] = 1.0
    common = rng.normal(size=(5000, n_factors)) @ loadings
    return np.corrcoef(common + rng.normal(size=common.shape), rowvar=False)


class TestFactorAnalysis:
    def test_gives_the_published_loadings_of_one_factor(self, ability):
        found = factor_analysis(ability, 1)

        assert found.loadings[:, 0] == pytest.approx(ONE_FACTOR, abs=6e-4)

    def test_gives_the_published_communalities_of_two_and_implies_their_correlations(self, ability):
        found = factor_analysis(ability, 2)

        assert 1 - found.communalities == pytest.approx(UNIQUE_OF_TWO, abs=6e-4)
        common = found.loadings @ found.correlation @ found.loadings.T
        assert common == pytest.approx(VARIMAX @ VARIMAX.T, abs=2e-3)

    def test_agrees_with_scikit_learn(self, rng):
        values, _ = simulate_two(rng)
        z = (values - values.mean(axis=0)) / values.std(axis=0)

        found = factor_analysis(np.corrcoef(z, rowvar=False), 2)

        theirs = peers.FactorAnalysis(2, tol=1e-12, max_iter=50_000, svd_method="lapack").fit(z)
        common = found.loadings @ found.correlation @ found.loadings.T
        assert common == pytest.approx(theirs.components_.T @ theirs.components_, abs=1e-6)
        assert 1 - found.communalities == pytest.approx(theirs.noise_variance_, abs=1e-6)

    @pytest.mark.parametrize(("n_measures", "n_factors"), [(3, 1), (5, 2), (6, 2), (7, 3), (8, 4)])
    def test_is_likeliest_and_simplest_by_statsmodels(self, n_measures, n_factors):
        correlation = simulate_many(n_measures, n_factors)

        found = factor_analysis(correlation, n_factors)

        model = peers.Factor(corr=correlation, n_factor=n_factors, method="ml")
        apart = found.loadings @ np.linalg.cholesky(found.correlation)
        assert model.score((apart, 1 - found.communalities)) == pytest.approx(0.0, abs=1e-6)
        loadings, turn = apart, np.eye(n_factors)
        if n_factors > 1:
            loadings, turn = peers.rotate_factors(apart, "quartimin", max_tries=5000, tol=1e-8)
        order = np.argsort(-(loadings**2).sum(axis=0))
        sign = np.sign(loadings.sum(axis=0))[order]
        assert found.loadings == pytest.approx(loadings[:, order] * sign, abs=1e-6)
        between = (turn.T @ turn)[np.ix_(order, order)] * np.outer(sign, sign)
        assert found.correlation == pytest.approx(between, abs=1e-6)

    @pytest.mark.filterwarnings("ignore:Fitting did not converge")  # to its last digit
    def test_is_what_statsmodels_finds_from_elsewhere(self):
        correlation = simulate_many(6, 2)

        found = factor_analysis(correlation, 2)

        peer = peers.Factor(corr=correlation, n_factor=2, method="ml").fit(
            opt={"gtol": 1e-9}, rng=1
        )
        assert found.communalities == pytest.approx(1 - peer.uniqueness, abs=1e-5)

    def test_goes_to_the_edge_where_one_measure_is_the_factor(self):
        # The correlations ask for loadings of 1.2, .5 and .5, and no variance is below 0.
        found = factor_analysis(np.array([[1, 0.6, 0.6], [0.6, 1, 0.25], [0.6, 0.25, 1]]), 1)

        assert found.communalities == pytest.approx([1.0, 0.36, 0.36], abs=1e-5)
        assert found.loadings[:, 0] == pytest.approx([1.0, 0.6, 0.6], abs=1e-5)

    def test_turns_with_a_measure_that_is_turned_round(self, ability):
        sign = np.array([1, 1, -1, 1, 1, 1])

        one, other = factor_analysis(ability, 1), factor_analysis(ability * np.outer(sign, sign), 1)

        assert other.loadings[:, 0] == pytest.approx(one.loadings[:, 0] * sign, abs=1e-6)

    @pytest.mark.parametrize(
        ("correlation", "n_factors", "error", "message"),
        [
            (np.eye(2), 1, FactorsUndefinedError, "2 measures have no factors"),
            (to_correlation(ABILITY_COVARIANCE), 4, FactorsUndefinedError, "1 to 3 factors, not 4"),
            (np.ones((4, 4)), 1, FactorsUndefinedError, "follows from the others"),
            # Whatever came out for more hung on the last digits, and so on the processor.
            (EQUAL, 2, FactorsUndefinedError, "1 already explain"),
            (EQUAL, 3, FactorsUndefinedError, "2 already explain"),
            (np.full((3, 3), np.nan), 1, ValueError, "finite square"),
        ],
    )
    def test_refuses_what_has_no_factors(self, correlation, n_factors, error, message):
        with pytest.raises(error, match=message):
            factor_analysis(correlation, n_factors)

    @pytest.mark.parametrize(("n_measures", "most"), [(2, 0), (3, 1), (4, 1), (5, 2), (6, 3)])
    def test_tells_so_many_factors_apart(self, n_measures, most):
        assert most_factors(n_measures) == most


class TestParallelAnalysis:
    def test_finds_the_two_factors_that_there_are(self, rng):
        values, _ = simulate_two(rng, n=400)

        found = parallel_analysis(np.corrcoef(values, rowvar=False), 400, n_samples=200, rng=rng)

        assert found.n_factors == 2
        assert found.eigenvalues.sum() == pytest.approx(6.0)

    def test_finds_none_in_measures_that_have_nothing_in_common(self, rng):
        found = parallel_analysis(np.eye(5), 200, n_samples=200, rng=rng)

        assert found.n_factors == 0

    def test_draws_what_correlations_of_unrelated_measures_give(self, rng):
        found = parallel_analysis(np.eye(4), 50, n_samples=2000, rng=rng)

        drawn = rng.normal(size=(2000, 50, 4))
        largest = [np.linalg.eigvalsh(np.corrcoef(one, rowvar=False))[-1] for one in drawn]
        assert found.by_chance[0] == pytest.approx(np.quantile(largest, 0.95), abs=0.03)

    def test_of_pairs_with_opposite_marks_makes_no_factor_of_chance(self, rng):
        unit = np.tile(np.repeat(np.arange(50), 4), 2)
        n_found = 0
        for _ in range(60):
            lead = rng.normal(size=(200, 5))
            z = np.concatenate([lead, -lead])
            n = independent_things(moments(z / z.std(axis=0), unit, n_units=50))
            correlation = np.corrcoef(z, rowvar=False)
            n_found += parallel_analysis(correlation, n, n_samples=200, rng=rng).n_factors > 0

        # Were all messages counted as such, 42 of 100 studies would show a factor.
        assert n_found <= 8

    def test_refuses_fewer_things_than_measures(self, ability, rng):
        with pytest.raises(FactorsUndefinedError, match="6 things"):
            parallel_analysis(ability, 6, n_samples=10, rng=rng)


class TestIndependentThings:
    def test_copies_in_the_same_unit_tell_nothing_new(self, rng):
        values, unit = rng.normal(size=(3000, 4)), np.arange(3000) // 3
        z = (values - values.mean(axis=0)) / values.std(axis=0)

        alone = independent_things(moments(z, unit, n_units=1000))
        copied = independent_things(moments(np.tile(z, (4, 1)), np.tile(unit, 4), n_units=1000))

        assert alone == copied == pytest.approx(3000, rel=0.05)

    @pytest.mark.parametrize("n_units", [1, 40])
    def test_are_no_more_than_there_are(self, rng, n_units):
        z = np.tile(rng.normal(size=(5, 3)), (40, 1))

        found = independent_things(
            moments(z, np.repeat(np.arange(40), 5) % n_units, n_units=n_units)
        )

        assert found == 200


class TestReliability:
    def test_of_the_published_leaderboard_is_that_of_one_factor(self):
        values = np.column_stack(published(*"HEART"))

        correlation = np.corrcoef(values, rowvar=False)

        assert np.linalg.eigvalsh(correlation)[-1] == pytest.approx(4.70, abs=0.005)
        # The figure of .983 takes the dimensions as they are, the one here standardised.
        size, covariance = 5, np.cov(values, rowvar=False)
        raw = size / (size - 1) * (1 - np.trace(covariance) / covariance.sum())
        assert raw == pytest.approx(0.983, abs=5e-4)
        assert cronbach_alphas(correlation[None])[0] == pytest.approx(raw, abs=2e-3)

    def test_alpha_is_that_of_spearman_and_brown_for_equal_correlations(self):
        correlation = np.full((1, 4, 4), 0.3) + 0.7 * np.eye(4)

        assert cronbach_alphas(correlation)[0] == pytest.approx(4 * 0.3 / (1 + 3 * 0.3))
        assert mcdonald_omegas(correlation)[0] == pytest.approx(4 * 0.3 / (1 + 3 * 0.3))

    def test_omega_is_that_of_the_loadings_that_made_the_correlations(self):
        loadings = np.array([0.9, 0.7, 0.5, 0.3])
        correlation = np.outer(loadings, loadings)
        np.fill_diagonal(correlation, 1.0)
        expected = loadings.sum() ** 2 / (loadings.sum() ** 2 + (1 - loadings**2).sum())

        assert mcdonald_omegas(correlation[None])[0] == pytest.approx(expected, abs=1e-6)

    def test_correlations_of_a_sample_are_those_of_the_units_drawn(self, rng):
        values, unit = rng.normal(size=(40, 3)) + 5.0, np.repeat(np.arange(10), 4)
        times = rng.multinomial(10, np.full(10, 0.1), size=3)

        found = correlations(moments(values, unit, n_units=10), times.astype(float))

        for row, one in zip(times, found, strict=True):
            drawn = np.repeat(values, row[unit], axis=0)
            assert one == pytest.approx(np.corrcoef(drawn, rowvar=False), abs=1e-9)

    def test_is_not_known_of_a_measure_that_does_not_vary(self, rng):
        values = np.column_stack([rng.normal(size=(20, 2)), np.ones(20)])

        found = correlations(moments(values, np.arange(20), n_units=20), np.ones((1, 20)))

        assert np.isnan(mcdonald_omegas(found)).all()
        assert np.isnan(cronbach_alphas(found)).all()
