"""Why the published ratings lie three times closer together than the published win rates say.

A win of middling strength gives the winner 0.75 of a judgment under soft scores, not all of it.
"""

import csv

import numpy as np
import pytest
import scipy
from scipy import special

from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.elo import to_elo
from ranking.numerics.strength import shares
from ranking.numerics.strength_mode import StrengthMode
from ranking.numerics.tables import WeightedPairs, tabulate
from tests.helpers.datasets import shared_file

PUBLISHED_SPREAD = 268.7  # Elo points from the first to the last row of HEART's table 1
N_DIALOGUES, N_PAIRS, N_EACH = 300, 28, 5  # 42,000 judgments, as published
# Binomial: the mean is 3, one answer in sixteen is a 1 or a 5.
CHANCES_OF_STRENGTHS = np.array([1, 4, 6, 4, 1]) / 16


def published_win_rates():
    with shared_file("heart-published-leaderboard.csv").open(encoding="utf-8") as file:
        return np.array([float(row["win_rate_pct"]) / 100 for row in csv.DictReader(file)])


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


@pytest.fixture(params=[published_win_rates, even_win_rates], ids=["published", "even"])
def win_rates(request):
    return request.param()


@pytest.fixture
def study(win_rates, rng):
    return draw_study(strengths_behind(win_rates), rng)


class TestPublishedScale:
    def test_the_study_has_the_win_rates(self, study, win_rates):
        # 4,667 judgments a system know a rate to 0.7 points; opponents differ a little too
        np.testing.assert_allclose(raw_win_rates(study), win_rates, atol=0.035)

    def test_soft_scores_bring_the_published_spread(self, study):
        assert np.ptp(elo_of(study, StrengthMode.SOFT)) == pytest.approx(PUBLISHED_SPREAD, rel=0.05)

    def test_whole_wins_bring_one_two_to_three_times_as_wide(self, study):
        soft, whole = (
            np.ptp(elo_of(study, mode)) for mode in (StrengthMode.SOFT, StrengthMode.IGNORE)
        )

        assert 2.0 < whole / soft < 3.0

    def test_the_order_is_the_same_but_for_near_ties(self, study):
        soft, whole = (elo_of(study, mode) for mode in (StrengthMode.SOFT, StrengthMode.IGNORE))

        assert np.corrcoef(soft, whole)[0, 1] > 0.99
