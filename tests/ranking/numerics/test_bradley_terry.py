"""Bradley-Terry against worked examples, its peers and its own invariants."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ranking.numerics.bradley_terry import NotConvergedError, fit_bradley_terry, fit_replicates
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.strength import shares
from ranking.numerics.strength_mode import StrengthMode
from tests.ranking.numerics import peers
from tests.ranking.numerics.helpers import BASEBALL, TEAMS, add_up, centred, draw_pairs

matrices = hnp.arrays(float, (5, 5), elements=st.floats(0.5, 500.0))

# Coefficients against Baltimore: Firth (2005), J. Stat. Softw. 12(1), and Turner & Firth (2012),
# J. Stat. Softw. 48(9), section 2.2.
BASEBALL_PUBLISHED = {
    "Boston": (1.1077, 0.3339),
    "Cleveland": (0.6839, 0.3319),
    "Detroit": (1.4364, 0.3396),
    "Milwaukee": (1.5814, 0.3433),
    "New York": (1.2476, 0.3359),
    "Toronto": (1.2945, 0.3367),
}

# Citations among four statistics journals, 1987-88: the row journal is cited by the column.
# Stigler (1994), Statist. Sci. 9:94-108; coefficients against Biometrika as in Turner & Firth
# (2012), section 2.1.
JOURNALS = ("Biometrika", "Comm Statist", "JASA", "JRSS-B")
CITATIONS = np.array(
    [[714, 730, 498, 221], [33, 425, 68, 17], [320, 813, 1072, 142], [284, 276, 325, 188]],
    dtype=float,
)
CITATIONS_PUBLISHED = {
    "Comm Statist": (-2.94907, 0.10255),
    "JASA": (-0.47957, 0.06059),
    "JRSS-B": (0.26895, 0.07083),
}


def contrast(fit, i, j):
    """Return the difference of two log strengths and its standard error."""
    variance = fit.covariance[i, i] + fit.covariance[j, j] - 2.0 * fit.covariance[i, j]
    return fit.log_strengths[i] - fit.log_strengths[j], np.sqrt(variance)


def surplus(wins, theta):
    """Return how many more wins each system has than expected."""
    p = 1.0 / (1.0 + np.exp(theta[None, :] - theta[:, None]))
    return (wins - (wins + wins.T) * p).sum(axis=1)


class TestWorkedExamples:
    def test_two_systems_have_a_closed_form(self):
        fit = fit_bradley_terry(np.array([[0.0, 30.0], [10.0, 0.0]]))

        difference, error = contrast(fit, 0, 1)
        assert difference == pytest.approx(np.log(3.0), abs=1e-12)
        assert error == pytest.approx(np.sqrt(1 / 30 + 1 / 10), abs=1e-12)

    @pytest.mark.parametrize(
        ("wins", "names", "base", "published", "digits"),
        [
            (BASEBALL, TEAMS, "Baltimore", BASEBALL_PUBLISHED, 5e-5),
            (CITATIONS, JOURNALS, "Biometrika", CITATIONS_PUBLISHED, 5e-6),
        ],
        ids=["baseball", "citations of journals"],
    )
    def test_come_out_as_published(self, wins, names, base, published, digits):
        fit = fit_bradley_terry(wins)

        for name, figures in published.items():
            found = contrast(fit, names.index(name), names.index(base))
            assert found == pytest.approx(figures, abs=digits), name


class TestPeers:
    @pytest.mark.parametrize("ridge", [0.0, 1.4])
    def test_agrees_with_choix_on_whole_wins_where_its_penalty_is_half_the_ridge(self, rng, ridge):
        wins = rng.integers(1 if not ridge else 0, 30, size=(6, 6)) * (1 - np.eye(6, dtype=int))
        pairs = np.repeat(np.argwhere(wins), wins[wins > 0], axis=0).tolist()

        peer = peers.opt_pairwise(6, pairs, alpha=ridge / 2, method="Newton-CG", tol=1e-12)

        found = fit_bradley_terry(wins.astype(float), ridge=ridge).log_strengths
        np.testing.assert_allclose(found, centred(peer), atol=1e-6)

    def test_agrees_with_choix_on_soft_wins(self, rng):
        wins = soft_wins(rng, n_judgments=400, n_systems=6)

        peer = peers.ilsr_pairwise_dense(wins, tol=1e-12)

        np.testing.assert_allclose(fit_bradley_terry(wins).log_strengths, peer, atol=1e-6)

    def test_agrees_with_evalica_on_wins_and_ties(self, rng):
        first, second, winner = random_judgments(rng, n_judgments=800, n_systems=6)
        names = {1: peers.Winner.X, -1: peers.Winner.Y, 0: peers.Winner.Draw}

        peer = peers.bradley_terry(
            first, second, [names[int(w)] for w in winner], tolerance=1e-12, limit=10_000
        )

        share = shares(winner, StrengthMode.IGNORE).first
        fit = fit_bradley_terry(add_up(first, second, share, 6))
        expected = centred(np.log(peer.scores.sort_index().to_numpy()))
        np.testing.assert_allclose(fit.log_strengths, expected, atol=1e-6)


class TestInvariants:
    @given(matrices)
    def test_expected_wins_match_observed_wins(self, wins):
        fit = fit_bradley_terry(wins)

        np.fill_diagonal(wins, 0.0)
        np.testing.assert_allclose(surplus(wins, fit.log_strengths), 0.0, atol=1e-9 * wins.sum())
        assert fit.log_strengths.mean() == pytest.approx(0.0, abs=1e-12)
        np.testing.assert_allclose(fit.covariance.sum(axis=1), 0.0, atol=1e-10)

    @given(matrices, st.permutations(range(5)))
    def test_relabelling_systems_relabels_the_answer(self, wins, order):
        fit, relabelled = fit_bradley_terry(wins), fit_bradley_terry(wins[np.ix_(order, order)])

        np.testing.assert_allclose(relabelled.log_strengths, fit.log_strengths[order], atol=1e-9)
        expected = fit.covariance[np.ix_(order, order)]
        np.testing.assert_allclose(relabelled.covariance, expected, rtol=1e-6, atol=1e-12)

    @given(matrices)
    def test_swapping_winners_and_losers_turns_the_answer_round(self, wins):
        fit, turned = fit_bradley_terry(wins), fit_bradley_terry(wins.T)

        np.testing.assert_allclose(turned.log_strengths, -fit.log_strengths, atol=1e-9)

    @given(matrices)
    def test_judging_everything_twice_halves_the_variance_and_moves_nothing(self, wins):
        once, twice = fit_bradley_terry(wins), fit_bradley_terry(2.0 * wins)

        np.testing.assert_allclose(twice.log_strengths, once.log_strengths, atol=1e-9)
        np.testing.assert_allclose(2.0 * twice.covariance, once.covariance, rtol=1e-6, atol=1e-12)

    def test_the_diagonal_and_the_argument_are_left_alone(self):
        wins = BASEBALL + np.diag(np.arange(7.0))
        before = wins.copy()

        fit = fit_bradley_terry(wins)

        expected = fit_bradley_terry(BASEBALL).log_strengths
        np.testing.assert_array_equal(fit.log_strengths, expected)
        np.testing.assert_array_equal(wins, before)

    def test_reaches_strengths_that_are_far_apart(self):
        wins = np.array([[0.0, 1e6, 1e6], [1.0, 0.0, 1e6], [1.0, 1.0, 0.0]])

        fit = fit_bradley_terry(wins)

        assert fit.log_strengths[0] - fit.log_strengths[2] > 20.0
        assert fit.iterations < 60


class TestAnchors:
    @given(matrices, st.integers(0, 4), st.floats(-5.0, 5.0))
    def test_one_anchor_moves_the_scale_and_no_difference(self, wins, index, strength):
        free, held = fit_bradley_terry(wins), fit_bradley_terry(wins, anchors={index: strength})

        assert held.log_strengths[index] == strength
        np.testing.assert_allclose(centred(held.log_strengths), free.log_strengths, atol=1e-8)
        np.testing.assert_allclose(contrasts(held), contrasts(free), rtol=1e-6, atol=1e-10)

    def test_anchors_at_the_fitted_strengths_leave_the_others_where_they_are(self):
        free = fit_bradley_terry(BASEBALL).log_strengths

        held = fit_bradley_terry(BASEBALL, anchors={0: free[0], 4: free[4]})

        np.testing.assert_allclose(held.log_strengths, free, atol=1e-9)
        np.testing.assert_array_equal(held.covariance[[0, 4]], 0.0)
        assert (np.delete(np.diag(held.covariance), [0, 4]) > 0.0).all()

    def test_the_others_solve_their_own_equations(self):
        held = fit_bradley_terry(BASEBALL, anchors={2: 1.0, 6: 0.5}).log_strengths

        left = surplus(BASEBALL, held)
        np.testing.assert_allclose(np.delete(left, [2, 6]), 0.0, atol=1e-9)

    def test_anchors_join_what_the_wins_do_not(self):
        wins = np.zeros((4, 4))
        wins[0, 1], wins[1, 0], wins[2, 3], wins[3, 2] = 3.0, 1.0, 1.0, 3.0

        found = fit_bradley_terry(wins, anchors={1: 0.0, 3: 2.0}).log_strengths

        np.testing.assert_allclose(found, [np.log(3.0), 0.0, 2.0 - np.log(3.0), 2.0], atol=1e-12)

    def test_a_system_that_meets_no_anchor_is_refused_with_its_groups(self):
        wins = np.zeros((4, 4))
        wins[0, 1] = wins[1, 0] = 1.0

        with pytest.raises(NotConnectedError) as refusal:
            fit_bradley_terry(wins, anchors={1: 0.0, 3: 2.0})

        assert refusal.value.components == ((0, 1, 3), (2,))

    def test_with_every_system_anchored_nothing_is_left_to_fit(self):
        found = fit_bradley_terry(np.ones((2, 2)), anchors={0: 1.0, 1: -3.0})

        assert found.log_strengths.tolist() == [1.0, -3.0]
        assert not found.covariance.any()
        assert found.iterations == 0

    @pytest.mark.parametrize("anchors", [{7: 0.0}, {-1: 0.0}, {0: np.nan}, {0: np.inf}])
    def test_refuses_anchors_that_cannot_be_meant(self, anchors):
        with pytest.raises(ValueError, match="anchor"):
            fit_bradley_terry(BASEBALL, anchors=anchors)


class TestRidge:
    @given(matrices, st.floats(0.01, 100.0))
    def test_what_is_left_of_the_surplus_is_what_the_prior_pulls(self, wins, ridge):
        theta = fit_bradley_terry(wins, ridge=ridge).log_strengths

        np.fill_diagonal(wins, 0.0)
        np.testing.assert_allclose(surplus(wins, theta), ridge * theta, atol=1e-7)
        assert theta.mean() == pytest.approx(0.0, abs=1e-12)

    def test_strengths_exist_whatever_the_wins(self):
        never_loses = np.array([[0.0, 9.0], [0.0, 0.0]])

        fit = fit_bradley_terry(never_loses, ridge=1.0)

        assert fit.log_strengths[0] > 0.5
        assert fit_bradley_terry(np.zeros((3, 3)), ridge=1.0).log_strengths.tolist() == [0, 0, 0]

    def test_its_covariance_is_the_posterior_s_without_the_common_level(self):
        fit = fit_bradley_terry(BASEBALL, ridge=2.0)

        p = 1.0 / (1.0 + np.exp(fit.log_strengths[None, :] - fit.log_strengths[:, None]))
        weight = (BASEBALL + BASEBALL.T) * p * (1.0 - p)
        centring = np.eye(7) - 1.0 / 7.0
        posterior = np.linalg.inv(np.diag(weight.sum(axis=1)) - weight + 2.0 * np.eye(7))
        np.testing.assert_allclose(fit.covariance, centring @ posterior @ centring, atol=1e-10)

    @pytest.mark.parametrize("ridge", [-1.0, np.nan, np.inf])
    def test_refuses_a_prior_that_cannot_be(self, ridge):
        with pytest.raises(ValueError, match="ridge"):
            fit_bradley_terry(BASEBALL, ridge=ridge)


class TestDegenerateInput:
    def test_refuses_a_system_that_never_loses(self):
        with pytest.raises(NotConnectedError, match="2 groups"):
            fit_bradley_terry(np.array([[0, 9, 4], [0, 0, 3], [0, 2, 0]], dtype=float))

    @pytest.mark.parametrize(
        ("wins", "message"),
        [
            (np.ones((2, 3)), "square"),
            (np.ones(4), "square"),
            (np.ones((1, 1)), "two systems"),
            (np.zeros((0, 0)), "two systems"),
            (np.array([[0.0, -1.0], [1.0, 0.0]]), "negative"),
            (np.array([[0.0, np.nan], [1.0, 0.0]]), "finite"),
            (np.array([[0.0, np.inf], [1.0, 0.0]]), "finite"),
        ],
        ids=["oblong", "flat", "one system", "no systems", "negative", "nan", "infinite"],
    )
    def test_refuses_what_is_not_a_table_of_wins(self, wins, message):
        with pytest.raises(ValueError, match=message):
            fit_bradley_terry(wins)

    def test_says_so_when_the_steps_run_out(self):
        with pytest.raises(NotConvergedError, match=r"1 of 1 fits .* 2 steps"):
            fit_bradley_terry(BASEBALL, max_iterations=2)


class TestFitReplicates:
    @pytest.mark.parametrize("start", [(0, 0, 0, 0, 0), (9, -9, 0, 4, -4), (20, 20, 20, 20, 20)])
    def test_gives_what_a_fit_of_each_replicate_gives_wherever_it_starts(self, rng, start):
        wins = rng.integers(1, 60, size=(40, 5, 5)).astype(float)

        replicates = fit_replicates(wins, np.array(start, dtype=float))

        alone = np.array([fit_bradley_terry(one).log_strengths for one in wins])
        np.testing.assert_allclose(replicates, alone, atol=1e-9)

    def test_marks_the_replicates_that_have_no_maximum(self):
        wins = np.array([BASEBALL, np.triu(BASEBALL), BASEBALL.T])

        replicates = fit_replicates(wins, np.zeros(7))

        assert np.isnan(replicates[1]).all()
        assert np.isfinite(replicates[[0, 2]]).all()

    def test_no_replicates_give_no_rows(self):
        assert fit_replicates(np.zeros((0, 3, 3)), np.zeros(3)).shape == (0, 3)

    def test_refuses_a_start_of_the_wrong_length(self):
        with pytest.raises(ValueError, match="start"):
            fit_replicates(np.ones((2, 3, 3)), np.zeros(4))


def contrasts(fit):
    """Return the variance of every difference."""
    variance = np.diag(fit.covariance)
    return variance[:, None] + variance[None, :] - 2.0 * fit.covariance


def random_judgments(rng, *, n_judgments, n_systems):
    """Draw pairs of distinct systems and an outcome of 1 (first), -1 (second) or 0 (tie)."""
    return *draw_pairs(rng, n_systems, n_judgments), rng.integers(-1, 2, n_judgments)


def soft_wins(rng, *, n_judgments, n_systems):
    first, second, _ = random_judgments(rng, n_judgments=n_judgments, n_systems=n_systems)
    split = shares(rng.integers(-5, 6, n_judgments), StrengthMode.SOFT)
    return add_up(first, second, split.first, n_systems)
