"""What the neighbours of a ranking need."""

import math

import numpy as np
import pytest

from ranking.numerics.planning.closed_form import judgments_per_pair
from ranking.numerics.planning.needs import (
    Wish,
    detectable_difference,
    judgments_of_ranking,
    needs_of,
    power_of,
)
from ranking.numerics.planning.parts import ErrorParts
from ranking.numerics.sandwich import fisher_covariance
from tests.ranking.numerics.helpers import make_tables

WISH = Wish(0.25)


def parts(*, between=0.002, within=0.004):
    return ErrorParts(100, between, within, 0.0, 100.0)


class TestNeeds:
    def test_tell_what_is_met_what_needs_judgments_and_what_needs_dialogues(self):
        met, short, limited = needs_of((parts(), parts(within=0.02), parts(between=0.02)), WISH)

        assert met.is_met
        assert met.power > 0.8
        assert 1.0 < short.repeats < math.inf
        assert short.power < 0.8 < short.best_power
        assert limited.is_limited
        assert limited.best_power < 0.8
        assert limited.dialogues > 100

    def test_say_how_sure_they_are(self):
        (need,) = needs_of((parts(between=0.02),), WISH)

        assert need.fewest < need.dialogues < need.most

    def test_do_not_say_what_judgments_bring_that_nobody_tried(self):
        (need,) = needs_of((parts(between=0.02, within=math.nan),), WISH)

        assert math.isnan(need.repeats)
        assert math.isnan(need.best_power)
        assert need.dialogues > 100

    def test_grow_when_the_level_is_to_hold_for_all(self):
        pair = (parts(within=0.02),) * 10

        alone, together = needs_of(pair, WISH)[0], needs_of(pair, Wish(0.25, is_joint=True))[0]

        assert together.power < alone.power
        assert together.dialogues > alone.dialogues
        assert Wish(0.25, is_joint=True).level_of_each(10) == pytest.approx(0.995)

    @pytest.mark.parametrize("level", [0.95, 0.9999, 1.0 - 1e-9])
    @pytest.mark.parametrize("n_units", [2, 3])
    def test_of_a_handful_of_dialogues_are_told_at_any_level(self, n_units, level):
        wish = Wish(0.115, level=level)
        limited, short = needs_of(
            [ErrorParts(n_units, between, 0.05, 0.0, 1.0) for between in (0.02, 0.0)], wish
        )

        assert limited.is_limited
        assert limited.dialogues > n_units
        enough = ErrorParts(n_units, 0.0, 0.05 / short.repeats, 0.0, 1.0)
        assert power_of(enough, 0.115, level=level) == pytest.approx(0.8)

    @pytest.mark.parametrize("difference", [0.0, -0.1, math.nan])
    def test_are_not_told_of_no_difference(self, difference):
        with pytest.raises(ValueError, match="above 0"):
            needs_of((parts(),), Wish(difference))


class TestAPlannedRanking:
    @pytest.mark.parametrize("n_systems", [2, 5, 12])
    def test_has_the_error_of_a_round_robin(self, n_systems):
        """The information of n whole wins of each pair, by the sandwich's own bread."""
        wins = np.full((n_systems, n_systems), 50.0) * (1 - np.eye(n_systems))
        covariance = fisher_covariance(make_tables([wins]), np.zeros(n_systems))
        error = math.sqrt(2 * (covariance[0, 0] - covariance[0, 1]))
        n_judgments = 100 * n_systems * (n_systems - 1) / 2

        found = judgments_of_ranking(n_systems, error * 2.8015852)

        assert found == pytest.approx(n_judgments, abs=1)

    def test_of_two_is_about_the_closed_form_of_a_pair(self):
        share = 0.55

        assert judgments_of_ranking(2, math.log(share / (1 - share))) == pytest.approx(
            judgments_per_pair(share), rel=0.01
        )

    @pytest.mark.parametrize("n_systems", [2, 5, 12])
    @pytest.mark.parametrize("power", [0.8, 0.95])
    def test_tells_the_difference_that_it_was_made_for(self, n_systems, power):
        n = judgments_of_ranking(n_systems, 0.1, power=power)

        assert detectable_difference(n_systems, n, power=power) == pytest.approx(0.1, rel=0.001)

    @pytest.mark.parametrize("asked", [(1, 0.1), (5, 0.0)])
    @pytest.mark.parametrize("ask", [judgments_of_ranking, detectable_difference])
    def test_refuses_what_cannot_be_planned(self, ask, asked):
        with pytest.raises(ValueError, match="cannot plan"):
            ask(*asked)
