"""A judge calibrated by people: peers, judges made up, properties, and what is too little."""

import numpy as np
import pytest
import scipy

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
from tests.ranking.numerics import peers

WEIGHTS = np.array([1.2, -0.4, 0.0])


def few_dialogues(n, n_dialogues, *, level=0.95):
    """By what the number of pairs is multiplied where dialogues are few."""
    every, dialogues = (scipy.stats.t.ppf((1 + level) / 2, k - 1) for k in (n, n_dialogues))
    return (every / dialogues) ** 2


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

    def test_cross_validation_is_that_of_a_plain_pipeline(self, made_up):
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

    @pytest.mark.parametrize("n_folds", [2, 5, 7])
    def test_dialogues_are_put_into_the_folds_of_the_library(self, rng, n_folds):
        unit = rng.choice([3, 8, 9, 20, 31, 40, 41, 42, 57], p=np.arange(1, 10) / 45, size=400)

        found = folds(unit, n_folds)

        for n, (_, held) in enumerate(peers.GroupKFold(n_folds).split(unit, groups=unit)):
            np.testing.assert_array_equal(np.flatnonzero(found == n), held)

    def test_the_brier_score_is_that_of_the_library(self, made_up):
        figures, won, unit = made_up
        p = cross_validated(figures, won, unit)

        assert squared_errors(p, won).mean() == pytest.approx(
            peers.brier_score_loss(won, p), abs=1e-12
        )

    def test_wilsons_interval_of_independent_pairs_is_the_usual_one(self):
        # As many of each dialogue right as of any other: only that these are few tells more.
        values, unit = np.tile([1.0, 1.0, 1.0, 0.0], 10), np.repeat(np.arange(10), 4)

        found = clustered_wilson(values, unit, level=0.9)

        n = 40 * few_dialogues(40, 10, level=0.9)
        low, high = peers.proportion_confint(0.75 * n, n, alpha=0.1, method="wilson")
        assert (found.value, found.low, found.high) == pytest.approx((0.75, low, high), abs=1e-9)

    def test_wilsons_interval_of_alike_pairs_counts_dialogues(self):
        values, unit = np.repeat([1.0, 1.0, 1.0, 0.0], 10), np.repeat(np.arange(4), 10)

        found = clustered_wilson(values, unit)

        # 4 independent dialogues, less one for the unbiased variance.
        n = 3 * few_dialogues(40, 4)
        low, high = peers.proportion_confint(0.75 * n, n, method="wilson")
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)

    @pytest.mark.parametrize("value", [0.0, 1.0])
    def test_pairs_that_are_all_right_or_wrong_count_as_dialogues(self, value):
        found = clustered_wilson(np.full(40, value), np.repeat(np.arange(5), 8))

        n = 5 * few_dialogues(40, 5)
        low, high = peers.proportion_confint(value * n, n, method="wilson")
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
    def test_judges_that_know_nothing_are_right_half_the_time(self, rng):
        won, verdicts = rng.random(4000) < 0.5, rng.choice([-0.6, 0.0, 0.6], (4000, 3))

        p = cross_validated(verdict_figures(verdicts), won, np.arange(4000) // 10)

        # 0.03 is four standard errors.
        assert hits(p, won).mean() == pytest.approx(0.5, abs=0.03)
        assert squared_errors(p, won).mean() == pytest.approx(0.25, abs=0.005)

    def test_probabilities_are_as_often_right_as_they_say(self, rng):
        verdicts = rng.normal(size=(20_000, 2))
        won = rng.random(20_000) < 1 / (1 + np.exp(-verdicts @ [1.5, 0.5]))

        p = cross_validated(verdict_figures(verdicts), won, np.arange(20_000) // 20)

        for low in (0.1, 0.4, 0.7):
            part = (p > low) & (p < low + 0.2)
            assert won[part].mean() == pytest.approx(p[part].mean(), abs=0.03)

    def test_others_stand_in_for_a_judge_that_says_nothing(self):
        verdicts = np.array([[0.6, 0.2], [np.nan, -0.4], [np.nan, np.nan]])

        found = verdict_figures(verdicts)

        expected = [[0.6, 0.2, 0.0, 0.0], [0.0, -0.4, -0.4, 0.0], [0.0, 0.0, 0.0, 0.0]]
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(verdict_figures(verdicts[:1]), [[0.6, 0.2]])


class TestProperties:
    def test_turning_pairs_round_turns_probabilities(self, made_up, rng):
        figures, won, unit = made_up
        turn = rng.random(len(won)) < 0.5

        p = cross_validated(figures, won, unit)
        other = cross_validated(np.where(turn[:, None], -figures, figures), won ^ turn, unit)

        np.testing.assert_allclose(np.where(turn, 1 - other, other), p, atol=1e-7)

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
