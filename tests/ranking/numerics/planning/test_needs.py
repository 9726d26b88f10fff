"""What an error is made of, what neighbours need, and whether planned studies find it."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy

from benchmarks import planner
from benchmarks.simulation import Plan
from ranking.numerics.planning import needs
from ranking.numerics.planning.design import (
    Contrast,
    contrast,
    detectable_difference,
    needed_units,
    predicted_power,
    simulated_power,
)
from ranking.numerics.planning.needs import (
    Wish,
    judgments_of_ranking,
    needed_dialogues,
    needed_repeats,
    needs_of,
    power_of,
)
from ranking.numerics.planning.parts import (
    ErrorParts,
    WeightedJudgments,
    error_parts,
    likely_factors,
)
from ranking.numerics.sandwich import clustered_covariance, fisher_covariance
from ranking.numerics.tables import WeightedPairs, tabulate
from tests.ranking.numerics import peers
from tests.ranking.numerics.helpers import make_tables, simulate_tables, strengths_of


def parts(*, n_units=50, between=0.01, within=0.02, raters=0.0):
    return ErrorParts(n_units, between, within, raters, freedom=float(n_units))


def coins(rng, n_units, *, each=1, agreeing=False, raters=None):
    """Make a duel: two systems, ``each`` judgments in every dialogue, whole wins."""
    unit = np.arange(n_units).repeat(each)
    drawn = rng.integers(0, 2, n_units).repeat(each) if agreeing else rng.integers(0, 2, len(unit))
    first = np.zeros_like(unit)
    pairs = WeightedPairs(unit, first, first + 1, drawn.astype(float), 1.0 - drawn)
    return WeightedJudgments(pairs, unit, raters)


def tables_of(judged):
    return tabulate(judged.pairs, n_units=int(judged.pairs.unit.max()) + 1, n_systems=2)


def split(judged):
    tables = tables_of(judged)
    return error_parts(judged, tables, strengths_of(tables), (0, 1))


class TestErrorParts:
    def test_add_up_to_the_clustered_variance(self, rng):
        judged, tables, theta = planner.study((0.4, 0.1, -0.5), Plan(60, 3, 4), rng)

        found = error_parts(judged, tables, theta, (0, 2))

        wanted = clustered_covariance(tables, theta).difference_errors[0, 2]
        assert found.standard_error == pytest.approx(wanted)
        assert found.between > 0 < found.within
        assert found.n_units == 60

    def test_of_independent_judgments_are_all_inside_comparisons(self, rng):
        found = split(coins(rng, 2_000, each=4))

        assert found.within == pytest.approx(4 / 8_000, rel=0.02)  # 1 / (n p (1 - p))
        assert found.between < 0.15 * found.within

    def test_of_raters_who_always_agree_are_all_between_dialogues(self, rng):
        found = split(coins(rng, 500, each=3, agreeing=True))

        assert found.within == pytest.approx(0.0, abs=1e-20)
        assert found.between == pytest.approx(4 / 500, rel=0.02)

    def test_do_not_know_what_nobody_judged_twice(self, rng):
        found = split(coins(rng, 100))

        assert math.isnan(found.within)
        assert found.between == pytest.approx(4 / 100, rel=0.05)
        assert math.isnan(needed_repeats(found, 0.05))

    def test_take_comparisons_judged_once_as_the_others_are(self, rng):
        """Of 2,000 comparisons half lose all judgments but one: each of these is as uncertain."""
        judged = coins(rng, 2_000, each=2)
        keep = (np.arange(4_000) % 2 == 0) | (judged.pairs.unit < 1_000)

        found = split(WeightedJudgments(judged.pairs.part(keep), judged.item[keep], None))

        assert found.within == pytest.approx(4 / 3_000, rel=0.05)

    def test_see_tastes_that_raters_carry_from_dialogue_to_dialogue(self, rng):
        """40 people, half of whom always name the first system: by dialogues nothing is seen."""
        raters = np.tile(np.arange(40), 50)
        judged = coins(rng, 400, each=5, raters=raters)
        given = np.where(raters % 2 == 0, 1.0, 0.0)
        pairs = replace(judged.pairs, to_first=given, to_second=1.0 - given)

        found = split(WeightedJudgments(pairs, judged.item, raters))
        blind = split(WeightedJudgments(pairs, judged.item, None))

        assert blind.raters == 0.0
        assert found.standard_error == pytest.approx(2 / math.sqrt(40), rel=0.15)

    def test_have_as_much_freedom_as_equal_normal_dialogues(self, rng):
        assert split(coins(rng, 4_000, each=20)).freedom == pytest.approx(4_000, rel=0.15)

    def test_need_two_dialogues(self, rng):
        with pytest.raises(ValueError, match="two source dialogues"):
            split(coins(rng, 1, each=8))


class TestPowerOfParts:
    def test_is_that_of_a_t_test(self):
        """Of one sample: each dialogue brings one influence; statsmodels knows its power."""
        of = parts(n_units=60, between=0.04, within=0.0)

        peer = peers.TTestPower().power(0.5 / (0.2 * math.sqrt(60)), nobs=60, alpha=0.05)

        assert power_of(of, 0.5) == pytest.approx(peer, abs=0.01)

    def test_is_the_level_where_nothing_differs(self):
        assert power_of(parts(), 0.0, level=0.9) == pytest.approx(0.1)

    def test_is_certain_without_error(self):
        still = parts(between=0.0, within=0.0)

        assert (power_of(still, 0.1), power_of(still, 0.0)) == (1.0, 0.0)


class TestNumbersNeeded:
    def test_of_dialogues_are_those_of_a_t_test(self):
        of = parts(n_units=60, between=0.04, within=0.02)
        sd = math.sqrt(0.06 * 60)

        peer = peers.TTestPower().solve_power(effect_size=0.3 / sd, alpha=0.05, power=0.8)

        assert needed_dialogues(of, 0.3) == pytest.approx(peer, abs=2)

    def test_of_dialogues_are_the_closed_form_of_normal_errors(self):
        of = parts(n_units=1_000, between=0.0004, within=0.0006)

        z = scipy.stats.norm.ppf(0.975) + scipy.stats.norm.ppf(0.9)

        assert needed_dialogues(of, 0.02, power=0.9) == pytest.approx(
            z**2 * 0.001 * 1_000 / 0.02**2, rel=0.001
        )

    def test_of_repeats_take_out_only_what_judgments_bring(self):
        of = parts(between=0.01, within=0.04, raters=0.02)

        times = needed_repeats(of, 0.35)

        assert of.expected_error(judgments=times) ** 2 == pytest.approx(0.01 + 0.06 / times)
        reached = parts(between=of.expected_error(judgments=times) ** 2, within=0.0)
        assert power_of(reached, 0.35) == pytest.approx(0.8, abs=1e-6)

    def test_of_repeats_are_never_met_when_dialogues_are_too_few(self):
        of = parts(between=0.01, within=0.04)
        at_best = power_of(parts(between=0.01, within=0.0), 0.25)

        assert at_best < 0.8
        assert needed_repeats(of, 0.25) == math.inf
        assert needed_dialogues(of, 0.25) > of.n_units

    def test_are_none_where_there_is_enough_and_bounded_for_what_nobody_can_find(self):
        assert needed_repeats(parts(), 3.0) == 1.0
        assert needed_dialogues(parts(), 3.0) <= 50
        assert needed_dialogues(parts(), 1e-9) == 10**9

    @pytest.mark.parametrize("asked", [{"difference": 0.0}, {"power": 0.04}, {"level": 1.0}])
    def test_refuse_what_has_no_answer(self, asked):
        asked = {"difference": 0.1} | asked

        for needed in (needed_repeats, needed_dialogues):
            with pytest.raises(ValueError, match=r"no number|level"):
                needed(parts(), **asked)

    def test_lie_between_likely_factors(self, rng):
        """Of 200 samples of 30 normal influences, nine of ten intervals hold the true variance."""
        held = 0
        for _ in range(200):
            low, high = likely_factors(parts(n_units=30))
            found = rng.normal(size=30).var()
            held += low * found < 1.0 < high * found

        assert held / 200 == pytest.approx(0.9, abs=0.06)


@pytest.mark.parametrize("way", [planner.REPEATS, planner.DIALOGUES])
def test_planned_studies_find_what_they_are_planned_to(way):
    """Simulated from strengths that are known, a pilot first; two ways to spend judgments."""
    plan = planner.planned(0.25, way, pilot=600)

    found = planner.found(0.25, plan, n_studies=150)

    assert (plan.times > 1.2) == (way == planner.REPEATS)
    assert found.share == pytest.approx(plan.predicted, abs=3 * found.error + 0.01)
    assert 0.78 < plan.predicted < 0.86  # whole judgments, rounded up


WISH = Wish(0.25)


def neighbours(*, between=0.002, within=0.004):
    return ErrorParts(100, between, within, 0.0, 100.0)


class TestNeedsOfNeighbours:
    def test_tell_what_is_met_what_needs_judgments_and_what_needs_dialogues(self):
        met, short, limited = needs_of(
            (neighbours(), neighbours(within=0.02), neighbours(between=0.02)), WISH
        )

        assert met.is_met
        assert met.power > 0.8
        assert 1.0 < short.repeats < math.inf
        assert short.power < 0.8 < short.best_power
        assert limited.is_limited
        assert limited.best_power < 0.8
        assert limited.dialogues > 100

    def test_say_how_sure_they_are(self):
        (need,) = needs_of((neighbours(between=0.02),), WISH)

        assert need.fewest < need.dialogues < need.most

    def test_do_not_say_what_judgments_bring_that_nobody_tried(self):
        (need,) = needs_of((neighbours(between=0.02, within=math.nan),), WISH)

        assert math.isnan(need.repeats)
        assert math.isnan(need.best_power)
        assert need.dialogues > 100

    def test_grow_when_the_level_is_to_hold_for_all(self):
        pair = (neighbours(within=0.02),) * 10

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
            needs_of((neighbours(),), Wish(difference))


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
    return tables, strengths_of(tables)


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
        tables = tables_of(coins(rng, 2_000, each=5, agreeing=True))

        found = contrast(tables, strengths_of(tables), (0, 1))

        assert found.design_effect == pytest.approx(5.0, abs=0.02)


class TestPowerOfAContrast:
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
