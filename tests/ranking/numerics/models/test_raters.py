"""Models of evaluators: a published example, general searches, raters made up, own scales."""

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from ranking.numerics.bradley_terry import NotConvergedError
from ranking.numerics.models.crowd import (
    PreferenceAnswers,
    fit_crowd,
    fit_dawid_skene,
    log_posterior,
)
from ranking.numerics.models.severity import GROUP_SD, SEVERITY_SD, STRENGTH_SD, Calls, fit_severity
from ranking.numerics.rater_scales import FEWEST, PRIOR, NoSpreadError, from_the_others, normalise
from tests.ranking.numerics import peers
from tests.ranking.numerics.helpers import draw_pairs

THETA = np.array([1.2, 0.4, -0.3, -1.3])

# Fitness for anaesthesia of 45 patients, from 1 to 4: three answers of the first anaesthetist,
# one of each of four others. Dawid & Skene (1979), Appl. Statist. 28:20-28, table 1.
ANAESTHETISTS = """
    1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444
    2223343 1111111 2223212 1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221
    2223222 2212222 1111111 1111111 2322222 1111111 1111111 1121121 1111111 3333233 1111111
    2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 1212111 2322222 1211111
    2222222
"""
CLASSES = [0.40, 0.42, 0.11, 0.07]  # table 2 there


def anaesthetists():
    answers = np.array([[int(one) - 1 for one in row] for row in ANAESTHETISTS.split()])
    evaluator = np.array([0, 0, 0, 1, 2, 3, 4])
    return np.repeat(np.arange(45), 7), np.tile(evaluator, 45), answers.ravel()


def simulate_answers(rng, reliability, *, n=4000):
    winner, loser = draw_pairs(rng, len(THETA), n)
    evaluator = rng.integers(0, len(reliability), n)
    p = special.expit(THETA[winner] - THETA[loser])
    p = np.where(rng.uniform(size=n) < np.array(reliability)[evaluator], p, 1 - p)
    turned = rng.uniform(size=n) > p
    winner, loser = np.where(turned, loser, winner), np.where(turned, winner, loser)
    return PreferenceAnswers(evaluator, winner, loser, np.ones(n))


class TestDawidSkene:
    def test_the_anaesthetists_come_out_as_published(self):
        fit = fit_dawid_skene(*anaesthetists(), shape=(45, 5, 4))

        np.testing.assert_allclose(fit.classes, CLASSES, atol=0.005)

    def test_agrees_with_a_plain_loop(self):
        labels = anaesthetists()
        counts = np.zeros((45, 5, 4))
        np.add.at(counts, labels, 1)
        items = counts.sum(axis=1) / counts.sum(axis=(1, 2))[:, None]
        errors, joint = np.empty(0), np.empty(0)
        for _ in range(200):
            errors = np.einsum("ic,ira->rca", items, counts)
            errors /= errors.sum(axis=2, keepdims=True)
            joint = items.mean(axis=0) * np.prod(errors ** counts[:, :, None, :], axis=(1, 3))
            items = joint / joint.sum(axis=1, keepdims=True)

        fit = fit_dawid_skene(*labels, shape=(45, 5, 4), tolerance=1e-14)

        np.testing.assert_allclose(fit.items, items, atol=1e-6)
        np.testing.assert_allclose(fit.errors, errors, atol=1e-6)
        assert fit.log_likelihood == pytest.approx(np.log(joint.sum(axis=1)).sum(), abs=1e-6)

    def test_renaming_classes_renames_the_answer(self):
        item, evaluator, answer = anaesthetists()
        order = np.array([2, 0, 3, 1])

        fit = fit_dawid_skene(item, evaluator, answer, shape=(45, 5, 4))
        renamed = fit_dawid_skene(item, evaluator, order[answer], shape=(45, 5, 4))

        np.testing.assert_allclose(renamed.classes[order], fit.classes, atol=1e-9)
        np.testing.assert_allclose(renamed.accuracy, fit.accuracy, atol=1e-9)

    def test_a_class_that_nobody_names_has_no_share_and_who_says_nothing_no_rates(self):
        labels = np.array([0, 1]), np.array([0, 0]), np.array([0, 1])

        fit = fit_dawid_skene(*labels, shape=(2, 2, 3))

        np.testing.assert_allclose(fit.classes, [0.5, 0.5, 0.0])
        assert fit.accuracy.tolist() == [1.0, 0.0]

    @pytest.mark.parametrize("items", [[], [0]], ids=["no answers", "an item without"])
    def test_refuses_items_without_answers(self, items):
        none = np.zeros(len(items), dtype=int)

        with pytest.raises(ValueError, match="answer"):
            fit_dawid_skene(np.array(items, dtype=int), none, none, shape=(2, 1, 2))

    def test_says_so_when_the_steps_run_out(self):
        with pytest.raises(NotConvergedError, match="3 steps"):
            fit_dawid_skene(*anaesthetists(), shape=(45, 5, 4), max_iterations=3)


class TestCrowd:
    @pytest.mark.parametrize("truth", [[0.95, 0.95, 0.9, 0.85, 0.5, 0.05], [0.9, 0.9, 0.1]])
    def test_finds_the_reliable_the_random_and_the_adversarial_rater(self, rng, truth):
        """Most raters are reliable: that decides which way up the scale is."""
        answers = simulate_answers(rng, truth)

        fit = fit_crowd(answers, n_systems=4, n_evaluators=len(truth))

        np.testing.assert_allclose(fit.reliability, truth, atol=0.12)
        np.testing.assert_allclose(fit.log_strengths, THETA, atol=0.3)
        # Nothing but the prior says so.
        assert fit.log_strengths.mean() == pytest.approx(0.0, abs=1e-6)

    def test_is_where_a_general_search_ends(self, rng):
        answers = simulate_answers(rng, [0.9, 0.8, 0.5, 0.2], n=400)

        def loss(at):
            return -log_posterior(answers, at[:4], special.expit(at[4:]))

        found = scipy.optimize.minimize(
            loss, np.array([0.0] * 4 + [1.0] * 4), jac="3-point", tol=1e-6
        )

        fit = fit_crowd(answers, n_systems=4, n_evaluators=4)

        np.testing.assert_allclose(fit.log_strengths, found.x[:4], atol=1e-6)
        np.testing.assert_allclose(fit.reliability, special.expit(found.x[4:]), atol=1e-6)
        assert fit.log_posterior >= -found.fun - 1e-9

    def test_without_answers_all_is_as_the_prior_has_it(self):
        none = np.empty(0, dtype=int)

        fit = fit_crowd(
            PreferenceAnswers(none, none, none, np.empty(0)), n_systems=3, n_evaluators=2
        )

        assert fit.log_strengths.tolist() == [0.0] * 3
        assert fit.reliability.tolist() == [7 / 8] * 2

    def test_groups_that_never_met_stay_finite(self):
        answers = PreferenceAnswers(
            np.zeros(2, int), np.array([0, 2]), np.array([1, 3]), np.full(2, 5.0)
        )

        assert np.isfinite(fit_crowd(answers, n_systems=4, n_evaluators=1).log_strengths).all()

    def test_says_so_when_the_steps_run_out(self, rng):
        answers = simulate_answers(rng, [0.9, 0.8, 0.5, 0.2], n=400)

        with pytest.raises(NotConvergedError, match="2 steps"):
            fit_crowd(answers, n_systems=4, n_evaluators=4, max_iterations=2)


def simulate_calls(rng, thresholds, *, n=6000):
    winner, loser = draw_pairs(rng, len(THETA), n)
    evaluator = rng.integers(0, len(thresholds), n)
    felt = THETA[winner] - THETA[loser] + special.logit(rng.uniform(size=n))
    tie = np.abs(felt) < np.array(thresholds)[evaluator]
    turned = ~tie & (felt < 0)
    winner, loser = np.where(turned, loser, winner), np.where(turned, winner, loser)
    return Calls(evaluator, winner, loser, tie.astype(int), np.ones(n))


class TestSeverity:
    def test_is_where_a_general_search_ends(self, rng):
        calls, group = simulate_calls(rng, [0.2, 0.5, 1.0], n=300), np.array([0, 0, 1])

        def loss(at):
            theta, u, means = at[:4], at[4:7], at[7:]
            d, t = theta[calls.winner] - theta[calls.loser], np.exp(u)[calls.evaluator]
            tie = special.expit(d + t) - special.expit(d - t)
            p = np.where(calls.is_tie == 1, tie, special.expit(d - t))
            priors = (theta**2).sum() / STRENGTH_SD**2 + (means**2).sum() / GROUP_SD**2
            priors += ((u - means[group]) ** 2).sum() / SEVERITY_SD**2
            return priors / 2 - np.log(p).sum()

        found = scipy.optimize.minimize(loss, np.zeros(9), jac="3-point", tol=1e-7)

        fit = fit_severity(calls, group, n_systems=4)
        np.testing.assert_allclose(fit.log_strengths, found.x[:4], atol=1e-6)
        np.testing.assert_allclose(fit.log_thresholds, found.x[4:7], atol=1e-6)
        np.testing.assert_allclose(fit.group_means, found.x[7:], atol=1e-6)

    def test_few_answers_are_drawn_to_the_mean_of_their_own_group(self, rng):
        people, judges = simulate_calls(rng, [1.0, 1.0, 1.0]), simulate_calls(rng, [0.2, 0.2])
        columns = {
            name: np.concatenate([getattr(people, name), getattr(judges, name)])
            for name in ("winner", "loser", "is_tie", "weight")
        }
        evaluator = np.concatenate([people.evaluator, judges.evaluator + 4])
        calls = Calls(evaluator, **columns)  # the fourth person never answers

        fit = fit_severity(calls, np.array([0, 0, 0, 0, 1, 1]), n_systems=4)

        assert fit.log_thresholds[3] == pytest.approx(fit.group_means[0], abs=1e-6)
        assert fit.errors[3] > 3 * fit.errors[:3].max()
        assert fit.group_means[0] - fit.group_means[1] > 1.0

    @pytest.mark.parametrize("ties", [0, 1], ids=["no ties", "nothing but ties"])
    def test_stays_finite_at_either_extreme(self, ties):
        calls = Calls(
            np.zeros(2, int), np.array([0, 1]), np.array([1, 0]), np.full(2, ties), np.ones(2)
        )

        fit = fit_severity(calls, np.zeros(1, int), n_systems=2)

        assert np.isfinite(fit.log_thresholds).all()
        assert np.isfinite(fit.errors).all()


@pytest.fixture
def scored(rng):
    """Scores of 12 raters, some strict, some sparing, with 3 to 20 scores each."""
    rater = np.repeat(np.arange(12), rng.integers(3, 21, 12))
    centre, spread = rng.normal(3, 0.5, 12), rng.uniform(0.2, 1.5, 12)
    return centre[rater] + spread[rater] * rng.normal(size=len(rater)), rater


class TestNormalise:
    def test_by_hand(self):
        scores = np.array([1.0, 2.0, 3.0, 4.0, 4.0, 4.0])

        found = normalise(scores, np.array([0, 0, 0, 1, 1, 1]), n_raters=2)

        # Squares about the own mean: 2 and 0, with 4 degrees of freedom: v = 1/2.
        varied, still = np.sqrt([(2 + 5 * 0.5) / 7, (0 + 5 * 0.5) / 7])
        assert found.spread == pytest.approx([varied, still])
        assert found.z == pytest.approx([-1 / varied, 0, 1 / varied, 0, 0, 0])

    def test_agrees_with_pandas(self, scored):
        scores, rater = scored

        found = normalise(scores, rater, n_raters=12)

        by_rater = peers.Series(scores).groupby(rater)
        n, own = by_rater.transform("count"), by_rater.transform("var")
        pooled = (by_rater.var() * (by_rater.count() - 1)).sum() / (by_rater.count() - 1).sum()
        spread = np.sqrt(((n - 1) * own + PRIOR * pooled) / (n - 1 + PRIOR))
        peer = np.asarray((scores - by_rater.transform("mean")) / spread)
        assert found.z == pytest.approx(peer, abs=1e-12)
        assert found.n.tolist() == by_rater.count().tolist()

    @given(shift=st.floats(-50, 50), who=st.integers(0, 11))
    def test_who_adds_a_constant_changes_nothing(self, shift, who):
        rng = np.random.default_rng(5)
        rater = np.repeat(np.arange(12), 6)
        scores = rng.integers(1, 6, 72).astype(float)

        moved = normalise(scores + shift * (rater == who), rater, n_raters=12)

        assert moved.z == pytest.approx(normalise(scores, rater, n_raters=12).z, abs=1e-9)

    def test_names_of_raters_and_the_size_of_points_do_not_matter(self, scored, rng):
        scores, rater = scored
        names = rng.permutation(12)

        found = normalise(10 * scores - 4, names[rater], n_raters=12)

        assert found.z == pytest.approx(normalise(scores, rater, n_raters=12).z)

    def test_who_gave_too_few_is_left_out(self):
        scores = np.array([1.0, 2.0, 3.0, 2.0, 4.0])

        found = normalise(scores, np.array([0, 0, 0, 1, 1]), n_raters=3)

        assert found.is_kept.tolist() == [True, False, False]
        assert found.z == pytest.approx([-1, 0, 1, np.nan, np.nan], nan_ok=True)
        assert FEWEST == 3

    @pytest.mark.parametrize(
        ("scores", "rater", "error", "message"),
        [
            ([], [], NoSpreadError, "no rater gave"),
            ([1, 5], [0, 1], NoSpreadError, "no rater gave"),
            ([3] * 8, [0, 0, 0, 0, 1, 1, 1, 1], NoSpreadError, "the same score"),
            ([1, np.nan], [0, 0], ValueError, "finite"),
            ([1, 1], [0, 0, 0], ValueError, "finite"),
        ],
        ids=["nobody", "too few", "all the same", "nan", "two lengths"],
    )
    def test_refuses_what_has_no_scale(self, scores, rater, error, message):
        with pytest.raises(error, match=message):
            normalise(np.array(scores, dtype=float), np.array(rater, dtype=np.int64), n_raters=2)


class TestFromTheOthers:
    def test_by_hand(self):
        found = from_the_others(np.array([5.0, 3.0, 1.0, 4.0]), np.array([0, 0, 0, 1]))

        assert found[:3] == pytest.approx([3, 0, -3])
        assert np.isnan(found[3])
