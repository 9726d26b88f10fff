"""Soft scores and the Elo scale: by the protocol, by published ratings, by fits of others.

The published ratings lie three times closer together than the published win rates say: a win of
middling strength gives the winner 0.75 of a judgment under soft scores, not all of it.
"""

import csv
from typing import cast

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import special

from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.elo import paper_standard_errors, ranks_of, to_elo
from ranking.numerics.strength import grade_to_strength, shares
from ranking.numerics.strength_mode import StrengthMode
from ranking.numerics.tables import WeightedPairs, tabulate
from tests.helpers.datasets import shared_file
from tests.ranking.numerics.helpers import published, strengths_of

strengths = st.lists(st.integers(-5, 5), min_size=1, max_size=50).map(np.array)
modes = st.sampled_from(StrengthMode)


class TestShares:
    @pytest.mark.parametrize(
        ("mode", "first", "second"),
        [
            (
                StrengthMode.SOFT,
                [0.05, 0.15, 0.25, 0.35, 0.45, 0.5, 0.55, 0.65, 0.75, 0.85, 0.95],
                [0.95, 0.85, 0.75, 0.65, 0.55, 0.5, 0.45, 0.35, 0.25, 0.15, 0.05],
            ),
            (
                StrengthMode.MULTIPLY,
                [0, 0, 0, 0, 0, 0.5, 1, 2, 3, 4, 5],
                [5, 4, 3, 2, 1, 0.5, 0, 0, 0, 0, 0],
            ),
            (
                StrengthMode.IGNORE,
                [0, 0, 0, 0, 0, 0.5, 1, 1, 1, 1, 1],
                [1, 1, 1, 1, 1, 0.5, 0, 0, 0, 0, 0],
            ),
        ],
    )
    def test_are_those_of_the_protocol(self, mode, first, second):
        split = shares(np.arange(-5, 6), mode)

        assert (split.first.tolist(), split.second.tolist()) == (first, second)

    @given(strengths, modes)
    def test_swapping_the_sides_swaps_the_shares(self, values, mode):
        there, back = shares(values, mode), shares(-values, mode)

        np.testing.assert_array_equal(there.first, back.second)
        np.testing.assert_array_equal(there.second, back.first)

    @given(strengths)
    def test_a_soft_judgment_weighs_one_and_gives_each_side_something(self, values):
        split = shares(values, StrengthMode.SOFT)

        np.testing.assert_allclose(split.first + split.second, 1.0, rtol=0, atol=1e-15)
        assert min(split.first.min(), split.second.min()) >= 0.05

    @pytest.mark.parametrize(
        ("strength", "mode", "message"),
        [
            (-6, StrengthMode.SOFT, "-5 and 5"),
            (6, StrengthMode.SOFT, "-5 and 5"),
            (1, cast("StrengthMode", "halve"), "halve"),
        ],
    )
    def test_refuse_what_is_not_on_the_scale(self, strength, mode, message):
        with pytest.raises(ValueError, match=message):
            shares(np.array([strength]), mode)


class TestGradeToStrength:
    def test_takes_slightly_and_much_from_its_caller(self):
        grades = np.array([-2, -1, 0, 1, 2])

        assert grade_to_strength(grades, slightly=2, much=4).tolist() == [-4, -2, 0, 2, 4]
        assert grade_to_strength(grades, slightly=1, much=5).tolist() == [-5, -1, 0, 1, 5]

    @pytest.mark.parametrize(
        ("grade", "slightly", "much", "message"),
        [
            (1, 0, 4, "slightly"),
            (1, 2, 6, "slightly"),
            (1, 4, 2, "slightly"),
            (3, 2, 4, "-2 and 2"),
        ],
    )
    def test_refuses_what_is_out_of_range_or_order(self, grade, slightly, much, message):
        with pytest.raises(ValueError, match=message):
            grade_to_strength(np.array([grade]), slightly=slightly, much=much)


thetas = hnp.arrays(float, 4, elements=st.floats(-5.0, 5.0))


class TestToElo:
    def test_ten_to_one_odds_are_400_points_about_the_mean(self):
        assert to_elo(np.array([np.log(10.0), 0.0])) == pytest.approx([1700.0, 1300.0])

    @given(thetas, st.floats(-100.0, 100.0))
    def test_adding_a_constant_changes_nothing(self, theta, constant):
        np.testing.assert_allclose(to_elo(theta + constant), to_elo(theta), atol=1e-8)

    def test_every_replicate_is_centred_on_its_own(self):
        ratings = to_elo(np.array([[1.0, 3.0], [10.0, 12.0]]))

        np.testing.assert_allclose(ratings[0], ratings[1])


class TestRanksOf:
    @pytest.mark.parametrize(
        ("ratings", "ranks"),
        [
            ([1400.0, 1600.0, 1500.0], [3, 1, 2]),
            ([1600.0, 1400.0, 1600.0], [1, 3, 1]),
            ([1500.0 + 2e-13, 1500.0, 1500.0 - 2e-13], [1, 1, 1]),
            ([[1.0, 2.0], [2.0, 1.0]], [[2, 1], [1, 2]]),
            ([], []),
        ],
        ids=["apart", "tied", "apart by rounding", "row by row", "none"],
    )
    def test_the_tied_share_the_better_rank(self, ratings, ranks):
        assert ranks_of(np.array(ratings)).tolist() == ranks


class TestPaperStandardErrors:
    def test_is_one_over_the_root_of_the_comparisons(self):
        np.testing.assert_allclose(paper_standard_errors(np.array([4.0, 100.0])), [0.5, 0.1])

    def test_refuses_a_system_without_comparisons(self):
        with pytest.raises(ValueError, match="at least one"):
            paper_standard_errors(np.array([3.0, 0.0]))


PUBLISHED_SPREAD = 268.7  # Elo points from the first to the last row of HEART's table 1
N_DIALOGUES, N_PAIRS, N_EACH = 300, 28, 5  # 42,000 judgments, as published
# Binomial: the mean is 3, one answer in sixteen is a 1 or a 5.
CHANCES_OF_STRENGTHS = np.array([1, 4, 6, 4, 1]) / 16


def published_win_rates():
    return published("win_rate_pct")[0] / 100


def even_win_rates():
    """Eighteen win rates of mean 1/2 that are about as far apart as the published."""
    return np.linspace(0.86, 0.14, 18)


def strengths_behind(win_rates):
    """Find the strengths whose average win probability against the others is as given."""

    def excess(theta):
        p = special.expit(theta[:, None] - theta[None, :])
        rates = (p.sum(axis=1) - 0.5) / (len(theta) - 1)
        return rates - win_rates + theta.mean()

    # Rates over all pairs have mean 1/2; printed ones are rounded.
    win_rates = win_rates - win_rates.mean() + 0.5
    return scipy.optimize.root(excess, special.logit(win_rates), tol=1e-10).x


def draw_study(theta, rng):
    """Draw who wins by the strengths, and how clearly, the same for all pairs."""
    pairs = np.array(np.triu_indices(len(theta), 1))
    order = rng.random((N_DIALOGUES, pairs.shape[1])).argsort(axis=1)[:, :N_PAIRS]
    unit = np.arange(N_DIALOGUES).repeat(N_PAIRS * N_EACH)
    first, second = pairs[:, order.ravel().repeat(N_EACH)]
    won = rng.random(len(unit)) < special.expit(theta[first] - theta[second])
    size = rng.choice(np.arange(1, 6), p=CHANCES_OF_STRENGTHS, size=len(unit))
    return unit, first, second, np.where(won, size, -size)


def elo_of(study, mode):
    unit, first, second, strength = study
    split = shares(strength, mode)
    pairs = WeightedPairs(unit, first, second, split.first, split.second)
    wins = tabulate(pairs, n_units=N_DIALOGUES, n_systems=18).total()
    return to_elo(fit_bradley_terry(wins).log_strengths)


def raw_win_rates(study):
    _, first, second, strength = study
    winner = np.where(strength > 0, first, second)
    judged = np.bincount(first, minlength=18) + np.bincount(second, minlength=18)
    return np.bincount(winner, minlength=18) / judged


@pytest.mark.parametrize("rates", [published_win_rates, even_win_rates], ids=["published", "even"])
def test_soft_scores_bring_the_published_spread_and_whole_wins_one_two_to_three_times_as_wide(
    rates, rng
):
    win_rates = rates()
    study = draw_study(strengths_behind(win_rates), rng)

    soft, whole = (elo_of(study, mode) for mode in (StrengthMode.SOFT, StrengthMode.IGNORE))

    # 4,667 judgments a system know a rate to 0.7 points; opponents differ a little too
    np.testing.assert_allclose(raw_win_rates(study), win_rates, atol=0.035)
    assert np.ptp(soft) == pytest.approx(PUBLISHED_SPREAD, rel=0.05)
    assert 2.0 < np.ptp(whole) / np.ptp(soft) < 3.0
    assert np.corrcoef(soft, whole)[0, 1] > 0.99  # the same order but for near ties


# Real judgments, each with a Bradley-Terry fit of its own.
OUTCOMES = {"a": 1, "b": -1, "tie": 0}
PUBLISHED_TOP = [
    "GPT 4",
    "Platypus-2 Instruct (70B)",
    "command",
    "ReMM SLERP L2 13B",
    "LLaMA-2-Chat (70B)",
]


def read(name):
    with shared_file(f"replay/{name}").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def human_tables(name, systems):
    """Tabulate people's judgments per context, with ties as half a win to each side."""
    rows = [row for row in read(f"{name}/judgments.csv") if row["judge_kind"] == "human"]
    place = {system: index for index, system in enumerate(systems)}
    units = sorted({row["context_id"] for row in rows})
    split = shares(np.array([OUTCOMES[row["winner"]] for row in rows]), StrengthMode.IGNORE)
    pairs = WeightedPairs(
        np.array([units.index(row["context_id"]) for row in rows]),
        np.array([place[row["system_a"]] for row in rows]),
        np.array([place[row["system_b"]] for row in rows]),
        split.first,
        split.second,
    )
    return tabulate(pairs, n_units=len(units), n_systems=len(systems))


@pytest.mark.parametrize("name", ["llmfao", "pandalm"])
def test_the_replayed_fit_equals_the_reference(name):
    reference = read(f"{name}/reference_bt.csv")
    wins = human_tables(name, [row[""] for row in reference]).total()

    fit = fit_bradley_terry(wins)

    theta = [float(row["theta"]) for row in reference]
    elo = [float(row["elo"]) for row in reference]
    rates = [float(row["winrate_half_ties"]) for row in reference]
    np.testing.assert_allclose(fit.log_strengths, theta, rtol=0, atol=1e-6)
    np.testing.assert_allclose(to_elo(fit.log_strengths), elo, rtol=0, atol=2e-4)
    np.testing.assert_allclose(wins.sum(axis=1) / (wins + wins.T).sum(axis=1), rates, atol=1e-12)


def test_the_best_systems_of_llmfao_come_out_on_top():
    systems = sorted(row[""] for row in read("llmfao/reference_bt.csv"))

    theta = strengths_of(human_tables("llmfao", systems))

    assert [systems[index] for index in np.argsort(-theta)[:5]] == PUBLISHED_TOP
