"""What the neighbours of a ranking need, and power under a study's own design."""

import math

import numpy as np
import pytest
import scipy

from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.planning import needs
from ranking.numerics.planning.design import (
    Contrast,
    contrast,
    detectable_difference,
    judgments_per_pair,
    needed_units,
    predicted_power,
    simulated_power,
)
from ranking.numerics.planning.needs import Wish, judgments_of_ranking, needs_of, power_of
from ranking.numerics.planning.parts import ErrorParts
from ranking.numerics.sandwich import clustered_covariance, fisher_covariance
from tests.ranking.numerics.helpers import make_tables, simulate_tables

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

        assert needs.detectable_difference(n_systems, n, power=power) == pytest.approx(
            0.1, rel=0.001
        )

    @pytest.mark.parametrize("asked", [(1, 0.1), (5, 0.0)])
    @pytest.mark.parametrize("ask", [judgments_of_ranking, needs.detectable_difference])
    def test_refuses_what_cannot_be_planned(self, ask, asked):
        with pytest.raises(ValueError, match="cannot plan"):
            ask(*asked)


@pytest.fixture
def study(rng):
    tables = simulate_tables(rng, [0.3, 0.1, 0.0, -0.4], n_units=120, n_per_pair=3)
    return tables, fit_bradley_terry(tables.total()).log_strengths


def of_pair(study, pair):
    tables, theta = study
    return contrast(tables, theta, pair)


class TestContrast:
    def test_has_the_clustered_error_of_the_difference(self, study):
        found = of_pair(study, (0, 2))

        errors = clustered_covariance(*study).difference_errors
        assert found.standard_error(120) == pytest.approx(errors[0, 2])
        assert found.standard_error(480) == pytest.approx(errors[0, 2] / 2)

    def test_has_a_design_effect_of_5_when_five_raters_always_agree(self, rng):
        """Two systems: every unit is one opinion five times."""
        wins = np.zeros((2000, 2, 2))
        first = rng.integers(0, 2, size=2000)
        wins[np.arange(2000), first, 1 - first] = 5
        tables = make_tables(wins)

        found = contrast(tables, fit_bradley_terry(tables.total()).log_strengths, (0, 1))

        assert found.design_effect == pytest.approx(5.0, abs=0.02)


class TestPower:
    def test_of_no_difference_is_the_level(self, study):
        assert predicted_power(of_pair(study, (0, 1)), 0.0, 60) == pytest.approx(0.05)

    def test_is_that_of_a_t_test(self):
        """Peer: the noncentral t distribution, for a plain sample of 200."""
        of = Contrast(np.tile([1.0, -1.0], 100) / 200, 1.0)

        peer = scipy.stats.nct.sf(scipy.stats.t.ppf(0.975, 199), 199, 0.2 / of.standard_error(200))

        assert predicted_power(of, 0.2, 200) == pytest.approx(peer, abs=0.005)

    def test_is_reached_by_the_units_and_the_difference_said_to_be_enough(self, study):
        of = of_pair(study, (0, 1))

        n = needed_units(of, 0.2)

        assert predicted_power(of, 0.2, n) >= 0.8 > predicted_power(of, 0.2, n - 1)
        found = predicted_power(of, detectable_difference(of, 90), 90)
        assert found == pytest.approx(0.8, abs=1e-4)

    def test_agrees_with_simulated_studies(self, study, rng):
        of = of_pair(study, (0, 1))
        n = needed_units(of, 0.25)

        found = simulated_power(of, 0.25, n, n_studies=4000, rng=rng)

        assert found == pytest.approx(predicted_power(of, 0.25, n), abs=0.02)

    def test_is_certain_where_nothing_varies(self):
        of = Contrast(np.zeros(5), 0.0)

        assert predicted_power(of, 0.1, 5) == 1.0
        assert predicted_power(of, 0.0, 5) == 0.0

    @pytest.mark.parametrize(
        ("ask", "message"),
        [
            (lambda of, rng: predicted_power(of, 0.1, 1), "two units"),
            (lambda of, rng: detectable_difference(of, 1), "two units"),
            (lambda of, rng: needed_units(of, 0.0), "difference of 0"),
            (lambda of, rng: simulated_power(of, 0.1, 10, n_studies=0, rng=rng), "cannot simulate"),
        ],
    )
    def test_is_refused_without_units_or_difference(self, study, rng, ask, message):
        with pytest.raises(ValueError, match=message):
            ask(of_pair(study, (0, 1)), rng)
