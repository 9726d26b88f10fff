"""The sample that people label, and scores against it: seeded, even, and worked by hand."""

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completions.strategies.rules import Item, Judged, cohen_kappa, sample, score

HOPE, REST, FACTS = "hope", "rest", "facts"
KEYS = (HOPE, REST, FACTS)
PINNED = ["talk/0000", "talk/0001", "talk/2003", "talk/1000"]


def item(number, system="gpt", *found):
    return Item(f"talk/{number:04}", system, frozenset(found))


def many(n_per_system=100):
    """Items of three systems: everybody gives hope, few facts, and one says to rest."""
    return [
        item(
            1000 * place + number,
            system,
            "hope",
            *(["facts"] if number % 20 == 0 else []),
            *(["rest"] if (place, number) == (1, 7) else []),
        )
        for place, system in enumerate(("gpt", "gemini", "people"))
        for number in range(n_per_system)
    ]


def draw(items, n=30, seed="1"):
    return sample(items, n=n, seed=seed, strategies=KEYS)


class TestASample:
    def test_is_even_over_systems_and_takes_what_a_small_one_has(self):
        drawn = Counter(one.system for one in draw(many()))
        with_small = Counter(one.system for one in draw([*many(20), item(9000, "tiny")]))

        assert set(drawn.values()) == {10}
        assert with_small["tiny"] == 1

    def test_of_ten_thousand_is_no_slower_for_each_than_a_small_one(self):
        """It once looked at all that was left for each item: minutes of a page's time."""
        pool = [item(n, f"system {n % 8}", *KEYS[: n % 4]) for n in range(50_000)]

        drawn = draw(pool, n=10_000)

        assert set(Counter(one.system for one in drawn).values()) == {1250}

    def test_has_the_rare_strategies_in_it(self):
        found = Counter(key for one in draw(many()) for key in one.strategies)

        assert found["rest"] == 1
        assert found["facts"] >= 5  # a share of half of 30; 15 of 300 have it

    def test_follows_from_the_seed_and_not_from_the_order_of_the_input(self):
        assert draw(many()) == draw(list(reversed(many())))
        assert draw(many()) != draw(many(), seed="2")

    def test_comes_in_an_order_that_does_not_go_by_system(self):
        systems = [one.system for one in draw(many())]

        assert sum(one != other for one, other in itertools.pairwise(systems)) > 10

    def test_never_changes_by_accident(self):
        assert [one.name for one in draw(many(4), n=4)] == PINNED

    @given(
        n=st.integers(1, 25),
        items=st.lists(
            st.tuples(st.sampled_from("abc"), st.frozensets(st.sampled_from(KEYS))), max_size=20
        ),
    )
    def test_has_the_wanted_size_or_is_everything_and_has_nothing_twice(self, n, items):
        pool = [Item(str(at), system, found) for at, (system, found) in enumerate(items)]

        drawn = draw(pool, n=n)

        assert len(drawn) == len({*drawn}) == min(n, len(pool))
        assert {*drawn} <= {*pool}


def judged(model=(), settled=(), one=None, other=None):
    first, second = (frozenset(settled if said is None else said) for said in (one, other))
    return Judged(frozenset(model), (first, second), frozenset(settled))


def scored(*items, seed=1):
    return score(items, strategies=KEYS, seed=seed)


def by_key(scores):
    return {one.strategy: one for one in scores.labels}


def rates(one):
    return one.precision, one.recall, one.f1


ITEMS = (
    judged(model=[HOPE, REST], settled=[HOPE]),
    judged(model=[HOPE], settled=[HOPE, REST]),
    judged(model=[HOPE], settled=[]),
    judged(model=[REST], settled=[REST]),
    judged(model=[], settled=[HOPE]),
)


class TestScores:
    def test_are_those_worked_by_hand_with_a_mean_over_strategies_that_occur(self):
        """Hope: 2 of 3 found are right, of 3 there. Rest: 1 of 2 found, of 2 there."""
        scores = scored(*ITEMS)

        found = by_key(scores)
        assert rates(found[HOPE]) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
        assert rates(found[REST]) == (0.5, 0.5, 0.5)
        assert found[FACTS].f1 is None
        assert scores.macro_f1 == pytest.approx((2 / 3 + 1 / 2) / 2)
        assert scores.n_scored == 2

    def test_say_nothing_where_there_is_nothing_to_divide_by(self):
        found = by_key(scored(judged(model=[HOPE]), judged(settled=[REST])))

        assert rates(found[HOPE]) == (0, None, 0)
        assert rates(found[REST]) == (None, 0, 0)

    def test_of_nothing_are_nothing(self):
        scores = scored()

        assert (scores.n_items, scores.macro_f1, scores.interval, scores.kappa) == (
            0, None, None, None,
        )  # fmt: skip


class TestTheInterval:
    def test_of_a_faultless_model_is_a_point(self):
        items = [judged(model=[HOPE], settled=[HOPE]) for _ in range(2)]

        assert scored(*items).interval == (1.0, 1.0)

    @pytest.mark.parametrize(
        "items",
        [[judged(model=[HOPE], settled=[HOPE])], [judged(), judged()]],
        ids=["one item", "items without any strategy"],
    )
    def test_is_none_where_nothing_can_be_drawn(self, items):
        assert scored(*items).interval is None

    def test_lies_around_the_mean(self):
        scores = scored(*ITEMS * 10)

        low, high = scores.interval
        assert 0.4 < low < scores.macro_f1 < high < 0.8

    def test_is_that_of_the_binomial_where_one_can_be_worked_out(self):
        """One strategy, always settled on, found in 50 of 100: F1 = 2r / (1 + r), r ~ Bin/100.

        The 95 % range of the binomial is 40 to 60 of 100.
        """
        hit, miss = judged(model=[HOPE], settled=[HOPE]), judged(settled=[HOPE])

        low, high = scored(*[hit] * 50, *[miss] * 50).interval

        assert low == pytest.approx(0.8 / 1.4, abs=0.02)
        assert high == pytest.approx(1.2 / 1.6, abs=0.02)

    def test_follows_from_the_seed(self):
        items = ITEMS * 7

        assert scored(*items).interval == scored(*items).interval
        assert len({scored(*items, seed=seed).interval for seed in range(5)}) > 1


class TestKappa:
    def test_is_that_worked_by_hand(self):
        """20 both yes, 5 and 10 apart, 15 both no: (0.7 - 0.5) / (1 - 0.5)."""
        pairs = (
            [(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15
        )

        assert cohen_kappa(pairs) == pytest.approx(0.4)

    @pytest.mark.parametrize(
        ("pairs", "kappa"),
        [
            ([(True, True), (False, False)], 1),
            ([(True, False), (False, True)], -1),
            ([(True, True), (True, False), (False, True), (False, False)], 0),
            ([(True, True)] * 3, None),
            ([(False, False)], None),
            ([(True, False)], 0),
            ([], None),
        ],
        ids=["same", "opposite", "chance", "always yes", "always no", "one pair apart", "nobody"],
    )
    def test_at_its_limits_is(self, pairs, kappa):
        assert cohen_kappa(pairs) == kappa

    def test_is_told_by_strategy_and_as_a_mean(self):
        scores = scored(
            judged(one=[HOPE, REST], other=[HOPE]), judged(one=[], other=[REST]), judged()
        )

        kappas = {key: one.kappa for key, one in by_key(scores).items()}
        assert kappas == {HOPE: 1, REST: -0.5, FACTS: None}
        assert scores.kappa == 0.25
