"""Where planted pairs come, and what an adaptive plan draws: all from the seed."""

from collections import Counter

import pytest

from annotation.assignment import design
from annotation.assignment.design import Place

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

    def test_come_at_other_places_for_other_raters_and_seeds(self):
        assert due(0.1) not in (due(0.1, rater="R2"), due(0.1, seed="t"))

    def test_come_at_the_same_places_again(self):
        assert due(0.1) == due(0.1)

    def test_never_come_where_the_rate_is_zero(self):
        assert due(0) == []


class TestRepeats:
    def places(self, rate, gap=4):
        return [
            number
            for number in range(1, 301)
            if design.is_repeat_due(Place("s", "R1", number), rate=rate, gap=gap)
        ]

    def test_come_at_the_rate_once_something_can_be_repeated(self):
        assert len(self.places(0.1)) == 30

    def test_never_come_before_there_is_a_pair_far_enough_back(self):
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
