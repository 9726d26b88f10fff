"""Intervals of replicates, alone and together, of ranks; tiers; limits; at any time."""

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.numerics.bootstrap import bootstrap_strengths
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.intervals import (
    LARGEST_BET,
    confidence_sequence,
    control_limits,
    dispersion,
    percentile_intervals,
)
from ranking.numerics.simultaneous import (
    as_if_many_units,
    for_few_units,
    joint_intervals,
    rank_intervals,
    tiers,
)
from tests.ranking.numerics.helpers import simulate_tables


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
    estimate = fit_bradley_terry(tables.total()).log_strengths
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


N = np.array([10.0, 40.0, 1000.0])


class TestControlLimits:
    @pytest.mark.parametrize(("level", "degrees"), [(0.95, np.inf), (0.998, np.inf), (0.95, 11.0)])
    def test_agree_with_the_intervals_of_scipy(self, level, degrees):
        limits = control_limits(N, centre=-0.1, variance=0.2, level=level, degrees=degrees)

        scale = np.sqrt(0.2 / N)
        low, high = scipy.stats.t.interval(level, degrees, loc=-0.1, scale=scale)
        assert limits.low == pytest.approx(low, rel=1e-9)
        assert limits.high == pytest.approx(high, rel=1e-9)

    @pytest.mark.parametrize(
        "wrong",
        [{"n": np.array([0.0])}, {"variance": -1.0}, {"level": 1.0}, {"degrees": 0.0}],
        ids=lambda one: next(iter(one)),
    )
    def test_refuse_what_makes_no_sense(self, wrong):
        given = {"n": N, "centre": 0.0, "variance": 1.0, "level": 0.95, "degrees": 5.0} | wrong
        with pytest.raises(ValueError, match=r"must be|level"):
            control_limits(given.pop("n"), **given)


class TestDispersion:
    @pytest.mark.parametrize(
        ("scores", "found"),
        [([1.0, -2.0, 3.0], 14 / 3), ([0.0] * 10, 1.0), ([], 1.0)],
        ids=["the mean square by hand", "chance explains all", "nothing is known"],
    )
    def test_is_the_mean_square_and_at_least_one(self, scores, found):
        assert dispersion(np.array(scores), winsorised=0.0) == pytest.approx(found)

    def test_agrees_with_the_winsorising_of_scipy(self):
        scores = np.random.default_rng(1).standard_t(3, size=137) * 2.0

        peer = np.asarray(scipy.stats.mstats.winsorize(scores, limits=(0.1, 0.1)))
        assert dispersion(scores) == pytest.approx(np.mean(peer**2))

    @pytest.mark.parametrize(
        ("scores", "winsorised"), [([np.nan], 0.1), ([1.0], 0.5), ([1.0], -0.1)]
    )
    def test_refuses_what_makes_no_sense(self, scores, winsorised):
        with pytest.raises(ValueError, match="must be finite"):
            dispersion(np.array(scores), winsorised=winsorised)


def stakes(values, mean, level=0.95):
    """What a stake against a mean has grown to after each value, written out bet by bet."""
    above = below = 0.5
    seen, squares, spread, grown = 0.5, 0.25, 0.25, []
    for t, value in enumerate(values, start=1):
        bet = np.sqrt(2 * np.log(2 / (1 - level)) / (spread * t * np.log(t + 1)))
        above *= 1 + min(bet, LARGEST_BET / mean) * (value - mean)
        below *= 1 - min(bet, LARGEST_BET / (1 - mean)) * (value - mean)
        grown.append(above + below)
        seen += value
        squares += (value - seen / (t + 1)) ** 2
        spread = squares / (t + 1)
    return np.array(grown)


class TestConfidenceSequence:
    @pytest.mark.parametrize(
        ("draw", "mean"),
        [
            (lambda rng, n: rng.integers(0, 2, n).astype(float), 0.5),
            (lambda rng, n: rng.beta(0.5, 2.0, n), 0.2),
            (lambda rng, n: (rng.random(n) < 0.05).astype(float), 0.05),
        ],
        ids=["coins", "skewed", "rare"],
    )
    def test_ever_leaves_the_mean_out_in_5_per_cent_of_studies_at_most(self, draw, mean):
        rng = np.random.default_rng(11)

        ends = [confidence_sequence(draw(rng, 200)) for _ in range(100)]

        missed = [not found.low[-1] <= mean <= found.high[-1] for found in ends]
        assert np.mean(missed) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 100)

    def test_has_ruled_out_what_the_stakes_have(self):
        values = np.random.default_rng(13).binomial(1, 0.7, 200).astype(float)

        found = confidence_sequence(values)

        for mean in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9):
            if not found.low[-1] < mean < found.high[-1]:
                assert stakes(values, mean).max() >= 20.0
            elif found.low[-1] + 0.002 < mean < found.high[-1] - 0.002:
                assert stakes(values, mean).max() < 20.0

    @settings(max_examples=10, deadline=None)
    @given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
    def test_only_narrows_and_never_crosses(self, values):
        found = confidence_sequence(np.array(values))

        assert (np.diff(found.low) >= 0).all()
        assert (np.diff(found.high) <= 0).all()
        assert (found.low <= found.high).all()

    def test_narrows_towards_the_mean(self):
        values = np.random.default_rng(15).beta(6, 4, 2000)

        found = confidence_sequence(values)

        assert found.low[-1] < 0.6 < found.high[-1]
        assert found.high[-1] - found.low[-1] < 0.06

    def test_knows_nothing_before_the_first_value(self):
        found = confidence_sequence(np.empty(0))

        assert found.low.shape == found.high.shape == (0,)

    @pytest.mark.parametrize("values", [[1.2], [-0.1], [np.nan], [[0.5]]], ids=str)
    def test_refuses_values_that_are_no_shares(self, values):
        with pytest.raises(ValueError, match="between 0 and 1"):
            confidence_sequence(np.array(values))
