"""Tables of wins against one-by-one addition, and which systems they can compare."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ranking.numerics.bradley_terry import fit_bradley_terry, place_among, strengths_without_each
from ranking.numerics.connectivity import (
    JoiningPair,
    NotConnectedError,
    check_connected,
    connecting_wins,
    joining_pairs,
    strong_components,
    strongly_connected,
)
from ranking.numerics.tables import tabulate
from tests.ranking.numerics.helpers import make_pairs, make_tables, simulate_tables, strengths_of

weights = st.integers(0, 20).map(lambda twentieths: twentieths / 20)
judgment = st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(1, 4), weights, weights).map(
    lambda row: (row[0], row[1], (row[1] + row[2]) % 5, row[3], row[4])
)
judgments = st.lists(judgment, min_size=1, max_size=30)


class TestTabulate:
    @given(judgments)
    def test_adds_each_share_to_its_unit_winner_and_loser(self, rows):
        expected = np.zeros((4, 5, 5))
        for unit, first, second, to_first, to_second in rows:
            expected[unit, first, second] += to_first
            expected[unit, second, first] += to_second

        tables = tabulate(make_pairs(rows), n_units=4, n_systems=5)

        np.testing.assert_allclose(tables.weighted(np.eye(4)), expected, atol=1e-12)
        np.testing.assert_allclose(tables.total(), expected.sum(axis=0), atol=1e-12)

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ((2, 0, 1, 1.0, 0.0), "unit"),
            ((-1, 0, 1, 1.0, 0.0), "unit"),
            ((0, 3, 1, 1.0, 0.0), "first"),
            ((0, 0, 3, 1.0, 0.0), "second"),
            ((0, 1, 1, 1.0, 0.0), "itself"),
            ((0, 0, 1, -0.5, 0.0), "negative"),
            ((0, 0, 1, np.nan, 0.0), "finite"),
        ],
        ids=["unit", "negative unit", "first", "second", "same system", "negative", "nan"],
    )
    def test_refuses_rows_that_make_no_sense(self, row, message):
        with pytest.raises(ValueError, match=message):
            tabulate(make_pairs([row]), n_units=2, n_systems=3)

    def test_refuses_columns_of_different_length(self):
        pairs = make_pairs([(0, 0, 1, 1.0, 0.0)])
        short = type(pairs)(pairs.unit, pairs.first, pairs.second, pairs.to_first, np.zeros(2))

        with pytest.raises(ValueError, match="length"):
            tabulate(short, n_units=1, n_systems=2)


def log_likelihood(wins, theta):
    """Compute the log likelihood from its definition."""
    return (wins * -np.logaddexp(0.0, theta[None, :] - theta[:, None])).sum()


class TestUnitWeights:
    def test_are_of_the_judgments_of_each_system_in_each_unit(self):
        rows = [(0, 0, 1, 1.0, 0.0), (2, 1, 0, 0.5, 0.5), (2, 2, 0, 0.0, 2.0), (1, 1, 2, 0.0, 0.0)]

        found = tabulate(make_pairs(rows), n_units=4, n_systems=3).unit_weights().todense()

        assert found.tolist() == [[1.0, 1.0, 0.0], [0.0] * 3, [3.0, 1.0, 2.0], [0.0] * 3]


class TestUnitScores:
    @given(judgments)
    def test_are_the_gradient_of_each_unit_s_log_likelihood(self, rows):
        tables = tabulate(make_pairs(rows), n_units=4, n_systems=5)
        theta, step = np.array([0.9, -0.2, 0.4, 0.0, -1.1]), 1e-5

        found = tables.unit_scores(theta)

        expected = [
            [
                (log_likelihood(wins, theta + move) - log_likelihood(wins, theta - move)) / 2 / step
                for move in step * np.eye(5)
            ]
            for wins in tables.weighted(np.eye(4))
        ]
        np.testing.assert_allclose(found, expected, atol=1e-6)

    def test_add_up_to_nothing_at_the_maximum(self, rng):
        tables = simulate_tables(rng, [0.5, 0.0, -0.5], n_units=20, n_per_pair=3)

        scores = tables.unit_scores(strengths_of(tables))

        np.testing.assert_allclose(scores.sum(axis=0), 0.0, atol=1e-9)
        np.testing.assert_allclose(scores.sum(axis=1), 0.0, atol=1e-12)

    def test_refuse_strengths_of_other_systems(self):
        with pytest.raises(ValueError, match="shape"):
            make_tables(np.zeros((2, 3, 3))).unit_scores(np.zeros(4))


class TestSubset:
    def test_has_the_units_asked_for_in_their_order(self, rng):
        tables = simulate_tables(rng, [0.5, 0.0, -0.5], n_units=6, n_per_pair=3)

        found = tables.subset(np.array([4, 1]))

        expected = tables.weighted(np.eye(6)[[4, 1]])
        np.testing.assert_allclose(found.weighted(np.eye(2)), expected, atol=1e-12)


graphs = hnp.arrays(float, (6, 5, 5), elements=st.sampled_from([0.0, 0.0, 1.0]))


ISLANDS = np.zeros((5, 5))
ISLANDS[0, 1] = ISLANDS[1, 0] = ISLANDS[2, 3] = ISLANDS[3, 2] = 1.0
ISLANDS[3, 4] = ISLANDS[4, 3] = 1.0
NEVER_LOSES = np.array([[0.0, 9.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])


@pytest.mark.parametrize(
    ("wins", "components", "joining"),
    [
        (np.roll(np.eye(4), 1, axis=1), ((0, 1, 2, 3),), ()),
        (np.diag(np.ones(2), 1), ((0,), (1,), (2,)), (JoiningPair(2, 0, False),)),
        (ISLANDS, ((0, 1), (2, 3, 4)), (JoiningPair(0, 3, True),)),
        (NEVER_LOSES, ((0,), (1, 2)), (JoiningPair(1, 0, False),)),
        (np.zeros((0, 0)), (), ()),
    ],
    ids=["circle", "chain", "islands meet at the most judged", "one never loses", "no systems"],
)
def test_components_and_the_wins_that_would_join_them(wins, components, joining):
    assert strong_components(wins) == components
    assert joining_pairs(wins) == joining


class TestJoiningPairs:
    @given(graphs)
    def test_are_none_for_one_component_and_make_one_of_many(self, stack):
        for wins in stack:
            assert (not joining_pairs(wins)) == (len(strong_components(wins)) == 1)
            for pair in joining_pairs(wins):
                wins[pair.winner, pair.loser] = 1.0
                if pair.is_either_way:
                    wins[pair.loser, pair.winner] = 1.0

            assert len(strong_components(wins)) == 1


class TestCheckConnected:
    def test_the_refusal_names_groups_and_what_would_join_them(self):
        with pytest.raises(NotConnectedError, match="3 groups") as refusal:
            check_connected(np.zeros((3, 3)))

        assert refusal.value.components == ((0,), (1,), (2,))
        assert [(pair.winner, pair.loser) for pair in refusal.value.joining] == [(0, 1), (1, 2)]


class TestConnectingWins:
    @given(graphs)
    def test_a_few_wins_connect_what_all_of_them_do(self, stack):
        for wins in stack:
            if len(strong_components(wins)) == 1:
                chosen = connecting_wins(wins)

                assert len(strong_components(chosen.astype(float))) == 1
                assert chosen.sum() <= 2 * (len(wins) - 1)
                assert (wins[chosen] > 0).all()

    def test_heavy_wins_are_taken_before_light_ones(self):
        wins = np.ones((4, 4)) - np.eye(4)
        for one, other in ((0, 1), (1, 2), (2, 3)):
            wins[one, other] = wins[other, one] = 50.0

        assert wins[connecting_wins(wins)].min() == 50.0


class TestStronglyConnected:
    @given(graphs)
    def test_agrees_with_the_components_of_each_graph(self, stack):
        one_by_one = [len(strong_components(wins)) == 1 for wins in stack]

        assert strongly_connected(stack).tolist() == one_by_one


def answers(seed):
    return np.random.default_rng(seed).integers(1, 9, size=(4, 3, 3)) * (1.0 - np.eye(3))


class TestStrengthsWithoutEach:
    @given(st.integers(0, 1000))
    def test_are_those_of_a_fit_of_the_others(self, seed):
        wins = answers(seed)

        strengths = strengths_without_each(wins)

        for rater in range(len(wins)):
            others = np.delete(wins, rater, axis=0).sum(axis=0)
            assert strengths[rater] == pytest.approx(
                fit_bradley_terry(others).log_strengths, abs=1e-7
            )

    @given(st.permutations(range(4)))
    def test_do_not_depend_on_the_order_of_the_raters(self, order):
        wins = answers(1)

        assert strengths_without_each(wins[order]) == pytest.approx(
            strengths_without_each(wins)[order]
        )

    def test_are_not_a_number_where_the_others_connect_nothing(self):
        wins = np.array([[[0.0, 1.0], [1.0, 0.0]], [[0.0, 2.0], [0.0, 0.0]]])

        strengths = strengths_without_each(wins)

        assert np.isnan(strengths[0]).all()
        assert np.isfinite(strengths[1]).all()

    def test_are_refused_when_all_answers_connect_nothing_and_of_nobody_are_none(self):
        assert strengths_without_each(np.empty((0, 3, 3))).shape == (0, 3)
        with pytest.raises(NotConnectedError):
            strengths_without_each(np.array([[[0.0, 1.0], [0.0, 0.0]]]))

    @pytest.mark.parametrize(
        "wins",
        [np.ones((2, 2)), np.ones((2, 2, 3)), -np.ones((1, 2, 2))],
        ids=["flat", "oblong", "negative"],
    )
    def test_are_refused_for_arrays_of_another_shape_or_sign(self, wins):
        with pytest.raises(ValueError, match=r"wins must be|shape"):
            strengths_without_each(wins)


NOTHING = np.zeros((1, 2))


class TestPlaceAmong:
    @given(st.integers(0, 1000))
    def test_puts_a_system_where_the_joint_fit_has_it(self, seed):
        wins = np.random.default_rng(seed).integers(1, 9, size=(4, 4)).astype(float)
        np.fill_diagonal(wins, 0.0)
        strengths = fit_bradley_terry(wins).log_strengths

        placed = place_among(wins[None, 0, 1:], wins[None, 1:, 0], strengths[None, 1:])

        assert placed == pytest.approx(strengths[:1], abs=1e-7)

    def test_moves_along_with_the_strengths(self):
        wins, losses = np.array([[3.0, 1.0]]), np.array([[2.0, 2.0]])
        strengths = np.array([[0.2, -0.4]])

        moved = place_among(wins, losses, strengths + 5.0)

        assert moved == pytest.approx(place_among(wins, losses, strengths) + 5.0)

    @pytest.mark.parametrize(
        ("wins", "losses", "strengths"),
        [
            (NOTHING, NOTHING, NOTHING),
            (NOTHING + 1.0, NOTHING, NOTHING),
            (NOTHING, NOTHING + 1.0, NOTHING),
            (NOTHING + 1.0, NOTHING + 1.0, NOTHING + np.nan),
        ],
        ids=["nothing", "all won", "all lost", "no strengths"],
    )
    def test_is_not_a_number_without_a_maximum(self, wins, losses, strengths):
        assert np.isnan(place_among(wins, losses, strengths)).all()

    @pytest.mark.parametrize(
        ("wins", "losses"),
        [(np.ones((1, 3)), np.ones((1, 2))), (NOTHING - 1.0, NOTHING), (NOTHING + np.inf, NOTHING)],
        ids=["another shape", "negative", "infinite"],
    )
    def test_refuses_what_are_no_weights(self, wins, losses):
        with pytest.raises(ValueError, match=r"shape|finite"):
            place_among(wins, losses, NOTHING)
