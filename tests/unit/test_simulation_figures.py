"""What a simulation reports: who was found, how even sides are, and whether they can be rebuilt."""

import datetime as dt
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from annotation.design import first_goes_to_a
from heart_site.simulation.people import Kind
from heart_site.simulation.rebuilding import Draw, Mismatch, rebuild, recount
from heart_site.simulation.scoring import detect, recovery
from heart_site.simulation.sides import Balance, Shown, balances

START = dt.datetime(2026, 1, 5, 9, 0, tzinfo=dt.UTC)
SEED = "seed"


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

        assert found.precision == pytest.approx(2 / 3)
        assert found.recall == pytest.approx(2 / 3)
        assert found.recall_of(Kind.CLICKER) == 0.5
        assert found.recall_of(Kind.SPEEDER) == 1.0
        assert found.found[Kind.HONEST] == 1

    def test_says_nothing_where_there_is_nothing_to_say(self):
        found = detect({"R1": Kind.HONEST}, [])

        assert (found.precision, found.recall, found.recall_of(Kind.CONTRARY)) == (None,) * 3

    def test_refuses_somebody_it_never_planted(self):
        with pytest.raises(ValueError, match="R9"):
            detect(KINDS, ["R9"])


class TestRecovery:
    def test_is_one_for_the_same_order_and_less_for_another(self):
        planted = {"a": 1.0, "b": 0.0, "c": -1.0}

        assert recovery(planted, {"a": 1700.0, "b": 1600.0, "c": 1200.0}) == pytest.approx(1.0)
        assert recovery(planted, {"a": 1.0, "b": 2.0, "c": 3.0}) == pytest.approx(-1.0)

    def test_is_unknown_with_fewer_than_two_systems(self):
        assert recovery({"a": 1.0, "b": 0.0}, {"a": 1500.0}) is None


class TestBalances:
    def test_compares_with_fair_coins_in_every_group(self):
        shown = [Shown("p", "r1", first_is_a=True)] * 3 + [Shown("p", "r2", first_is_a=False)]

        per_pair, per_rater, overall = balances(shown)

        assert per_pair == Balance("per pair", 1.0, 1, stats.chi2.sf(1.0, 1), 2)
        assert (per_rater.statistic, per_rater.df, per_rater.largest) == (4.0, 2, 3)
        assert overall.statistic == stats.chisquare([3, 1]).statistic

    def test_has_uniform_p_under_coins(self):
        rng = np.random.default_rng(1)
        ps = [
            balances([Shown(n % 40, n % 30, first_is_a=bool(rng.integers(2))) for n in range(800)])[
                0
            ].p
            for _study in range(120)
        ]

        assert stats.kstest(ps, "uniform").pvalue > 0.01

    def test_is_near_one_for_balanced_sides_and_near_zero_for_a_favoured_one(self):
        even = [Shown(n // 2, "r", first_is_a=bool(n % 2)) for n in range(200)]
        favoured = [Shown(n // 10, "r", first_is_a=n % 10 < 9) for n in range(200)]

        assert balances(even)[0].p > 0.999
        assert balances(favoured)[0].p < 1e-6

    def test_of_nothing_is_nothing(self):
        assert [row.p for row in balances([])] == [1.0, 1.0, 1.0]


def sequence(n: int = 120, *, given_back: int = 0) -> list[Draw]:
    """Return leases as the site makes them, one a minute; every ``given_back``-th is given back."""
    pairs, raters = Counter[tuple[str, bool]](), Counter[tuple[str, bool]]()
    draws = []
    for number in range(n):
        pair, rater = f"p{number % 7}", f"r{number % 5}"
        shown = (pairs[pair, True], pairs[pair, False])
        rater_shown = (raters[rater, True], raters[rater, False])
        side = first_goes_to_a(seed=SEED, pair=pair, shown=shown, rater_shown=rater_shown)
        at = START + dt.timedelta(minutes=number)
        is_back = bool(given_back) and number % given_back == 0
        back = at + dt.timedelta(seconds=30) if is_back else None
        draws.append(Draw(number, pair, rater, at, shown, rater_shown, side, back))
        pairs[pair, side] += back is None
        raters[rater, side] += back is None
    return draws


class TestRebuilding:
    @pytest.mark.parametrize("given_back", [0, 4], ids=["none given back", "some given back"])
    def test_finds_every_side_again(self, given_back):
        draws = sequence(given_back=given_back)

        assert rebuild(draws, seed=SEED) == []
        assert recount(draws) == []

    def test_tells_a_side_that_was_altered(self):
        draws = sequence()
        draws[50] = replace(draws[50], first_is_a=not draws[50].first_is_a)

        assert rebuild(draws, seed=SEED) == [Mismatch(50, "side")]
        assert Mismatch(57, "pair's counts") in recount(draws)

    def test_tells_counts_that_were_altered(self):
        draws = sequence()
        draws[50] = replace(draws[50], pair_shown=(9, 9), rater_shown=(9, 9))

        assert recount(draws) == [Mismatch(50, "pair's counts"), Mismatch(50, "rater's counts")]

    def test_tells_another_seed(self):
        assert rebuild(sequence(), seed="another")

    def test_counts_a_late_answer_again(self):
        draws = sequence(given_back=4)
        again = [replace(d, taken_again_at=d.given_back_at) for d in draws if d.given_back_at]
        late = [*again[:1], *draws[1:]]

        assert recount(late)
