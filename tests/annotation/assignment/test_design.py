"""The judging design, drawn from the seed, and how an adaptive plan weighs its pairs."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.assignment import design
from annotation.assignment.design import Place
from annotation.choices import PlanKind, Protocol
from annotation.models import Comparison
from annotation.planning import services as annotation
from ranking.boards import board_of
from ranking.exports.options import ExportRequest
from ranking.exports.sources import export_of
from ranking.fits import services
from ranking.results.serializers import BoardOut
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_alone,
    make_comparison,
    make_completion,
    make_context,
    make_dialogue,
    make_judgment,
    make_lease,
    make_llm_judgment,
    make_study,
    make_system,
)
from tests.helpers.judged import make_judged_study

LARGEST_INTEGER_COLUMN = 2**31 - 1
SEEDS = st.text(min_size=1, max_size=8)
LATER = NOW + HOUR


def place(*, seed="s", rater="R1", number=1):
    return design.Place(seed, rater, number)


def draw_sides(events, *, seed="s", pair="p"):
    """Draw one side per rater's earlier counts, and return the pair's counts after each."""
    as_a = as_b = 0
    for rater_shown in events:
        to_a = design.first_goes_to_a(
            seed=seed, pair=pair, shown=(as_a, as_b), rater_shown=rater_shown
        )
        as_a, as_b = as_a + to_a, as_b + (not to_a)
        yield as_a, as_b


class TestPairKey:
    def key(self, first="one", second="two", context="c"):
        return design.pair_key(context_key=context, first_hash=first, second_hash=second)

    def test_does_not_depend_on_which_completion_was_stored_first(self):
        assert self.key("one", "two") == self.key("two", "one")

    def test_differs_by_context_and_by_contents(self):
        keys = {self.key(), self.key(context="d"), self.key(second="three")}

        assert len(keys) == 3
        assert {len(key) for key in keys} == {24}, "as long as its column"


class TestPlaces:
    @given(SEEDS, st.text(max_size=8))
    def test_are_reproducible_and_leave_room_for_the_next_one_in_the_column(self, seed, name):
        position = design.pair_position(seed=seed, key=name)
        start = design.place_to_start(place(seed=seed, rater=name))

        assert position == design.pair_position(seed=seed, key=name)
        assert start == design.place_to_start(place(seed=seed, rater=name))
        assert 0 <= position < LARGEST_INTEGER_COLUMN
        assert 0 <= start < LARGEST_INTEGER_COLUMN
        assert design.POSITIONS <= LARGEST_INTEGER_COLUMN

    def test_differ_between_seeds(self):
        places = {design.pair_position(seed=str(n), key="p") for n in range(50)}

        assert len(places) == 50

    def test_of_raters_spread_over_the_whole_order(self):
        starts = [design.place_to_start(place(rater=f"R{n}")) for n in range(1000)]
        by_tenth = Counter(start * 10 // design.POSITIONS for start in starts)

        assert len(by_tenth) == 10
        assert min(by_tenth.values()) > 60


class TestFirstGoesToA:
    @pytest.mark.parametrize(
        ("shown", "rater_shown", "to_a"),
        [
            ((1, 2), (9, 0), True),
            ((2, 1), (0, 9), False),
            ((1, 1), (3, 4), True),
            ((1, 1), (4, 3), False),
        ],
    )
    def test_balances_the_pair_before_the_rater(self, shown, rater_shown, to_a):
        first = {"seed": "s", "pair": "p", "shown": shown, "rater_shown": rater_shown}

        assert design.first_goes_to_a(**first) is to_a

    def test_tosses_a_fair_coin_where_both_are_even(self):
        heads = sum(
            design.first_goes_to_a(seed=str(n), pair="p", shown=(0, 0), rater_shown=(0, 0))
            for n in range(1000)
        )

        assert 450 < heads < 550

    @given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20))), SEEDS)
    def test_never_lets_sides_differ_by_more_than_one_and_can_be_repeated(self, raters, seed):
        counts = list(draw_sides(raters, seed=seed))

        assert all(abs(as_a - as_b) <= 1 for as_a, as_b in counts)
        assert counts == list(draw_sides(raters, seed=seed))

    @given(st.integers(0, 20), st.integers(0, 20), SEEDS)
    def test_comes_back_to_balance_when_leases_were_given_back(self, as_a, as_b, seed):
        to_a = design.first_goes_to_a(seed=seed, pair="p", shown=(as_a, as_b), rater_shown=(0, 0))
        after = abs(as_a + to_a - as_b - (not to_a))

        assert after == abs(abs(as_a - as_b) - 1)


RATES = [0.05, 0.1, 0.12, 0.15, 1 / 3, 0.5]


def due(rate, *, seed="s", rater="R1", n=200):
    return [
        number
        for number in range(1, n + 1)
        if design.is_check_due(Place(seed, rater, number), rate=rate)
    ]


class TestChecks:
    @pytest.mark.parametrize("rate", RATES)
    def test_come_at_the_rate_exactly(self, rate):
        assert len(due(rate, n=600)) == pytest.approx(600 * rate, abs=1)

    def test_come_once_in_each_run_and_not_at_a_fixed_place(self):
        places = [(number - 1) % 10 for number in due(0.1, n=1000)]

        assert len(places) == 100
        assert all(count < 25 for count in Counter(places).values())
        assert len(set(places)) == 10

    def test_come_at_other_places_for_other_raters_and_seeds_and_the_same_again(self):
        assert due(0.1) == due(0.1)
        assert due(0.1) not in (due(0.1, rater="R2"), due(0.1, seed="t"))
        assert due(0) == []


class TestRepeats:
    def places(self, rate, gap=4):
        return [
            number
            for number in range(1, 301)
            if design.is_repeat_due(Place("s", "R1", number), rate=rate, gap=gap)
        ]

    def test_come_at_the_rate_once_there_is_a_pair_far_enough_back(self):
        assert len(self.places(0.1)) == 30
        assert min(self.places(0.5)) > 4


class TestTheOrderOfPlantedPairs:
    def test_is_another_for_each_rater_and_the_same_again(self):
        keys = [f"key {n}" for n in range(12)]
        orders = {rater: design.shuffled(keys, seed="s", rater=rater) for rater in ("R1", "R2")}

        assert orders["R1"] != orders["R2"]
        assert orders["R1"] == design.shuffled(reversed(keys), seed="s", rater="R1")
        assert sorted(orders["R1"]) == sorted(keys)


class TestTheSideOfAPlantedPair:
    def test_balances_the_rater_first(self):
        def side(shown):
            return design.planted_first_goes_to_a(seed="s", pair="p", rater="R1", rater_shown=shown)

        assert side((3, 5))
        assert not side((5, 3))

    def test_differs_between_raters_who_are_even(self):
        sides = [
            design.planted_first_goes_to_a(seed="s", pair="p", rater=f"R{n}", rater_shown=(2, 2))
            for n in range(400)
        ]

        assert 150 < sum(sides) < 250


class TestDrawWeighted:
    def test_draws_in_proportion_to_the_weights(self):
        drawn = Counter(
            design.draw_weighted([1.0, 3.0, 6.0], place=Place("s", f"R{n}", 1)) for n in range(4000)
        )

        assert drawn[0] == pytest.approx(400, abs=80)
        assert drawn[2] == pytest.approx(2400, abs=130)

    def test_draws_again_differently(self):
        place = Place("s", "R1", 1)
        drawn = {
            design.draw_weighted([1.0] * 50, place=place, attempt=attempt) for attempt in range(9)
        }

        assert len(drawn) > 4


@pytest.fixture
def systems():
    return [make_system(slug=f"system-{letter}") for letter in "abcd"]


def pair(study, one, other, **fields):
    """Make a comparison of two systems in a context of its own."""
    context = make_context(dialogue=make_dialogue(dataset=study.dataset))
    first, second = (make_completion(context=context, system=system) for system in (one, other))
    return make_comparison(study=study, first=first, second=second, **fields)


def judge(comparison, n=1):
    for _ in range(n):
        make_judgment(comparison=comparison)


def adapt(study):
    return services.adapt_plan(study=study, now=LATER)


def weight(comparison):
    return Comparison.objects.get(pk=comparison.pk).weight


@pytest.mark.django_db
class TestAdaptPlan:
    def test_prefers_the_pair_that_was_judged_least(self, systems):
        study = make_study(plan=PlanKind.ADAPTIVE)
        often, seldom = pair(study, *systems[:2]), pair(study, *systems[1:3])
        judge(often, 12)
        judge(seldom)

        changed = [adapt(study), adapt(study)]

        assert changed == [2, 0]
        assert weight(seldom) > 2 * weight(often)

    def test_prefers_a_system_that_is_new(self, systems):
        study = make_judged_study(
            study=make_study(plan=PlanKind.ADAPTIVE), systems=systems[:3], n_dialogues=6
        )
        known, new = pair(study, *systems[:2]), pair(study, systems[0], systems[3])

        adapt(study)

        assert weight(new) > weight(known)

    def test_counts_judgments_by_people_alone(self, systems):
        study = make_study(plan=PlanKind.ADAPTIVE)
        one, other = pair(study, *systems[:2]), pair(study, *systems[2:])
        for _ in range(5):
            make_llm_judgment(comparison=one)

        adapt(study)

        assert weight(one) == pytest.approx(weight(other))

    @pytest.mark.parametrize(
        "fields",
        [{"plan": "BALANCED"}, {"plan": "ADAPTIVE", "state": "CLOSED"}],
        ids=["balanced", "closed"],
    )
    def test_leaves_other_studies_alone(self, systems, fields):
        study = make_study(**fields)
        judge(pair(study, *systems[:2]), 5)
        open_one = pair(study, *systems[1:3])

        assert adapt(study) == 0
        assert weight(open_one) == 1.0

    def test_has_nothing_to_weigh_where_there_are_no_pairs(self):
        likert = make_study(plan=PlanKind.ADAPTIVE, protocol=Protocol.LIKERT)
        make_alone(study=likert)

        assert adapt(likert) == adapt(make_study(plan=PlanKind.ADAPTIVE)) == 0


@pytest.mark.django_db
def test_a_fit_of_people_s_judgments_weighs_once_however_often_the_task_runs(systems):
    study = make_judged_study(study=make_study(plan=PlanKind.ADAPTIVE), systems=systems[:3])
    new = pair(study, systems[0], systems[3])
    claimed = services.claim_changed_fits(study=study, now=LATER)

    done = [services.fit_and_adapt(fit_id=fit_id, clock=lambda: LATER) for fit_id in 2 * claimed]

    assert done == [True] * len(claimed) + [False] * len(claimed)
    assert weight(new) != 1.0


@pytest.mark.django_db
class TestWeighComparisons:
    def test_leaves_full_comparisons_checks_and_pairs_without_a_weight_as_they_are(self, systems):
        study = make_study(plan=PlanKind.ADAPTIVE)
        others = [
            pair(study, *systems[:2], slots_left=0),
            pair(study, *systems[:2], purpose="CHECK"),
            pair(study, *systems[2:]),
        ]
        free = pair(study, *systems[:2])

        changed = annotation.weigh_comparisons(
            study=study, weights={frozenset({"system-a", "system-b"}): 2.5}
        )

        assert (changed, weight(free)) == (1, 2.5)
        assert [weight(one) for one in others] == [1.0, 1.0, 1.0]


@pytest.mark.django_db
class TestWhatLeaves:
    def test_says_the_plan_and_the_probability_of_each_judgment(self, systems):
        study = make_study(plan=PlanKind.ADAPTIVE)
        comparison = pair(study, *systems[:2])
        lease = make_lease(comparison=comparison, sampling_probability=0.125)
        make_judgment(comparison=comparison, lease=lease, rater=lease.rater)

        table, rows = export_of(study, "judgments", ExportRequest(), now=LATER)
        header, (row,) = [column.name for column in table.columns], rows

        found = dict(zip(header, row, strict=True))
        assert (found["plan"], found["sampling_probability"]) == ("ADAPTIVE", 0.125)

    def test_says_the_plan_with_the_ratings(self, systems):
        study = make_judged_study(study=make_study(plan=PlanKind.ADAPTIVE), systems=systems)

        fits = services.refit_study(study=study, clock=lambda: LATER)

        assert all(BoardOut(board_of(fit)).data["conditions"]["plan"] == "ADAPTIVE" for fit in fits)
        assert fits
