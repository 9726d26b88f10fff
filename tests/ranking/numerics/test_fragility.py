"""The fewest groups whose removal changes the first place, against trying every set."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.fragility import smallest_removal, without_each
from ranking.numerics.tables import WeightedPairs, tabulate
from tests.ranking.numerics.helpers import make_pairs


def strengths(pairs, n_systems, rows=slice(None)):
    """Fit some of the rows."""
    columns = (pairs.first, pairs.second, pairs.to_first, pairs.to_second)
    chosen = [column[rows] for column in columns]
    one = WeightedPairs(np.zeros(len(chosen[0]), dtype=int), *chosen)
    return fit_bradley_terry(tabulate(one, n_units=1, n_systems=n_systems).total()).log_strengths


def soft_votes(seed, n, n_systems):
    """Every pair judged about as often, with soft shares: always connected."""
    rng = np.random.default_rng(seed)
    pairs = list(itertools.combinations(range(n_systems), 2))
    rows = []
    for at in range(n):
        first, second = pairs[at % len(pairs)]
        share = float(rng.choice([0.05, 0.25, 0.45, 0.65, 0.85, 0.95]))
        rows.append((0, first, second, share, 1 - share))
    return make_pairs(rows)


def changes(pairs, group, left_out, leader, n_systems):
    try:
        theta = strengths(pairs, n_systems, ~np.isin(group, left_out))
    except NotConnectedError:
        return False
    return theta.max() > theta[leader] + 1e-9


class TestSmallestRemoval:
    def test_of_two_systems_is_the_surplus_of_votes(self):
        """8 to 5: four of the eight must go before the other is ahead."""
        pairs = make_pairs([(0, 0, 1, 1.0, 0.0)] * 8 + [(0, 0, 1, 0.0, 1.0)] * 5)

        found = smallest_removal(pairs, np.arange(13), strengths(pairs, 2))

        assert (found.leader, found.new_first) == (0, 1)
        assert len(found.groups) == 4
        assert set(found.groups) <= set(range(8))

    @settings(max_examples=6, deadline=None)
    @given(st.integers(0, 10_000))
    def test_comes_near_the_fewest_of_all_sets(self, seed):
        """By brute force over all sets of up to three of 11 votes."""
        pairs = soft_votes(seed, 11, 3)
        theta, group = strengths(pairs, 3), np.arange(11)
        leader = int(theta.argmax())

        found = smallest_removal(pairs, group, theta)

        fewest = next(
            (
                size
                for size in range(1, 4)
                for chosen in itertools.combinations(range(11), size)
                if changes(pairs, group, chosen, leader, 3)
            ),
            None,
        )
        if found.new_first is not None:
            assert changes(pairs, group, found.groups, leader, 3)
        if fewest is not None:
            assert found.new_first is not None
            assert fewest <= len(found.groups) <= fewest + 1

    @settings(max_examples=15, deadline=None)
    @given(st.integers(0, 10_000))
    def test_by_groups_is_confirmed_by_a_refit_without_them(self, seed):
        pairs = soft_votes(seed, 60, 4)
        group = np.random.default_rng(seed).integers(0, 12, size=60)
        theta = strengths(pairs, 4)

        found = smallest_removal(pairs, group, theta)

        if found.new_first is not None:
            without = strengths(pairs, 4, ~np.isin(group, found.groups))
            assert without[found.new_first] == without.max() > without[found.leader] + 1e-9
            assert found.leader == theta.argmax()

    def test_grows_until_the_refit_confirms_what_influence_promised(self):
        """A lead so wide that by the linear count no number of votes is enough."""
        pairs = make_pairs([(0, 0, 1, 0.95, 0.05)] * 90 + [(0, 0, 1, 0.05, 0.95)] * 5)

        found = smallest_removal(pairs, np.arange(95), strengths(pairs, 2))

        assert len(found.groups) == 86
        assert found.by_influence is None

    def test_does_not_exist_where_every_vote_is_alike(self):
        """Half the shares are the leader's own: without all of them nothing is left."""
        pairs = make_pairs([(0, 0, 1, 0.95, 0.05)] * 6)

        found = smallest_removal(pairs, np.arange(6), strengths(pairs, 2))

        assert found.new_first is None
        assert len(found.groups) == 0

    def test_does_not_depend_on_the_names_of_systems(self):
        pairs = soft_votes(3, 40, 3)
        names = np.array([2, 0, 1])
        other = WeightedPairs(
            pairs.unit, names[pairs.first], names[pairs.second], pairs.to_first, pairs.to_second
        )

        one = smallest_removal(pairs, np.arange(40), strengths(pairs, 3))
        two = smallest_removal(other, np.arange(40), strengths(other, 3))

        assert names[one.leader] == two.leader
        assert len(one.groups) == len(two.groups)

    def test_refuses_groups_of_another_length(self):
        pairs = soft_votes(1, 6, 3)

        with pytest.raises(ValueError, match="length"):
            smallest_removal(pairs, np.arange(5), strengths(pairs, 3))


class TestWithoutEach:
    @settings(max_examples=15, deadline=None)
    @given(st.integers(0, 10_000))
    def test_is_the_fit_of_the_others(self, seed):
        pairs = soft_votes(seed, 48, 4)
        group = np.arange(48) // 8

        found = without_each(pairs, group, strengths(pairs, 4))

        for one in range(6):
            others = strengths(pairs, 4, group != one)
            assert found[one] == pytest.approx(others, abs=1e-6)

    def test_is_not_a_number_where_the_others_do_not_connect(self):
        pairs = make_pairs([(0, 0, 1, 0.6, 0.4), (0, 1, 2, 0.6, 0.4), (0, 0, 1, 0.7, 0.3)])

        found = without_each(pairs, np.arange(3), strengths(pairs, 3))

        assert np.isfinite(found).all(axis=1).tolist() == [True, False, True]
        assert np.isnan(found[1]).all()

    def test_of_nobody_is_nothing(self):
        nobody = WeightedPairs(*(np.empty(0, dtype=int),) * 3, *(np.empty(0),) * 2)

        found = without_each(nobody, np.empty(0, dtype=int), np.zeros(3))

        assert found.shape == (0, 3)
