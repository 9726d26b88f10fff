"""Davidson, and Rao and Kupper: a published example, peers, closed forms, and refusals."""

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import special

from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.models.maximum import AllTiesError
from ranking.numerics.models.ties import fit_davidson, fit_rao_kupper
from tests.ranking.numerics import peers

# Six brands of chocolate pudding: pair, preferred the first, preferred the second, neither.
# Davidson (1970), J. Amer. Statist. Assoc. 65:317-328, example 2; the counts are those of the
# data set `pudding` of the R package PlackettLuce.
PUDDING = """
    1 2 19 22 16   1 3 16 19 12   2 3 19 19 10   1 4 18 23 13   2 4 23 19 9
    3 4 19 20 15   1 5 13 19 18   2 5 16 20 12   3 5 16 15 17   4 5 17 14 16
    1 6 18 21 12   2 6 22 20 12   3 6 13 18 10   4 6 14 19 18   5 6 11 21 12
"""
WORTHS = [0.1388, 0.1730, 0.1617, 0.1654, 0.1587, 0.2024]
NU = 0.746823
# Contrasts with the first brand and their errors, as PlackettLuce's vignette prints them
# after seven steps; its fourth digits are not final.
CONTRASTS = [
    *((0.2202, 0.1872), (0.1530, 0.1935), (0.1753, 0.1882), (0.1339, 0.1927), (0.3771, 0.1924))
]
LN_NU = (-0.2919, 0.0825)

FITS = pytest.mark.parametrize("fit", [fit_davidson, fit_rao_kupper])
counts = hnp.arrays(float, (4, 4), elements=st.integers(1, 40).map(float))


def pudding():
    wins, ties = np.zeros((6, 6)), np.zeros((6, 6))
    for i, j, won, lost, tied in np.array(PUDDING.split(), dtype=int).reshape(15, 5):
        wins[i - 1, j - 1], wins[j - 1, i - 1] = won, lost
        ties[i - 1, j - 1] = ties[j - 1, i - 1] = tied
    return wins, ties


def test_puddings_come_out_as_published_with_the_errors_of_another_program():
    fit = fit_davidson(*pudding())

    np.testing.assert_allclose(special.softmax(fit.log_strengths), WORTHS, atol=6e-5)
    assert fit.parameter == pytest.approx(NU, abs=5e-7)
    for brand, (contrast, error) in enumerate(CONTRASTS, start=1):
        c = np.eye(6)[brand] - np.eye(6)[0]
        assert c @ fit.log_strengths == pytest.approx(contrast, abs=2e-4)
        assert np.sqrt(c @ fit.covariance @ c) == pytest.approx(error, abs=1e-4)
    found = (np.log(fit.parameter), fit.error)
    assert found == pytest.approx(LN_NU, abs=1e-4)
    assert fit_rao_kupper(*pudding()).parameter == pytest.approx(0.5587, abs=5e-5)


def davidson_probabilities(theta, log_nu):
    d = theta[:, None] - theta[None, :]
    total = np.exp(d / 2) + np.exp(-d / 2) + np.exp(log_nu)
    return np.exp(d / 2) / total, np.exp(log_nu) / total


def rao_kupper_probabilities(theta, log_log_eta):
    d, t = theta[:, None] - theta[None, :], np.exp(log_log_eta)
    return special.expit(d - t), special.expit(d + t) - special.expit(d - t)


def log_likelihood(probabilities, wins, ties, at):
    win, tie = probabilities(np.append(at[:-1], -at[:-1].sum()), at[-1])
    return (special.xlogy(wins, win) + special.xlogy(ties, tie) / 2).sum()


def peer(probabilities, wins, ties):
    """Search without derivatives; the last strength makes the sum 0."""

    def loss(at):
        return -log_likelihood(probabilities, wins, ties, at)

    found = scipy.optimize.minimize(loss, np.zeros(len(wins)), jac="3-point", tol=1e-7)
    return np.append(found.x[:-1], -found.x[:-1].sum()), found.x[-1], -found.fun


def log_linear_peer(wins, ties):
    """Fit counts of outcomes as Poisson, with an effect for each pair (Fienberg & Larntz 1976)."""
    rows = []
    pairs = np.argwhere(np.triu(np.ones_like(wins), 1))
    for number, (i, j) in enumerate(pairs):
        for count, of_i, of_j, is_tie in (
            (wins[i, j], 1.0, 0.0, 0.0),
            (wins[j, i], 0.0, 1.0, 0.0),
            (ties[i, j], 0.5, 0.5, 1.0),
        ):
            worth = of_i * np.eye(len(wins))[i] + of_j * np.eye(len(wins))[j]
            rows.append([count, *worth[1:], is_tie, *np.eye(len(pairs))[number]])
    table = np.array(rows)
    model = peers.GLM(table[:, 0], table[:, 1:], family=peers.Poisson())
    found = model.fit(tol=1e-12)
    n = len(wins)
    return found.params[: n - 1], found.params[n - 1], found.bse[:n]


class TestPeers:
    @pytest.mark.parametrize("data", ["pudding", "random"])
    @pytest.mark.parametrize(
        ("fit", "probabilities"),
        [(fit_davidson, davidson_probabilities), (fit_rao_kupper, rao_kupper_probabilities)],
        ids=["davidson", "rao and kupper"],
    )
    def test_are_where_a_general_search_ends(self, rng, fit, probabilities, data):
        wins, ties = pudding() if data == "pudding" else random_tables(rng, 4)

        theta, log_parameter, value = peer(probabilities, wins, ties)

        found = fit(wins, ties)
        np.testing.assert_allclose(found.log_strengths, theta, atol=1e-6)
        assert found.parameter == pytest.approx(np.exp(log_parameter), abs=1e-6)
        assert found.log_likelihood == pytest.approx(value, abs=1e-9)

    def test_davidson_is_a_log_linear_model_of_the_counts(self):
        contrasts, log_nu, errors = log_linear_peer(*pudding())

        fit = fit_davidson(*pudding())
        found = fit.log_strengths[1:] - fit.log_strengths[0]
        np.testing.assert_allclose(found, contrasts, atol=1e-6)
        assert np.log(fit.parameter) == pytest.approx(log_nu, abs=1e-6)
        of_contrasts = [np.eye(6)[brand] - np.eye(6)[0] for brand in range(1, 6)]
        spread = [np.sqrt(c @ fit.covariance @ c) for c in of_contrasts]
        np.testing.assert_allclose([*spread, fit.error], errors, atol=1e-6)

    def test_two_systems_have_closed_forms(self):
        wins, ties = np.array([[0.0, 30.0], [12.0, 0.0]]), np.array([[0.0, 18.0], [18.0, 0.0]])

        davidson, rao_kupper = fit_davidson(wins, ties), fit_rao_kupper(wins, ties)

        assert np.ptp(davidson.log_strengths) == pytest.approx(np.log(30 / 12), abs=1e-9)
        assert davidson.parameter == pytest.approx(18 / np.sqrt(30 * 12), abs=1e-9)
        upper, lower = special.logit(30 / 60), special.logit(48 / 60)
        assert np.ptp(rao_kupper.log_strengths) == pytest.approx((upper + lower) / 2, abs=1e-9)
        assert rao_kupper.parameter == pytest.approx((lower - upper) / 2, abs=1e-9)


class TestInvariants:
    @settings(max_examples=20)
    @given(counts, counts, st.permutations(range(4)))
    @FITS
    def test_relabelling_systems_relabels_the_answer(self, fit, wins, ties, order):
        ties = ties + ties.T
        grid = np.ix_(order, order)

        found, relabelled = fit(wins, ties), fit(wins[grid], ties[grid])

        np.testing.assert_allclose(relabelled.log_strengths, found.log_strengths[order], atol=1e-8)
        np.testing.assert_allclose(relabelled.covariance, found.covariance[grid], atol=1e-8)

    @settings(max_examples=20)
    @given(counts, counts)
    @FITS
    def test_turning_all_judgments_round_turns_the_answer_round(self, fit, wins, ties):
        found, turned = fit(wins, ties + ties.T), fit(wins.T, ties + ties.T)

        np.testing.assert_allclose(turned.log_strengths, -found.log_strengths, atol=1e-8)
        assert turned.parameter == pytest.approx(found.parameter, abs=1e-8)

    @settings(max_examples=20)
    @given(counts, counts)
    @FITS
    def test_judging_all_twice_halves_the_variance_and_moves_nothing(self, fit, wins, ties):
        once, twice = fit(wins, ties + ties.T), fit(2 * wins, 2 * (ties + ties.T))

        np.testing.assert_allclose(twice.log_strengths, once.log_strengths, atol=1e-8)
        np.testing.assert_allclose(2 * twice.covariance, once.covariance, atol=1e-8)
        assert twice.log_likelihood == pytest.approx(2 * once.log_likelihood)


class TestDegenerateInput:
    @FITS
    def test_without_ties_it_is_bradley_terry_with_the_parameter_of_ties_at_0(self, fit):
        wins, _ = pudding()

        found, plain = fit(wins, np.zeros((6, 6))), fit_bradley_terry(wins)

        np.testing.assert_array_equal(found.log_strengths, plain.log_strengths)
        np.testing.assert_array_equal(found.covariance, plain.covariance)
        assert found.parameter == 0.0
        p = special.expit(plain.log_strengths[:, None] - plain.log_strengths[None, :])
        assert found.log_likelihood == pytest.approx(special.xlogy(wins, p).sum())

    @FITS
    def test_a_single_tie_is_enough_to_leave_the_edge(self, fit):
        wins, ties = pudding()[0], np.zeros((6, 6))
        ties[0, 1] = ties[1, 0] = 1.0

        assert 0 < fit(wins, ties).parameter < 0.01

    @pytest.mark.parametrize(
        ("wins", "ties"),
        [
            (np.zeros((3, 3)), np.ones((3, 3))),
            (np.array([[0, 5, 0], [0, 0, 0], [0, 0, 0]]), np.ones((3, 3))),
            (np.array([[0, 5, 5], [0, 0, 0], [0, 0, 0]]), np.ones((3, 3))),
        ],
        ids=["all ties", "one pair decided, one way", "one system never loses"],
    )
    @FITS
    def test_refuses_data_that_make_the_parameter_of_ties_infinite(self, fit, wins, ties):
        with pytest.raises(AllTiesError):
            fit(wins, ties)

    @FITS
    def test_a_chain_of_wins_as_long_as_a_tie_is_finite(self, fit):
        # 0 beats 1 beats 2, yet 0 ties with 2: no width of ties explains both.
        wins = np.array([[0, 5.0, 0], [0, 0, 5.0], [0, 0, 0]])
        ties = np.array([[0, 0, 3.0], [0, 0, 0], [3.0, 0, 0]])

        found = fit(wins, ties)

        assert found.log_strengths[0] > found.log_strengths[1] > found.log_strengths[2]
        assert np.isfinite(found.covariance).all()

    @FITS
    def test_refuses_systems_that_are_not_connected_and_names_the_groups(self, fit):
        islands = np.zeros((4, 4))
        islands[:2, :2] = islands[2:, 2:] = 3.0

        with pytest.raises(NotConnectedError) as refusal:
            fit(islands, islands)
        with pytest.raises(NotConnectedError):
            fit(np.zeros((2, 2)), np.zeros((2, 2)))

        assert refusal.value.components == ((0, 1), (2, 3))

    @pytest.mark.parametrize(
        ("wins", "ties", "message"),
        [
            (np.ones((2, 3)), np.ones((2, 3)), "square"),
            (np.ones((1, 1)), np.ones((1, 1)), "two systems"),
            (np.ones((2, 2)), np.ones((3, 3)), "one shape"),
            (np.ones((2, 2)), np.array([[0.0, 1.0], [2.0, 0.0]]), "symmetric"),
            (np.ones((2, 2)), np.array([[0.0, -1.0], [-1.0, 0.0]]), "negative"),
            (np.array([[0.0, np.nan], [1.0, 0.0]]), np.ones((2, 2)), "finite"),
        ],
        ids=["oblong", "one system", "two shapes", "lopsided", "negative", "nan"],
    )
    @FITS
    def test_refuses_what_are_not_tables_of_wins_and_ties(self, fit, wins, ties, message):
        with pytest.raises(ValueError, match=message):
            fit(wins, ties)


def random_tables(rng, n):
    ties = np.triu(rng.integers(1, 20, size=(n, n)), 1).astype(float)
    return rng.integers(1, 30, size=(n, n)) * (1.0 - np.eye(n)), ties + ties.T
