"""Other rankers against libraries and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.numerics.connectivity import NotConnectedError
from ranking.numerics.rankers import (
    average_win_rates,
    eigenvector_scores,
    online_elo,
    pagerank,
    skills,
)
from tests.ranking.numerics import peers

WINNERS = {1.0: "X", 0.5: "Draw", 0.0: "Y"}
SWAPPED = {1.0: "Y", 0.5: "Draw", 0.0: "X"}


def votes(seed, n=200, n_systems=5):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, n_systems, n)
    second = (first + rng.integers(1, n_systems, n)) % n_systems
    share = rng.choice([0.0, 0.5, 1.0], n, p=[0.3, 0.2, 0.5])
    wins = np.zeros((n_systems, n_systems))
    np.add.at(wins, (first, second), share)
    np.add.at(wins, (second, first), 1 - share)
    return np.stack([first, second]), share, wins


def by_evalica(rank, seed, winners=WINNERS, **kwargs):
    pairs, share, _ = votes(seed)
    winner = [getattr(peers.Winner, winners[one]) for one in share]
    found = rank(pairs[0].tolist(), pairs[1].tolist(), winner, **kwargs)
    return found.scores.sort_index().to_numpy()


SEEDS = st.integers(0, 10_000)


class TestAverageWinRates:
    @settings(max_examples=10, deadline=None)
    @given(SEEDS)
    def test_are_those_of_evalica(self, seed):
        assert average_win_rates(votes(seed)[2]) == pytest.approx(
            by_evalica(peers.average_win_rate, seed), abs=1e-6
        )

    def test_of_a_system_that_met_nobody_is_not_a_number(self):
        assert np.isnan(average_win_rates(np.zeros((2, 2)))).all()


class TestPagerank:
    @settings(max_examples=10, deadline=None)
    @given(SEEDS)
    def test_is_that_of_evalica(self, seed):
        peer = by_evalica(peers.pagerank, seed, tolerance=1e-12, limit=10_000)

        assert pagerank(votes(seed)[2]) == pytest.approx(peer, abs=1e-6)

    @pytest.mark.parametrize(("n", "damping"), [(0, 0.85), (2, 1.0), (2, -0.1)])
    def test_refuses_no_systems_and_endless_walks(self, n, damping):
        with pytest.raises(ValueError, match="damping"):
            pagerank(np.ones((n, n)), damping=damping)


class TestEigenvectorScores:
    @settings(max_examples=10, deadline=None)
    @given(SEEDS)
    def test_are_those_of_evalica_for_the_losers(self, seed):
        """Its leading vector goes from winners to losers, so it is given all votes turned."""
        peer = by_evalica(peers.eigen, seed, SWAPPED, tolerance=1e-13, limit=100_000)

        assert eigenvector_scores(votes(seed)[2]) == pytest.approx(peer / peer.sum(), abs=1e-6)

    def test_are_refused_where_nobody_connects_the_systems(self):
        with pytest.raises(NotConnectedError):
            eigenvector_scores(np.array([[0.0, 1.0], [0.0, 0.0]]))


class TestOnlineElo:
    @settings(max_examples=10, deadline=None)
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
