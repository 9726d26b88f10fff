"""Which systems can be compared at all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ranking.numerics.connectivity import (
    JoiningPair,
    NotConnectedError,
    check_connected,
    connecting_wins,
    joining_pairs,
    strong_components,
    strongly_connected,
)

graphs = hnp.arrays(float, (6, 5, 5), elements=st.sampled_from([0.0, 0.0, 1.0]))


class TestStrongComponents:
    def test_a_circle_of_wins_is_one_component(self):
        assert strong_components(np.roll(np.eye(4), 1, axis=1)) == ((0, 1, 2, 3),)

    def test_a_chain_of_wins_is_as_many_as_systems(self):
        assert strong_components(np.triu(np.ones((3, 3)), 1)) == ((0,), (1,), (2,))

    def test_two_islands_are_two_components_in_the_order_of_their_first_system(self):
        wins = np.zeros((4, 4))
        wins[0, 3] = wins[3, 0] = wins[1, 2] = wins[2, 1] = 1.0

        assert strong_components(wins) == ((0, 3), (1, 2))

    def test_no_systems_make_no_components(self):
        assert strong_components(np.zeros((0, 0))) == ()


class TestJoiningPairs:
    @given(graphs)
    def test_with_the_wins_named_all_systems_are_one_component(self, stack):
        for wins in stack:
            for pair in joining_pairs(wins):
                wins[pair.winner, pair.loser] = 1.0
                if pair.is_either_way:
                    wins[pair.loser, pair.winner] = 1.0

            assert len(strong_components(wins)) == 1

    @given(graphs)
    def test_names_none_where_there_is_one_component_and_some_elsewhere(self, stack):
        for wins in stack:
            assert (not joining_pairs(wins)) == (len(strong_components(wins)) == 1)

    def test_a_system_that_never_loses_must_lose_once(self):
        wins = np.array([[0.0, 9.0, 4.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])

        assert joining_pairs(wins) == (JoiningPair(winner=1, loser=0, is_either_way=False),)

    def test_islands_meet_at_their_most_judged_systems(self):
        wins = np.zeros((5, 5))
        wins[0, 1] = wins[1, 0] = wins[2, 3] = wins[3, 2] = 1.0
        wins[3, 4] = wins[4, 3] = 1.0

        assert joining_pairs(wins) == (JoiningPair(winner=0, loser=3, is_either_way=True),)

    def test_a_chain_is_closed_by_one_win_of_its_end(self):
        chain = np.diag(np.ones(3), 1)

        assert joining_pairs(chain) == (JoiningPair(winner=3, loser=0, is_either_way=False),)

    def test_no_systems_need_no_judgments(self):
        assert joining_pairs(np.zeros((0, 0))) == ()


class TestCheckConnected:
    def test_the_refusal_names_groups_and_what_would_join_them(self):
        with pytest.raises(NotConnectedError, match="3 groups") as refusal:
            check_connected(np.zeros((3, 3)))

        assert refusal.value.components == ((0,), (1,), (2,))
        assert [(pair.winner, pair.loser) for pair in refusal.value.joining] == [(0, 1), (1, 2)]

    def test_systems_that_are_held_need_no_wins_of_each_other(self):
        wins = np.zeros((3, 3))
        wins[0, 1] = wins[1, 2] = 1.0

        check_connected(wins, held=(2, 0))


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
