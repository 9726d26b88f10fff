"""Other rankers, and the fewest removals that change the first place: peers and every set."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.fragility import smallest_removal, without_each
from ranking.numerics.rankers import (
    average_win_rates,
    eigenvector_scores,
    online_elo,
    pagerank,
    skills,
)
from ranking.numerics.tables import WeightedPairs, tabulate
from tests.ranking.numerics import peers
from tests.ranking.numerics.helpers import add_up, draw_pairs, make_pairs, strengths_of

WINNERS = {1.0: "X", 0.5: "Draw", 0.0: "Y"}
SWAPPED = {1.0: "Y", 0.5: "Draw", 0.0: "X"}


def votes(seed):
    rng = np.random.default_rng(seed)
    first, second = draw_pairs(rng, 5, 200)
    share = rng.choice([0.0, 0.5, 1.0], 200, p=[0.3, 0.2, 0.5])
    return np.stack([first, second]), share, add_up(first, second, share, n_systems=5)


def by_evalica(rank, seed, winners=WINNERS, **kwargs):
    pairs, share, _ = votes(seed)
    winner = [getattr(peers.Winner, winners[one]) for one in share]
    found = rank(pairs[0].tolist(), pairs[1].tolist(), winner, **kwargs)
    return found.scores.sort_index().to_numpy()


SEEDS = st.integers(0, 10_000)


class TestAverageWinRates:
    @settings(max_examples=10)
    @given(SEEDS)
    def test_are_those_of_evalica(self, seed):
        assert average_win_rates(votes(seed)[2]) == pytest.approx(
            by_evalica(peers.average_win_rate, seed), abs=1e-6
        )

    def test_of_a_system_that_met_nobody_is_not_a_number(self):
        assert np.isnan(average_win_rates(np.zeros((2, 2)))).all()


class TestPagerank:
    @settings(max_examples=10)
    @given(SEEDS)
    def test_is_that_of_evalica(self, seed):
        peer = by_evalica(peers.pagerank, seed, tolerance=1e-12, limit=10_000)

        assert pagerank(votes(seed)[2]) == pytest.approx(peer, abs=1e-6)

    @pytest.mark.parametrize(("n", "damping"), [(0, 0.85), (2, 1.0), (2, -0.1)])
    def test_refuses_no_systems_and_endless_walks(self, n, damping):
        with pytest.raises(ValueError, match="damping"):
            pagerank(np.ones((n, n)), damping=damping)


class TestEigenvectorScores:
    @settings(max_examples=10)
    @given(SEEDS)
    def test_are_those_of_evalica_for_the_losers(self, seed):
        """Its leading vector goes from winners to losers, so it is given all votes turned."""
        peer = by_evalica(peers.eigen, seed, SWAPPED, tolerance=1e-13, limit=100_000)

        assert eigenvector_scores(votes(seed)[2]) == pytest.approx(peer / peer.sum(), abs=1e-6)

    def test_are_refused_where_nobody_connects_the_systems(self):
        with pytest.raises(NotConnectedError):
            eigenvector_scores(np.array([[0.0, 1.0], [0.0, 0.0]]))


class TestOnlineElo:
    @settings(max_examples=10)
    @given(SEEDS)
    def test_is_that_of_evalica_in_the_order_given(self, seed):
        pairs, share, _ = votes(seed)
        peer = by_evalica(peers.elo, seed, initial=1500.0, k=16.0)

        found = online_elo(pairs, share, np.arange(200)[None], n_systems=5, k_factor=16.0)

        assert found[0] == pytest.approx(peer, abs=1e-6)

    def test_keeps_the_mean_and_depends_on_the_order(self, rng):
        pairs, share, _ = votes(1)
        orders = np.array([rng.permutation(200) for _ in range(4)])

        found = online_elo(pairs, share, orders, n_systems=5)

        assert found.mean(axis=1) == pytest.approx(np.full(4, 1500.0))
        assert found.std(axis=0).min() > 0

    def test_without_judgments_leaves_all_at_the_start(self):
        nothing = np.empty((2, 0), dtype=int)

        found = online_elo(nothing, np.empty(0), np.empty((1, 0), dtype=int), n_systems=2)

        assert found == pytest.approx(np.full((1, 2), 1500.0))

    def test_refuses_shapes_that_do_not_fit_as_skills_do(self):
        pairs, share = np.zeros((2, 3), int), np.zeros(2)

        with pytest.raises(ValueError, match="do not fit"):
            online_elo(pairs, share, np.zeros((1, 2), int), n_systems=2)
        with pytest.raises(ValueError, match="do not fit"):
            skills(pairs, share, n_systems=2)


class TestSkills:
    def test_put_winners_ahead_and_leave_who_was_not_judged(self):
        pairs = np.tile(np.array(np.triu_indices(4, 1)), 10)

        found = skills(pairs, np.ones(60), n_systems=5)

        assert (np.diff(found[:4]) < 0).all()
        assert found[4] == 25.0

    @pytest.mark.parametrize("share", [1.0, 0.5], ids=["won", "tied"])
    def test_turn_round_with_the_answers(self, share):
        one, other = (
            skills(np.array([[0], [1]]), np.array([said]), n_systems=2)
            for said in (share, 1 - share)
        )

        assert one == pytest.approx(other[::-1])


def strengths(pairs, n_systems, rows=slice(None)):
    """Fit some of the rows."""
    return strengths_of(tabulate(pairs.part(rows), n_units=1, n_systems=n_systems))


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

    @settings(max_examples=6)
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

    @settings(max_examples=15)
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
    @settings(max_examples=15)
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
