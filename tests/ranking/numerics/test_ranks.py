"""Rank intervals: what they must hold, and how often they do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking.numerics.bootstrap import bootstrap_strengths
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.ranks import rank_intervals
from tests.ranking.numerics.helpers import simulate_tables


def noise(seed, spread, n_systems, n_replicates=400):
    return np.random.default_rng(seed).normal(0.0, spread, size=(n_replicates, n_systems))


def simulated_ranks(seed, theta):
    rng = np.random.default_rng(seed)
    tables = simulate_tables(rng, theta, n_units=150, n_per_pair=3)
    estimate = fit_bradley_terry(tables.total()).log_strengths
    replicates = bootstrap_strengths(tables, estimate, n_replicates=400, rng=rng)
    return rank_intervals(estimate, replicates.fitted())


class TestRankIntervals:
    def test_clear_differences_leave_one_rank_each(self):
        estimate = np.array([0.0, 30.0, 20.0, 10.0])

        ranks = rank_intervals(estimate, estimate + noise(1, 0.1, 4))

        assert ranks.best.tolist() == ranks.worst.tolist() == [4, 1, 2, 3]

    def test_noise_leaves_every_rank_open(self):
        estimate = np.array([0.01, 0.02, 0.03])

        ranks = rank_intervals(estimate, estimate + noise(2, 1.0, 3))

        assert ranks.best.tolist() == [1, 1, 1]
        assert ranks.worst.tolist() == [3, 3, 3]

    def test_two_groups_are_told_apart_and_their_members_are_not(self):
        estimate = np.array([5.0, 5.01, 0.0, 0.01])

        ranks = rank_intervals(estimate, estimate + noise(3, 0.2, 4))

        assert ranks.best.tolist() == [1, 1, 3, 3]
        assert ranks.worst.tolist() == [2, 2, 4, 4]

    def test_the_cut_off_grows_with_the_number_of_pairs(self):
        few, many = (
            rank_intervals(np.zeros(n), noise(4, 1.0, n, 4_000)).critical_value for n in (2, 12)
        )

        assert few == pytest.approx(1.96, abs=0.1)
        assert many > 3.0

    def test_what_is_told_apart_lowers_the_cut_off_for_the_rest(self):
        near, far = np.zeros(6), np.array([0.0, 0.1, 0.2, 50.0, 100.0, 150.0])

        one, other = (rank_intervals(x, x + noise(8, 1.0, 6, 4_000)) for x in (near, far))

        assert other.critical_value < one.critical_value - 0.1

    def test_fewer_steps_tell_less_apart(self, monkeypatch):
        estimate = np.array([0.0, 2.9, 50.0, 100.0, 150.0, 200.0])
        replicates = estimate + noise(10, 0.72, 6, 4_000)

        best = []
        for most_steps in (1, 10):
            monkeypatch.setattr("ranking.numerics.ranks.MOST_STEPS", most_steps)
            best.append(rank_intervals(estimate, replicates).best.tolist())

        assert best == [[5, 5, 4, 3, 2, 1], [6, 5, 4, 3, 2, 1]]

    def test_few_dialogues_tell_less_apart(self):
        estimate = np.array([0.0, 0.9, 5.0])
        replicates = estimate + noise(9, 0.25, 3, 4_000)

        widths = [
            (ranks.worst - ranks.best).sum()
            for ranks in (rank_intervals(estimate, replicates, n_units=n) for n in (5, 500))
        ]

        assert widths == [2, 0]

    @given(st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=7), st.integers(0, 50))
    def test_the_interval_holds_the_rank_of_the_estimate(self, values, seed):
        estimate = np.array(values)

        ranks = rank_intervals(estimate, estimate + noise(seed, 0.7, len(values), 50))

        rank = 1 + (estimate[None, :] > estimate[:, None]).sum(axis=1)
        assert (ranks.best <= rank).all()
        assert (rank <= ranks.worst).all()

    @given(st.permutations(range(5)))
    def test_relabelling_systems_relabels_the_ranks(self, order):
        estimate = np.array([0.0, 0.3, 0.9, 1.4, 3.0])
        replicates = estimate + noise(5, 0.3, 5)

        ranks = rank_intervals(estimate, replicates)
        relabelled = rank_intervals(estimate[order], replicates[:, order])

        assert relabelled.best.tolist() == ranks.best[order].tolist()
        assert relabelled.worst.tolist() == ranks.worst[order].tolist()

    def test_a_difference_that_never_varies_is_taken_as_it_stands(self):
        estimate = np.array([1.0, 0.0, 0.0])

        ranks = rank_intervals(estimate, np.tile(estimate, (10, 1)))

        assert ranks.best.tolist() == [1, 2, 2]
        assert ranks.worst.tolist() == [1, 3, 3]

    def test_one_system_has_rank_one(self):
        ranks = rank_intervals(np.zeros(1), noise(6, 1.0, 1))

        assert (ranks.best.tolist(), ranks.worst.tolist()) == ([1], [1])

    def test_refuses_an_estimate_of_another_length(self):
        with pytest.raises(ValueError, match="estimate"):
            rank_intervals(np.zeros(3), np.zeros((5, 4)))

    def test_ties_in_truth_are_covered_in_nearly_all_studies(self):
        # Equal systems may hold any rank, so the whole range must be left open; 5 % of studies
        # may miss, and 60 studies miss seven or more with probability below 0.03.
        missed = 0
        for seed in range(60):
            ranks = simulated_ranks(seed, np.zeros(4))
            missed += not ((ranks.best == 1).all() and (ranks.worst == 4).all())

        assert missed <= 6

    def test_true_ranks_are_covered_in_nearly_all_studies(self):
        theta = np.array([0.5, 0.35, 0.0, -0.1, -0.75])
        missed = 0
        for seed in range(60):
            ranks = simulated_ranks(1_000 + seed, theta)
            true = np.arange(1, 6)
            missed += not ((ranks.best <= true).all() and (true <= ranks.worst).all())

        assert missed <= 6
