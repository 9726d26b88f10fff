"""Which systems can be compared at all."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ranking.numerics.connectivity import strong_components, strongly_connected

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


class TestStronglyConnected:
    @given(graphs)
    def test_agrees_with_the_components_of_each_graph(self, stack):
        one_by_one = [len(strong_components(wins)) == 1 for wins in stack]

        assert strongly_connected(stack).tolist() == one_by_one
