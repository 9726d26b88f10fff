"""Prediction-powered ratings: simulated judges, limits that are known, and what is too little."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import prediction_powered as benchmark
from benchmarks import simulation
from ranking.numerics.bradley_terry import NotConvergedError
from ranking.numerics.clustered_means import TooFewDialoguesError
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.prediction_powered import prediction_powered, variance_ratio
from ranking.numerics.sandwich import clustered_covariance
from ranking.numerics.strength_mode import StrengthMode
from ranking.numerics.tables import WeightedPairs, tabulate
from tests.ranking.numerics.helpers import strengths_of

TRUTH = simulation.limit(benchmark.true_strengths(), StrengthMode.SOFT)
SETTING = benchmark.Setting(n_dialogues=80, share=0.2)
N = benchmark.N_SYSTEMS


def study(judge, number=0, setting=SETTING):
    return benchmark.draw(setting, benchmark.JUDGES[judge], np.random.default_rng(number))


def duel(shares):
    """Return pairs of two systems, one in each unit."""
    first = np.zeros(len(shares), dtype=int)
    return WeightedPairs(np.arange(len(shares)), first, first + 1, shares, 1.0 - shares)


def filled(pairs, shares):
    """Return the pairs with people's shares replaced."""
    return replace(pairs, to_first=shares, to_second=1.0 - shares)


def clustered_fit(pairs, shares):
    tables = tabulate(filled(pairs, shares), n_units=int(pairs.unit.max()) + 1, n_systems=N)
    return tables, strengths_of(tables)


class TestSimulation:
    def test_a_biased_judge_narrows_intervals_and_leaves_no_bias(self):
        found = [study("biased", number).fits() for number in range(30)]

        people, judges, powered = (
            np.array([fits[place].log_strengths for fits in found]) - TRUTH for place in range(3)
        )
        # Nobody is off by more than the error of a mean of 30, but the judges are by far.
        assert np.abs(judges.mean(axis=0)).max() > 0.15
        assert np.abs(powered.mean(axis=0)).max() < 4 * people.std() / np.sqrt(30)
        assert (powered**2).mean() < (people**2).mean()
        ratios = [variance_ratio(alone, both) for alone, _, both in found]
        assert np.mean(ratios) > 1.15

    def test_its_intervals_hold_where_those_of_judges_alone_do_not(self):
        found = np.mean(
            [benchmark.measured(study("biased", number), TRUTH) for number in range(20)], axis=0
        )

        people, judges, powered = found[:3]
        assert min(people, powered) > 0.9
        assert judges < 0.5

    def test_errors_are_as_large_as_they_are_said_to_be(self):
        found = [study("fair", number).fits()[2] for number in range(40)]

        said = np.mean([fit.covariance.standard_errors for fit in found])
        strayed = np.array([fit.log_strengths for fit in found]).std(axis=0, ddof=1).mean()
        assert said == pytest.approx(strayed, rel=0.1)

    def test_a_judge_that_answers_at_random_is_left_out(self):
        people, _, powered = study("useless", setting=benchmark.Setting(300, 0.2)).fits()

        assert powered.power < 0.05
        np.testing.assert_allclose(powered.log_strengths, people.log_strengths, atol=0.01)
        assert variance_ratio(people, powered) == pytest.approx(1.0, abs=0.02)


class TestLimits:
    def test_a_power_of_0_is_the_fit_of_people_alone_with_its_sandwich(self):
        made = study("fair")
        by_people = np.isfinite(made.pairs.to_first)
        people = made.pairs.part(by_people)
        tables, theta = clustered_fit(people, people.to_first)

        found = prediction_powered(made.pairs, made.judged, n_systems=N, power=0.0)

        np.testing.assert_allclose(found.log_strengths, theta, atol=1e-9)
        peer = clustered_covariance(tables, theta)
        np.testing.assert_allclose(found.covariance.covariance, peer.covariance, atol=1e-9)
        assert found.covariance.n_clusters == peer.n_clusters
        assert (found.n_pairs, found.n_double) == (1600, by_people.sum())

    def test_judges_that_say_what_people_say_give_the_fit_of_all_pairs(self):
        made = study("fair")
        alike = np.where(np.isfinite(made.pairs.to_first), made.judged, np.nan)
        tables, theta = clustered_fit(made.pairs, made.judged)

        found = prediction_powered(filled(made.pairs, alike), made.judged, n_systems=N)

        # The best power is estimated where people's fit is, not at the maximum itself.
        assert found.power == pytest.approx(1.0, abs=0.03)
        whole = prediction_powered(filled(made.pairs, alike), made.judged, n_systems=N, power=1.0)
        np.testing.assert_allclose(whole.log_strengths, theta, atol=1e-9)
        np.testing.assert_allclose(found.log_strengths, theta, atol=0.01)
        errors = clustered_covariance(tables, theta).standard_errors
        # A factor of units with pairs of both, beside that of all units.
        np.testing.assert_allclose(whole.covariance.standard_errors, errors, rtol=0.01)

    def test_where_people_judged_all_pairs_judges_have_nothing_to_add(self):
        made = study("fair", setting=benchmark.Setting(20, 1.0))
        _, theta = clustered_fit(made.pairs, made.pairs.to_first)

        found = prediction_powered(made.pairs, made.judged, n_systems=N)

        assert found.power == 0.0
        np.testing.assert_allclose(found.log_strengths, theta, atol=1e-9)

    def test_the_maximum_is_where_the_corrected_gradient_is_0(self):
        made = study("biased")

        found = prediction_powered(made.pairs, made.judged, n_systems=N, power=0.6)

        theta, gradients = found.log_strengths, np.zeros(N)
        n_double = np.isfinite(made.pairs.to_first).sum()
        for row in range(len(made.judged)):
            i, j = made.pairs.first[row], made.pairs.second[row]
            expected = 1 / (1 + np.exp(theta[j] - theta[i]))
            pull = 0.6 * (made.judged[row] - expected) / len(made.judged)
            if np.isfinite(made.pairs.to_first[row]):
                by_people = made.pairs.to_first[row] - expected
                pull += (by_people - 0.6 * (made.judged[row] - expected)) / n_double
            gradients[i] += pull
            gradients[j] -= pull
        np.testing.assert_allclose(gradients, 0.0, atol=1e-9)

    def test_the_mean_of_one_pair_is_the_published_formula(self, rng):
        # Two systems, one pair a unit: the share is the mean of people, corrected by judges.
        n, by_people = 400, np.arange(400) < 100
        judged = rng.uniform(0.2, 0.9, n)
        said = np.clip(judged - 0.2 + rng.normal(0.0, 0.05, n), 0.0, 1.0)
        pairs = duel(np.where(by_people, said, np.nan))

        found = prediction_powered(pairs, judged, n_systems=2, power=0.5)

        share = said[:100].mean() + 0.5 * (judged.mean() - judged[:100].mean())
        assert np.diff(found.log_strengths)[0] == pytest.approx(np.log((1 - share) / share))
        # Delta method of log odds, for a mean of independent terms.
        terms = np.where(by_people, (said - said[:100].mean()) / 100, 0.0)
        terms += 0.5 * (judged - judged.mean()) / n
        terms -= np.where(by_people, 0.5 * (judged - judged[:100].mean()) / 100, 0.0)
        error = np.sqrt(100 / 99 * (terms**2).sum()) / (share * (1 - share))
        assert found.covariance.difference_errors[0, 1] == pytest.approx(error, rel=1e-9)


class TestProperties:
    def test_turning_pairs_round_changes_nothing(self, rng):
        made = study("biased")
        pairs, turn = made.pairs, rng.random(len(made.judged)) < 0.5
        turned = WeightedPairs(
            pairs.unit,
            np.where(turn, pairs.second, pairs.first),
            np.where(turn, pairs.first, pairs.second),
            np.where(turn, pairs.to_second, pairs.to_first),
            np.where(turn, pairs.to_first, pairs.to_second),
        )

        found = prediction_powered(pairs, made.judged, n_systems=N)
        other = prediction_powered(
            turned, np.where(turn, 1.0 - made.judged, made.judged), n_systems=N
        )

        assert other.power == pytest.approx(found.power, abs=1e-9)
        np.testing.assert_allclose(other.log_strengths, found.log_strengths, atol=1e-9)
        np.testing.assert_allclose(
            other.covariance.covariance, found.covariance.covariance, atol=1e-12
        )

    def test_the_best_power_is_better_than_those_beside_it(self):
        made = study("fair")

        best = prediction_powered(made.pairs, made.judged, n_systems=N)

        for power in (best.power - 0.2, best.power + 0.2):
            other = prediction_powered(made.pairs, made.judged, n_systems=N, power=power)
            assert variance_ratio(other, best) > 1.0


class TestTooLittle:
    @pytest.mark.parametrize(
        ("known", "error"),
        [
            (lambda pairs: np.full(len(pairs.unit), np.nan), TooFewDialoguesError),
            (lambda pairs: np.where(pairs.first == 0, np.nan, pairs.to_first), NotConnectedError),
        ],
        ids=["nothing by people", "systems that people never compared"],
    )
    def test_too_little_by_people_is_refused(self, known, error):
        made = study("fair")

        with pytest.raises(error):
            prediction_powered(filled(made.pairs, known(made.pairs)), made.judged, n_systems=N)

    def test_a_correction_beyond_all_shares_has_no_maximum(self):
        pairs = duel(np.array([0.9, 0.9, np.nan, np.nan]))

        with pytest.raises(NotConvergedError):
            prediction_powered(pairs, np.array([0.1, 0.1, 0.9, 0.9]), n_systems=2, power=1.0)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (
                lambda pairs, judged: (replace(pairs, to_second=pairs.to_first), judged),
                "add up to 1",
            ),
            (lambda pairs, judged: (pairs, judged + 1.0), "between 0 and 1"),
            (lambda pairs, judged: (pairs, judged[1:]), "one share of the judges"),
        ],
    )
    def test_figures_that_are_no_shares_are_refused(self, change, message):
        made = study("fair")

        with pytest.raises(ValueError, match=message):
            prediction_powered(*change(made.pairs, made.judged), n_systems=N)

    def test_a_power_beyond_1_is_refused(self):
        made = study("fair")

        with pytest.raises(ValueError, match="power"):
            prediction_powered(made.pairs, made.judged, n_systems=N, power=1.5)

    def test_where_nothing_varies_there_is_no_ratio(self):
        found = prediction_powered(duel(np.full(4, 0.5)), np.full(4, 0.5), n_systems=2)

        assert np.isnan(variance_ratio(found, found))
