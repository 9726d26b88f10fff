"""Judges held to people, calibrated and added: peers, known limits, judges made up."""

from dataclasses import replace

import numpy as np
import pytest
import scipy

from benchmarks import prediction_powered as benchmark
from benchmarks import simulation
from ranking.numerics.bradley_terry import NotConvergedError, fit_bradley_terry
from ranking.numerics.calibrated_judge import (
    clustered_wilson,
    cross_validated,
    fit_judge,
    folds,
    hits,
    squared_errors,
    turned_correlation,
    verdict_figures,
)
from ranking.numerics.clustered_means import TooFewDialoguesError
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.prediction_powered import prediction_powered, variance_ratio
from ranking.numerics.sandwich import clustered_covariance
from ranking.numerics.strength_mode import StrengthMode
from ranking.numerics.tables import WeightedPairs, tabulate
from tests.ranking.numerics import peers

WEIGHTS = np.array([1.2, -0.4, 0.0])


@pytest.fixture
def made_up(rng):
    """Return figures, who won, and dialogues, by known weights."""
    unit = np.repeat(np.arange(60), 10)
    figures = rng.normal(size=(600, 3)) * [1.0, 3.0, 0.2]
    won = rng.random(600) < 1 / (1 + np.exp(-figures @ WEIGHTS))
    return figures, won, unit


class TestPeers:
    def test_a_vanishing_penalty_gives_plain_maximum_likelihood(self, made_up):
        figures, won, _ = made_up

        found = fit_judge(figures, won, penalty=1e-9)

        peer = peers.Logit(won.astype(float), figures).fit(disp=0, tol=1e-12)
        np.testing.assert_allclose(found, peer.params, atol=1e-6)

    def test_the_penalty_is_half_the_squares_of_weights_on_even_scales(self, made_up):
        figures, won, _ = made_up
        size = np.sqrt((figures**2).mean(axis=0))
        sign = np.where(won, 1.0, -1.0)

        def loss(weights):
            return np.logaddexp(0.0, -sign * (figures / size @ weights)).sum() + 4.0 * (
                weights @ weights
            )

        found = fit_judge(figures, won, penalty=8.0)

        peer = scipy.optimize.minimize(loss, np.zeros(3), tol=1e-14)
        np.testing.assert_allclose(found * size, peer.x, atol=1e-6)

    def test_cross_validation_and_its_brier_score_are_those_of_a_plain_pipeline(self, made_up):
        figures, won, unit = made_up
        # Of one size throughout, so that the peer need not scale.
        figures = np.sign(figures)

        found = cross_validated(figures, won, unit)

        model = peers.LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=1000)
        pipeline = peers.make_pipeline(peers.FunctionTransformer(), model)
        peer = peers.cross_val_predict(
            pipeline, figures, won, groups=unit, cv=peers.GroupKFold(5), method="predict_proba"
        )
        np.testing.assert_allclose(found, peer[:, 1], atol=1e-6)
        score = peers.brier_score_loss(won, found)
        assert squared_errors(found, won).mean() == pytest.approx(score, abs=1e-12)

    @pytest.mark.parametrize("n_folds", [2, 5, 7])
    def test_dialogues_are_put_into_the_folds_of_the_library(self, rng, n_folds):
        unit = rng.choice([3, 8, 9, 20, 31, 40, 41, 42, 57], p=np.arange(1, 10) / 45, size=400)

        found = folds(unit, n_folds)

        for n, (_, held) in enumerate(peers.GroupKFold(n_folds).split(unit, groups=unit)):
            np.testing.assert_array_equal(np.flatnonzero(found == n), held)

    def test_wilsons_interval_of_independent_pairs_is_the_usual_one(self):
        # As many of each dialogue right as of any other: dialogues tell nothing more.
        values, unit = np.tile([1.0, 1.0, 1.0, 0.0], 10), np.repeat(np.arange(10), 4)

        found = clustered_wilson(values, unit, level=0.9)

        low, high = peers.proportion_confint(30, 40, alpha=0.1, method="wilson")
        assert (found.value, found.low, found.high) == pytest.approx((0.75, low, high), abs=1e-9)

    def test_wilsons_interval_of_alike_pairs_counts_dialogues(self):
        values, unit = np.repeat([1.0, 1.0, 1.0, 0.0], 10), np.repeat(np.arange(4), 10)

        found = clustered_wilson(values, unit)

        # 4 independent dialogues, less one for the unbiased variance.
        low, high = peers.proportion_confint(0.75 * 3, 3, method="wilson")
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)

    def test_the_correlation_is_pearsons_of_pairs_both_ways(self, rng):
        p, share = rng.random(50), rng.random(50)
        share = 0.7 * p + 0.3 * share

        found = turned_correlation(p, share, np.arange(50) // 2)

        peer = np.corrcoef(np.append(p, 1 - p), np.append(share, 1 - share))[0, 1]
        assert found.value == pytest.approx(peer, abs=1e-12)
        assert found.low < found.value < found.high

    def test_its_interval_holds_as_often_as_it_says(self):
        held = []
        for seed in range(300):
            rng = np.random.default_rng(seed)
            shared = rng.normal(size=(2, 40)).repeat(5, axis=1)
            x, y = 0.5 + 0.1 * (rng.normal(size=(2, 200)) + shared * [[1.0], [0.0]])
            found = turned_correlation(x, 0.5 * x + 0.5 * y, np.arange(200) // 5)
            held.append(found.low <= np.sqrt(2 / 3) <= found.high)

        # Two standard errors of 300 studies about 95 %, and a little for few dialogues.
        assert 0.91 <= np.mean(held) <= 0.98


class TestJudges:
    def test_others_stand_in_for_a_judge_that_says_nothing(self):
        verdicts = np.array([[0.6, 0.2], [np.nan, -0.4], [np.nan, np.nan]])

        found = verdict_figures(verdicts)

        expected = [[0.6, 0.2, 0.0, 0.0], [0.0, -0.4, -0.4, 0.0], [0.0, 0.0, 0.0, 0.0]]
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(verdict_figures(verdicts[:1]), [[0.6, 0.2]])


class TestProperties:
    def test_no_dialogue_is_predicted_from_itself(self, rng):
        # Each dialogue has its own figure, which tells all about it and about no other.
        unit = np.repeat(np.arange(10), 20)
        won = rng.random(200) < 0.5
        figures = np.where(won, 1.0, -1.0)[:, None] * (unit[:, None] == np.arange(10))

        p = cross_validated(figures, won, unit)

        np.testing.assert_allclose(p, 0.5)
        assert hits(p, won).mean() == 0.5

    def test_an_outcome_that_is_always_the_same_is_learned_all_the_same(self):
        weights = fit_judge(np.ones((6, 1)), np.ones(6, dtype=bool))

        assert 0.0 < weights[0] < 5.0


class TestTooLittle:
    def test_fewer_dialogues_than_folds_are_refused(self, made_up):
        figures, won, _ = made_up

        with pytest.raises(TooFewDialoguesError, match="4 dialogues"):
            cross_validated(figures, won, np.arange(600) % 4)

    @pytest.mark.parametrize(
        ("figures", "won", "penalty", "message"),
        [
            (np.ones((1, 3)), np.ones(1), 1.0, "two rows"),
            (np.ones((6, 3)), np.ones(5), 1.0, "each with its outcome"),
            (np.full((6, 3), np.nan), np.ones(6), 1.0, "finite"),
            (np.ones((6, 3)), np.ones(6), 0.0, "penalty"),
        ],
    )
    def test_what_cannot_be_learned_from_is_refused(self, figures, won, penalty, message):
        with pytest.raises(ValueError, match=message):
            fit_judge(figures, won.astype(bool), penalty=penalty)

    def test_one_dialogue_has_figures_and_no_intervals(self):
        values, unit = np.array([0.9, 0.3, 0.8]), np.zeros(3, dtype=int)

        wilson = clustered_wilson(values, unit)
        correlation = turned_correlation(values, values**2, unit)

        assert wilson.value == pytest.approx(2 / 3)
        assert correlation.value > 0
        assert np.isnan([wilson.low, wilson.high, correlation.low, correlation.high]).all()
        assert np.isnan(clustered_wilson(np.empty(0), np.empty(0, dtype=int)).value)

    def test_what_never_varies_has_no_correlation_and_what_is_equal_has_all(self):
        even, p, unit = np.full(4, 0.5), np.array([0.1, 0.7, 0.6, 0.2]), np.arange(4)

        assert np.isnan(turned_correlation(even, p, unit).value)
        same = turned_correlation(p, p, unit)
        assert (same.low, same.value, same.high) == pytest.approx((1.0, 1.0, 1.0))


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
    return tables, fit_bradley_terry(tables.total()).log_strengths


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

    def test_a_judge_that_answers_at_random_is_left_out(self):
        people, _, powered = study("useless", setting=benchmark.Setting(300, 0.2)).fits()

        assert powered.power < 0.05
        np.testing.assert_allclose(powered.log_strengths, people.log_strengths, atol=0.01)
        assert variance_ratio(people, powered) == pytest.approx(1.0, abs=0.02)


class TestLimits:
    def test_a_power_of_0_is_the_fit_of_people_alone_with_its_sandwich(self):
        made = study("fair")
        by_people = np.isfinite(made.pairs.to_first)
        unit, first, second = (
            column[by_people] for column in (made.pairs.unit, made.pairs.first, made.pairs.second)
        )
        said = made.pairs.to_first[by_people]
        tables, theta = clustered_fit(WeightedPairs(unit, first, second, said, 1 - said), said)

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


class TestPower:
    def test_the_best_power_is_better_than_those_beside_it(self):
        made = study("fair")

        best = prediction_powered(made.pairs, made.judged, n_systems=N)

        for power in (best.power - 0.2, best.power + 0.2):
            other = prediction_powered(made.pairs, made.judged, n_systems=N, power=power)
            assert variance_ratio(other, best) > 1.0


class TestTooLittleByPeople:
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
