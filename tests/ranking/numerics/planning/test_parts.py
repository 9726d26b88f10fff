"""What an error is made of, and whether planned studies find what they are planned to."""

import math

import numpy as np
import pytest
import scipy

from benchmarks import planner
from benchmarks.simulation import Plan
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.planning.needs import needed_dialogues, needed_repeats, power_of
from ranking.numerics.planning.parts import (
    ErrorParts,
    WeightedJudgments,
    error_parts,
    likely_factors,
)
from ranking.numerics.sandwich import clustered_covariance
from ranking.numerics.tables import WeightedPairs, tabulate
from tests.ranking.numerics import peers


def parts(*, n_units=50, between=0.01, within=0.02, raters=0.0):
    return ErrorParts(n_units, between, within, raters, freedom=float(n_units))


def coins(rng, n_units, *, each=1, agreeing=False, raters=None):
    """Make a duel: two systems, ``each`` judgments in every dialogue, whole wins."""
    unit = np.arange(n_units).repeat(each)
    drawn = rng.integers(0, 2, n_units).repeat(each) if agreeing else rng.integers(0, 2, len(unit))
    first = np.zeros_like(unit)
    pairs = WeightedPairs(unit, first, first + 1, drawn.astype(float), 1.0 - drawn)
    return WeightedJudgments(pairs, unit, raters)


def split(judged, pair=(0, 1), n_systems=2):
    tables = tabulate(judged.pairs, n_units=int(judged.pairs.unit.max()) + 1, n_systems=n_systems)
    return error_parts(judged, tables, fit_bradley_terry(tables.total()).log_strengths, pair)


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
        thin = WeightedJudgments(WeightedPairs(*(one[keep] for one in vars(judged.pairs).values())),
                      judged.item[keep], None)  # fmt: skip

        found = split(thin)

        assert found.within == pytest.approx(4 / 3_000, rel=0.05)

    def test_see_tastes_that_raters_carry_from_dialogue_to_dialogue(self, rng):
        """40 people, half of whom always name the first system: by dialogues nothing is seen."""
        raters = np.tile(np.arange(40), 50)
        judged = coins(rng, 400, each=5, raters=raters)
        given = np.where(raters % 2 == 0, 1.0, 0.0)
        pairs = WeightedPairs(*list(vars(judged.pairs).values())[:3], given, 1.0 - given)  # type: ignore[call-arg]

        found = split(WeightedJudgments(pairs, judged.item, raters))
        blind = split(WeightedJudgments(pairs, judged.item, None))

        assert blind.raters == 0.0
        assert found.standard_error == pytest.approx(2 / math.sqrt(40), rel=0.15)

    def test_have_as_much_freedom_as_equal_normal_dialogues(self, rng):
        unit = np.arange(4_000).repeat(20)
        drawn = rng.integers(0, 2, len(unit)).astype(float)
        pairs = WeightedPairs(unit, np.zeros_like(unit), np.ones_like(unit), drawn, 1.0 - drawn)

        assert split(WeightedJudgments(pairs, unit, None)).freedom == pytest.approx(4_000, rel=0.15)

    def test_need_two_dialogues(self, rng):
        with pytest.raises(ValueError, match="two source dialogues"):
            split(coins(rng, 1, each=8))


class TestPower:
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


class TestNeeds:
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
            found = rng.normal(size=30).var() * 30 / 30
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
