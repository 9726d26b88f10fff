"""The cumulative logit of graded preferences, and Newton's method that fits it."""

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from ranking.numerics.bradley_terry import NotConvergedError, fit_bradley_terry
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.models import cumulative
from ranking.numerics.models.cumulative import Graded, GradeScale, fit_cumulative
from ranking.numerics.models.maximum import NoMaximumError, Slopes, covariance, maximise
from ranking.numerics.models.ties import fit_rao_kupper
from tests.ranking.numerics import peers
from tests.ranking.numerics.helpers import add_up, draw_pairs, give_up

THETA = np.array([0.8, 0.2, -0.1, -0.9])
THRESHOLDS = np.array([0.4, 1.1, 2.0])


def draw_grades(rng, theta, thresholds, *, n):
    """Draw pairs of distinct systems and signed grades from the cumulative logit."""
    first, second = draw_pairs(rng, len(theta), n)
    felt = theta[first] - theta[second] + special.logit(rng.uniform(size=n))
    return first, second, np.sign(felt).astype(int) * np.searchsorted(thresholds, np.abs(felt))


def graded(first, second, grade):
    """Put the preferred system of each judgment first."""
    first, second = np.asarray(first, dtype=int), np.asarray(second, dtype=int)
    winner, loser = np.where(grade >= 0, first, second), np.where(grade >= 0, second, first)
    return Graded(winner, loser, np.abs(grade), np.ones(len(grade)))


def peer(first, second, grade, n_systems):
    """Fit each judgment from both sides with an ordered model, so that thresholds mirror."""
    d = np.eye(n_systems)[first] - np.eye(n_systems)[second]
    both = np.vstack([d, -d])[:, 1:]  # the first system is the base
    model = peers.OrderedModel(np.concatenate([grade, -grade]), both, distr="logit")
    found = model.fit(method="bfgs", disp=False, gtol=1e-8, maxiter=500)
    n = n_systems - 1
    cuts = model.transform_threshold_params(found.params)[1:-1]
    theta = np.concatenate([[0.0], found.params[:n]])
    return theta - theta.mean(), cuts, found.cov_params()[:n, :n]


@pytest.mark.parametrize("with_ties", [True, False])
def test_agrees_with_an_ordered_model_fitted_from_both_sides(rng, with_ties):
    first, second, grade = draw_grades(rng, THETA, THRESHOLDS, n=300)
    if not with_ties:
        kept = grade != 0
        first, second, grade = first[kept], second[kept], grade[kept]

    theta, cuts, doubled = peer(first, second, grade, 4)

    fit = fit_cumulative(graded(first, second, grade), n_systems=4)
    np.testing.assert_allclose(fit.log_strengths, theta, atol=1e-6)
    np.testing.assert_allclose(fit.thresholds, cuts[len(cuts) // 2 :], atol=1e-6)
    # Judgments counted from both sides are twice as many as there are.
    contrasts = np.eye(4)[1:] - np.eye(4)[:1]
    found = contrasts @ fit.covariance[:4, :4] @ contrasts.T
    np.testing.assert_allclose(found, 2 * doubled, rtol=1e-5)


def test_is_where_a_general_search_ends(rng):
    first, second, grade = draw_grades(rng, THETA, THRESHOLDS, n=300)

    def loss(at):
        theta, cuts = np.append(at[:3], -at[:3].sum()), np.cumsum(np.exp(at[3:]))
        ends = np.concatenate([[-np.inf], -cuts[::-1], cuts, [np.inf]])
        d, level = theta[first] - theta[second], grade + 3
        p = special.expit(d - ends[level]) - special.expit(d - ends[level + 1])
        return -np.log(p).sum()

    found = scipy.optimize.minimize(loss, np.zeros(6), jac="3-point", options={"gtol": 1e-7})

    fit = fit_cumulative(graded(first, second, grade), n_systems=4)
    np.testing.assert_allclose(fit.log_strengths[:3], found.x[:3], atol=1e-6)
    np.testing.assert_allclose(fit.thresholds, np.cumsum(np.exp(found.x[3:])), atol=1e-6)
    assert fit.log_likelihood == pytest.approx(-found.fun, abs=1e-9)


def test_one_level_with_ties_is_rao_and_kupper(rng):
    first, second, grade = draw_grades(rng, THETA, THRESHOLDS[:1], n=500)
    tied = grade == 0
    wins = add_up(first[~tied], second[~tied], grade[~tied] > 0, n_systems=4)
    ties = add_up(first[tied], second[tied], 1.0, n_systems=4)

    fit = fit_cumulative(graded(first, second, grade), n_systems=4)
    same = fit_rao_kupper(wins, ties + ties.T)

    np.testing.assert_allclose(fit.log_strengths, same.log_strengths, atol=1e-9)
    assert fit.thresholds[0] == pytest.approx(same.parameter, abs=1e-9)


def test_one_level_without_ties_is_bradley_terry(rng):
    wins = rng.integers(1, 20, size=(4, 4)).astype(float)
    winner, loser = np.nonzero(1 - np.eye(4))
    rows = Graded(winner, loser, np.ones(12, int), wins[winner, loser])

    fit, same = fit_cumulative(rows, n_systems=4), fit_bradley_terry(wins)

    np.testing.assert_allclose(fit.log_strengths, same.log_strengths, atol=1e-9)
    np.testing.assert_allclose(fit.covariance, same.covariance, atol=1e-9)
    assert fit.thresholds.tolist() == [0.0]


def test_levels_that_nobody_gave_are_merged(rng):
    first, second, grade = draw_grades(rng, THETA, THRESHOLDS, n=500)
    names = np.array([0, 2, 4, 5])

    few = fit_cumulative(graded(first, second, grade), n_systems=4)
    named = fit_cumulative(
        graded(first, second, np.sign(grade) * names[np.abs(grade)]), n_systems=4
    )

    np.testing.assert_array_equal(named.log_strengths, few.log_strengths)
    assert (few.levels, named.levels) == ((0, 1, 2, 3), (0, 2, 4, 5))


def test_thresholds_that_nearly_meet_stay_in_order():
    grade = np.repeat([0, 1, 2, 3, -3], [30, 1, 1, 400, 2])
    n = len(grade)

    fit = fit_cumulative(graded(np.zeros(n, int), np.ones(n, int), grade), n_systems=2)

    assert 0 < fit.thresholds[0] < fit.thresholds[1] < fit.thresholds[2]
    assert np.isfinite(fit.log_likelihood)


def test_thresholds_out_of_order_are_not_allowed(rng):
    rows = graded(*draw_grades(rng, THETA, THRESHOLDS, n=50))
    crossed = np.concatenate([THETA, THRESHOLDS[::-1]])

    slopes = cumulative._slopes(rows, GradeScale.of(4, with_ties=True), crossed, 4)

    assert slopes.value == -np.inf


class TestInvariants:
    @settings(max_examples=15)
    @given(st.permutations(range(4)), st.integers(0, 2**31))
    def test_relabelling_and_exchanging_sides_changes_nothing_else(self, order, seed):
        rng = np.random.default_rng(seed)
        first, second, grade = draw_grades(rng, THETA, THRESHOLDS, n=300)
        place = np.argsort(order)

        fit = fit_cumulative(graded(first, second, grade), n_systems=4)
        other = fit_cumulative(graded(place[second], place[first], -grade), n_systems=4)

        np.testing.assert_allclose(other.log_strengths, fit.log_strengths[order], atol=1e-8)
        np.testing.assert_allclose(other.thresholds, fit.thresholds, atol=1e-8)


class TestDegenerateInput:
    def test_a_system_that_always_wins_a_little_is_finite(self):
        # Never "much better", though the grade was given to another pair: not too far ahead.
        first, second = np.array([0, 0, 0, 1, 1, 2]), np.array([1, 2, 1, 2, 2, 1])
        fit = fit_cumulative(graded(first, second, np.array([1, 1, 1, 2, -1, 2])), n_systems=3)

        assert np.isfinite(fit.log_strengths).all()
        assert fit.log_strengths.argmax() == 0

    @pytest.mark.parametrize(
        ("first", "second", "grade", "n_systems", "error", "message"),
        [
            ([0, 1], [1, 0], [0, 0], 2, NoMaximumError, "ties"),
            ([0, 0, 0, 1, 1, 2], [1, 2, 1, 2, 2, 1], [2, 2, 2, 2, -1, 2], 3, NoMaximumError, None),
            ([0, 1, 2], [1, 0, 3], [1, 1, 0], 4, NotConnectedError, None),
            ([], [], [], 2, NotConnectedError, None),
            ([], [], [], 1, ValueError, "two systems"),
        ],
        ids=["ties alone", "never less than much better", "islands", "no judgments", "one system"],
    )
    def test_refuses_grades_that_determine_nothing(
        self, first, second, grade, n_systems, error, message
    ):
        with pytest.raises(error, match=message) as refusal:
            fit_cumulative(graded(first, second, np.array(grade, int)), n_systems=n_systems)

        if n_systems == 4:
            assert refusal.value.components == ((0, 1), (2, 3))

    def test_a_search_that_fails_for_another_reason_says_so(self, rng, monkeypatch):
        rows = graded(*draw_grades(rng, THETA, THRESHOLDS, n=200))

        monkeypatch.setattr("ranking.numerics.models.cumulative.maximise", give_up)

        with pytest.raises(NotConvergedError):
            fit_cumulative(rows, n_systems=4)


def bowl(at):
    """Return a quadratic with its maximum of 0 at (3, -1)."""
    away = at - np.array([3.0, -1.0])
    curve = np.diag([2.0, 0.5])
    return Slopes(-float(away @ curve @ away) / 2, -curve @ away, curve)


def quartic(at):
    """Return a function that full Newton steps from afar overshoot: minus log cosh."""
    slope = np.tanh(at)
    return Slopes(-float(np.log(np.cosh(at)).sum()), -slope, np.diag(1 - slope**2))


def test_newton_ends_at_the_maximum_of_a_quadratic_and_leaves_its_start_alone():
    start = np.zeros(2)

    found = maximise(bowl, start)

    np.testing.assert_allclose(found.at, [3.0, -1.0], atol=1e-12)
    assert found.slopes.value == pytest.approx(0.0, abs=1e-12)
    assert start.tolist() == [0.0, 0.0]


def test_newton_halves_steps_that_lead_too_far():
    found = maximise(quartic, np.array([1.5]))

    assert found.at[0] == pytest.approx(0.0, abs=1e-9)


def leading_down(at):
    return Slopes(-np.inf if at.any() else 0.0, at + 1.0, np.eye(1))


def flat(_):
    return Slopes(0.0, np.ones(2), np.ones((2, 2)))


@pytest.mark.parametrize(
    ("function", "start", "message"),
    [
        (bowl, np.full(2, 100.0), "2 steps"),
        (leading_down, np.zeros(1), "rises in no direction"),
        (flat, np.zeros(2), "inverted"),
    ],
    ids=["the steps run out", "no step leads up", "the information is singular"],
)
def test_newton_says_why_it_does_not_end(function, start, message):
    with pytest.raises(NotConvergedError, match=message):
        maximise(function, start, max_iterations=2)


def test_a_singular_information_has_no_covariance():
    with pytest.raises(NotConvergedError, match="singular"):
        covariance(np.ones((2, 2)))


def test_newton_takes_the_null_direction_of_strengths_out_of_the_covariance():
    information = np.array([[2.0, -2.0, 0.3], [-2.0, 2.0, -0.3], [0.3, -0.3, 1.0]])

    found = covariance(information, n_strengths=2)

    np.testing.assert_allclose(found, np.linalg.pinv(information), atol=1e-12)
