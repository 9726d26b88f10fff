"""What a simulation reports: who was found, how even sides are, and whether they can be rebuilt."""

import datetime as dt
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import scipy

from annotation.assignment.design import (
    Place,
    first_goes_to_a,
    is_check_due,
    is_repeat_due,
    planted_first_goes_to_a,
)
from heart_site.demo.rehearsal.people import Kind
from heart_site.demo.rehearsal.scoring import (
    Balance,
    Draw,
    Mismatch,
    Plan,
    Why,
    balances,
    detect,
    rebuild,
    recovery,
)

START = dt.datetime(2026, 1, 5, 9, 0, tzinfo=dt.UTC)
SEED = "seed"
GOLD = frozenset({"gold 1", "gold 2", "gold 3"})
PLAN = Plan(SEED, check_rate=0.2, repeat_rate=0.1, repeat_gap=4, checks=GOLD)
SECOND = dt.timedelta(seconds=1)


KINDS = {
    "R1": Kind.HONEST,
    "R2": Kind.HONEST,
    "R3": Kind.CLICKER,
    "R4": Kind.CLICKER,
    "R5": Kind.SPEEDER,
}


class TestDetection:
    def test_counts_precision_and_recall_over_all_and_by_kind(self):
        found = detect(KINDS, ["R1", "R3", "R5"])

        assert found.precision == found.recall == pytest.approx(2 / 3)
        assert found.recall_of(Kind.CLICKER) == 0.5
        assert found.recall_of(Kind.SPEEDER) == 1.0
        assert found.found[Kind.HONEST] == 1

    def test_says_nothing_where_there_is_nothing_and_refuses_whom_it_never_planted(self):
        found = detect({"R1": Kind.HONEST}, [])

        assert (found.precision, found.recall, found.recall_of(Kind.CONTRARY)) == (None,) * 3
        with pytest.raises(ValueError, match="R9"):
            detect(KINDS, ["R9"])


def test_recovery_is_one_for_the_planted_order_and_unknown_of_one_system():
    planted = {"a": 1.0, "b": 0.0, "c": -1.0}

    assert recovery(planted, {"a": 1700.0, "b": 1600.0, "c": 1200.0}) == pytest.approx(1.0)
    assert recovery(planted, {"a": 1.0, "b": 2.0, "c": 3.0}) == pytest.approx(-1.0)
    assert recovery(planted, {"a": 1500.0}) is None


class TestBalances:
    def test_compares_with_fair_coins_in_every_group(self):
        shown = [("p", "r1", True)] * 3
        shown.append(("p", "r2", False))

        per_pair, per_rater, overall = balances(shown)

        assert per_pair == Balance("per pair", 1.0, 1, scipy.stats.chi2.sf(1.0, 1), 2)
        assert (per_rater.statistic, per_rater.df, per_rater.largest) == (4.0, 2, 3)
        assert overall.statistic == scipy.stats.chisquare([3, 1]).statistic

    def test_has_uniform_p_under_coins(self):
        rng = np.random.default_rng(1)

        def study():
            return [(n % 40, n % 30, bool(rng.integers(2))) for n in range(800)]

        ps = [balances(study())[0].p for _study in range(120)]

        assert scipy.stats.kstest(ps, "uniform").pvalue > 0.01

    def test_is_near_one_for_balanced_sides_or_none_and_near_zero_for_a_favoured_one(self):
        even = [(n // 2, "r", bool(n % 2)) for n in range(200)]
        favoured = [(n // 10, "r", n % 10 < 9) for n in range(200)]

        assert balances(even)[0].p > 0.999
        assert balances(favoured)[0].p < 1e-6
        assert [row.p for row in balances([])] == [1.0, 1.0, 1.0]


class Site:
    """Draws leases as the site does, one a minute, for raters who take turns."""

    def __init__(self) -> None:
        self.pairs = Counter[tuple[str, bool]]()
        self.raters = Counter[tuple[str, bool]]()
        self.n_leases, self.n_checks = Counter[str](), Counter[str]()
        self.mains: dict[str, list[Draw]] = {}
        self.draws: list[Draw] = []

    def lease(self, *, rater: str, pair: str, is_given_back: bool = False) -> None:
        self.n_leases[rater] += 1
        place = Place(SEED, rater, self.n_leases[rater])
        shown = (self.raters[rater, True], self.raters[rater, False])
        main = self._main(pair, shown)
        if is_check_due(place, rate=PLAN.check_rate) and self.n_checks[rater] < len(GOLD):
            self.n_checks[rater] += 1
            key = f"gold {self.n_checks[rater]}"
            side = planted_first_goes_to_a(seed=SEED, pair=key, rater=rater, rater_shown=shown)
            main = (Why.CHECK, key, (0, 0), side, None)
        elif is_repeat_due(place, rate=0.1, gap=4) and self.mains.get(rater):
            earlier = self.mains[rater].pop(0)
            main = (Why.REPEAT, earlier.pair, (0, 0), not earlier.first_is_a, earlier.first_is_a)
        self._add(rater, shown, main, is_given_back=is_given_back)

    def _main(self, pair, shown):
        counts = (self.pairs[pair, True], self.pairs[pair, False])
        side = first_goes_to_a(seed=SEED, pair=pair, shown=counts, rater_shown=shown)
        return Why.MAIN, pair, counts, side, None

    def _add(self, rater, shown, main, *, is_given_back):
        why, pair, counts, side, earlier = main
        at = START + dt.timedelta(minutes=len(self.draws))
        one = Draw(
            name=len(self.draws),
            why=why,
            pair=pair,
            rater=rater,
            number=self.n_leases[rater],
            at=at,
            pair_shown=counts,
            rater_shown=shown,
            first_is_a=side,
            answered_at=None if is_given_back else at + SECOND,
            given_back_at=at + SECOND if is_given_back else None,
            earlier_first_is_a=earlier,
        )
        self.draws.append(one)
        self.raters[rater, side] += not is_given_back
        if why == Why.MAIN:
            self.pairs[pair, side] += not is_given_back
            if not is_given_back:
                self.mains.setdefault(rater, []).append(one)


def sequence(n: int = 200, *, every: int = 0) -> list[Draw]:
    """Return the leases of a study; every so many is given back unanswered."""
    site = Site()
    for number in range(n):
        is_given_back = bool(every) and number % every == 0
        site.lease(rater=f"r{number % 5}", pair=f"p{number % 7}", is_given_back=is_given_back)
    return site.draws


def first_of(draws: list[Draw], why: Why) -> int:
    return next(at for at, one in enumerate(draws) if one.why == why and one.number > 1)


class TestRebuilding:
    @pytest.mark.parametrize("every", [0, 4], ids=["none given back", "some given back"])
    def test_finds_every_draw_again(self, every):
        draws = sequence(every=every)

        assert rebuild(draws, PLAN) == []
        assert {one.why for one in draws} == {Why.MAIN, Why.CHECK, Why.REPEAT}

    @pytest.mark.parametrize("why", [Why.MAIN, Why.CHECK, Why.REPEAT])
    def test_tells_a_side_that_was_altered(self, why):
        draws = sequence()
        at = first_of(draws, why)
        draws[at] = replace(draws[at], first_is_a=not draws[at].first_is_a)

        found = rebuild(draws, PLAN)

        assert Mismatch(at, "side") in found
        assert [one for one in found if one.what == "side"] == [Mismatch(at, "side")]
        assert any(one.what == "rater's counts" for one in found)

    def test_tells_counts_that_were_altered(self):
        draws = sequence()
        at = first_of(draws, Why.CHECK)
        draws[at] = replace(draws[at], pair_shown=(1, 1))
        last = len(draws) - 1
        draws[last] = replace(draws[last], rater_shown=(99, 99))

        found = rebuild(draws, PLAN)

        assert Mismatch(at, "pair's counts") in found
        assert Mismatch(last, "rater's counts") in found

    def test_tells_a_lease_that_was_taken_out(self):
        draws = sequence()
        del draws[50]

        assert {"number", "rater's counts"} <= {one.what for one in rebuild(draws, PLAN)}

    def test_tells_planted_pairs_that_are_missing_or_out_of_place(self):
        draws = sequence()
        check, main = first_of(draws, Why.CHECK), first_of(draws, Why.MAIN)
        repeat = first_of(draws, Why.REPEAT)
        draws[check] = replace(draws[check], why=Why.MAIN)
        draws[main] = replace(draws[main], why=Why.REPEAT)

        found = rebuild(draws, PLAN)

        assert Mismatch(check, "place of a check") in found
        assert Mismatch(main, "place of a repeat") in found
        assert Mismatch(repeat, "place of a repeat") not in found

    def test_tells_another_seed(self):
        assert rebuild(sequence(), replace(PLAN, seed="another"))

    def test_counts_a_late_answer_again_where_it_took_a_slot(self):
        site = Site()
        for number, is_given_back in enumerate([True, False, False]):
            site.lease(rater=f"s{number}", pair="p", is_given_back=is_given_back)
        late = replace(site.draws[0], answered_at=START + dt.timedelta(minutes=90))
        plan = replace(PLAN, check_rate=0.0)

        again = replace(late, answered_at=START + 2 * SECOND, takes_again=True)

        assert rebuild([late, *site.draws[1:]], plan) == []
        assert Mismatch(1, "pair's counts") in rebuild([again, *site.draws[1:]], plan)
