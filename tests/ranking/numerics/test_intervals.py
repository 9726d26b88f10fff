"""Intervals of replicates: one by one, together, of ranks, and tiers by them."""

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from ranking.numerics.bootstrap import bootstrap_strengths
from ranking.numerics.intervals import percentile_intervals
from ranking.numerics.simultaneous import (
    as_if_many_units,
    for_few_units,
    joint_intervals,
    rank_intervals,
    tiers,
)
from tests.ranking.numerics.helpers import simulate_tables, strengths_of


class TestPercentileIntervals:
    def test_holds_the_central_share_of_the_replicates(self):
        replicates = np.column_stack([np.arange(101.0), 2.0 * np.arange(101.0)])

        interval = percentile_intervals(replicates, level=0.9)

        np.testing.assert_allclose(interval.low, [5.0, 10.0])
        np.testing.assert_allclose(interval.high, [95.0, 190.0])

    @pytest.mark.parametrize(
        ("replicates", "level", "message"),
        [
            (np.ones((1, 3)), 0.95, "two rows"),
            (np.ones(3), 0.95, "two rows"),
            (np.array([[0.0], [np.nan]]), 0.95, "left out"),
            (np.ones((4, 2)), 1.0, "level"),
            (np.ones((4, 2)), 0.0, "level"),
        ],
        ids=["one row", "flat", "nan", "certainty", "nothing"],
    )
    def test_refuses_what_it_cannot_answer(self, replicates, level, message):
        with pytest.raises(ValueError, match=message):
            percentile_intervals(replicates, level=level)


class TestJointIntervals:
    @pytest.mark.parametrize(("n_systems", "known"), [(1, 1.96), (18, 2.98)])
    def test_independent_systems_need_the_known_cut_off(self, rng, n_systems, known):
        found = joint_intervals(np.zeros(n_systems), rng.normal(size=(20_000, n_systems)))

        # (2 Phi(c) - 1)**n = 0.95
        assert found.critical_value == pytest.approx(known, abs=0.04)

    def test_hold_in_the_share_of_replicates_that_the_level_says(self, rng):
        replicates = rng.normal(size=(500, 6)) * np.array([1, 2, 3, 4, 5, 6])

        found = joint_intervals(np.zeros(6), replicates, level=0.9)

        inside = (found.low <= replicates) & (replicates <= found.high)
        assert inside.all(axis=1).mean() == pytest.approx(0.9, abs=1e-9)

    def test_few_units_make_them_wider(self, rng):
        replicates = rng.normal(size=(500, 6))

        few, many = (joint_intervals(np.zeros(6), replicates, n_units=n) for n in (20, 300))

        assert (few.high > 1.1 * many.high).all()

    def test_another_scale_scales_them(self, rng):
        replicates = rng.normal(size=(200, 4))

        one, thousand = (joint_intervals(np.zeros(4), scale * replicates) for scale in (1, 1e3))

        np.testing.assert_allclose(thousand.high, 1e3 * one.high)

    def test_a_system_that_never_varies_has_no_width(self, rng):
        replicates = np.column_stack([np.ones(100), rng.normal(size=100)])

        found = joint_intervals(np.array([1.0, 0.0]), replicates)

        assert found.low[0] == found.high[0] == 1.0

    @pytest.mark.parametrize(
        ("estimate", "n_units", "message"),
        [(np.zeros(3), None, "estimate"), (np.zeros(2), 1, "two or more")],
        ids=["length", "one unit"],
    )
    def test_refuse_what_does_not_fit(self, estimate, n_units, message):
        with pytest.raises(ValueError, match=message):
            joint_intervals(estimate, np.eye(2), n_units=n_units)


class TestForFewUnits:
    def test_is_exact_for_a_mean_of_normal_units(self):
        # The bootstrap's standard deviation of a mean is s * sqrt((n - 1) / n) / sqrt(n).
        n = 12

        found = for_few_units(scipy.stats.norm.ppf(0.975), n) * np.sqrt((n - 1) / n)

        assert found == pytest.approx(scipy.stats.t.ppf(0.975, n - 1))

    def test_fades_with_the_number_of_units(self):
        assert for_few_units(3.5, 1_000_000) == pytest.approx(3.5, abs=1e-4)
        assert for_few_units(3.5, None) == 3.5

    @given(st.floats(0.0, 6.0), st.integers(2, 500))
    def test_is_undone_by_its_inverse(self, critical, n_units):
        stretched = for_few_units(critical, n_units)

        found = as_if_many_units(np.array([stretched]), n_units)

        assert found[0] == pytest.approx(critical, abs=1e-6)


def noise(seed, spread, n_systems, n_replicates=400):
    return np.random.default_rng(seed).normal(0.0, spread, size=(n_replicates, n_systems))


def simulated_ranks(seed, theta):
    rng = np.random.default_rng(seed)
    tables = simulate_tables(rng, theta, n_units=150, n_per_pair=3)
    estimate = strengths_of(tables)
    replicates = bootstrap_strengths(tables, estimate, n_replicates=400, rng=rng)
    return rank_intervals(estimate, replicates.fitted())


class TestRankIntervals:
    @pytest.mark.parametrize(
        ("estimate", "spread", "best", "worst"),
        [
            ([0.0, 30.0, 20.0, 10.0], 0.1, [4, 1, 2, 3], [4, 1, 2, 3]),
            ([0.01, 0.02, 0.03], 1.0, [1, 1, 1], [3, 3, 3]),
            ([5.0, 5.01, 0.0, 0.01], 0.2, [1, 1, 3, 3], [2, 2, 4, 4]),
            ([1.0, 0.0, 0.0], 0.0, [1, 2, 2], [1, 3, 3]),
            ([0.0], 1.0, [1], [1]),
        ],
        ids=["clear", "nothing but noise", "two groups", "differences that never vary", "one"],
    )
    def test_are_as_wide_as_the_noise(self, estimate, spread, best, worst):
        ranks = rank_intervals(np.array(estimate), estimate + noise(1, spread, len(estimate)))

        assert (ranks.best.tolist(), ranks.worst.tolist()) == (best, worst)

    def test_what_is_told_apart_lowers_the_cut_off_for_the_rest(self):
        near, far = np.zeros(6), np.array([0.0, 0.1, 0.2, 50.0, 100.0, 150.0])

        one, other = (rank_intervals(x, x + noise(8, 1.0, 6, 4_000)) for x in (near, far))

        assert other.critical_value < one.critical_value - 0.1

    def test_fewer_steps_tell_less_apart(self, monkeypatch):
        estimate = np.array([0.0, 2.9, 50.0, 100.0, 150.0, 200.0])
        replicates = estimate + noise(10, 0.72, 6, 4_000)

        best = []
        for most_steps in (1, 10):
            monkeypatch.setattr("ranking.numerics.simultaneous.MOST_STEPS", most_steps)
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

    def test_a_system_of_few_dialogues_is_told_apart_less(self):
        estimate = np.array([0.0, 0.9, 1.8])
        replicates = estimate + noise(9, 0.25, 3, 4_000)

        ranks = rank_intervals(estimate, replicates, n_units=np.array([500, 500, 4]))

        assert (ranks.best.tolist(), ranks.worst.tolist()) == ([2, 1, 1], [3, 2, 3])

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

    def test_refuses_an_estimate_of_another_length(self):
        with pytest.raises(ValueError, match="estimate"):
            rank_intervals(np.zeros(3), np.zeros((5, 4)))

    @pytest.mark.parametrize(
        ("theta", "best", "worst"),
        [
            (np.zeros(4), 1, 4),
            (np.array([0.5, 0.35, 0.0, -0.1, -0.75]), np.arange(1, 6), np.arange(1, 6)),
        ],
        ids=["equal systems may hold any rank", "systems that differ"],
    )
    def test_true_ranks_are_covered_in_nearly_all_studies(self, theta, best, worst):
        # 5 % of studies may miss, and 60 studies miss seven or more with probability below 0.03.
        missed = 0
        for seed in range(60):
            ranks = simulated_ranks(seed, theta)
            missed += not ((ranks.best <= best).all() and (worst <= ranks.worst).all())

        assert missed <= 6


def tiers_of(estimate, margin):
    estimate = np.asarray(estimate, dtype=float)
    return tiers(estimate, estimate - margin, estimate + margin).tolist()


class TestTiers:
    @pytest.mark.parametrize(
        ("estimate", "margin", "found"),
        [
            # Neighbours 15 apart overlap; the third no longer reaches the first.
            ([30.0, 15.0, 0.0, -15.0], 10.0, [1, 1, 2, 2]),
            ([20.0, 0.0], 10.0, [1, 1]),
            ([0.0, 100.0, 50.0], 1.0, [3, 1, 2]),
            ([100.0, 50.0, 40.0], np.array([5.0, 5.0, 80.0]), [1, 2, 2]),
            ([7.0], 1.0, [1]),
            ([], 1.0, []),
        ],
        ids=[
            "a chain of overlaps does not creep down",
            "touching the anchor is reaching it",
            "the best opens the first tier wherever it stands",
            "a wide interval does not return to the tier above",
            "one",
            "none",
        ],
    )
    def test_hang_on_their_best_system(self, estimate, margin, found):
        assert tiers_of(estimate, margin) == found

    @given(st.lists(st.integers(-300, 300), min_size=1, max_size=8), st.integers(0, 100))
    def test_go_down_with_the_estimate_and_leave_no_number_out(self, values, margin):
        found = np.array(tiers_of(values, margin))

        down = found[np.argsort(values)[::-1]]
        assert (np.diff(down) >= 0).all()
        assert set(found) == set(range(1, found.max() + 1))

    @given(st.permutations(range(6)))
    def test_relabelling_systems_relabels_the_tiers(self, order):
        values = np.array([0.0, 12.0, 31.0, 33.0, 60.0, 95.0])

        assert tiers_of(values[order], 10.0) == np.array(tiers_of(values, 10.0))[order].tolist()

    @pytest.mark.parametrize(
        ("low", "high", "message"),
        [
            ([0.0], [1.0, 2.0], "shapes"),
            ([0.0, np.nan], [3.0, 3.0], "finite"),
            ([0.0, 3.0], [3.0, 4.0], "inside"),
        ],
        ids=["lengths", "nan", "outside"],
    )
    def test_refuses_intervals_that_do_not_fit(self, low, high, message):
        with pytest.raises(ValueError, match=message):
            tiers(np.array([1.0, 2.0]), np.array(low), np.array(high))
