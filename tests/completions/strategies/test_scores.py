"""Scores of strategy labels: worked by hand, at their limits, and their interval."""

import pytest

from completions.strategies.rules import Judged, cohen_kappa, score

HOPE, REST, FACTS = "hope", "rest", "facts"
KEYS = (HOPE, REST, FACTS)


def judged(model=(), settled=(), one=None, other=None):
    first, second = (frozenset(settled if said is None else said) for said in (one, other))
    return Judged(frozenset(model), (first, second), frozenset(settled))


def scored(*items, seed=1):
    return score(items, strategies=KEYS, seed=seed)


def by_key(scores):
    return {one.strategy: one for one in scores.labels}


ITEMS = (
    judged(model=[HOPE, REST], settled=[HOPE]),
    judged(model=[HOPE], settled=[HOPE, REST]),
    judged(model=[HOPE], settled=[]),
    judged(model=[REST], settled=[REST]),
    judged(model=[], settled=[HOPE]),
)


class TestScores:
    def test_are_those_worked_by_hand(self):
        """Hope: 2 of 3 found are right, of 3 there. Rest: 1 of 2 found, of 2 there."""
        found = by_key(scored(*ITEMS))

        assert (found[HOPE].precision, found[HOPE].recall) == (2 / 3, 2 / 3)
        assert found[HOPE].f1 == pytest.approx(2 / 3)
        assert (found[REST].precision, found[REST].recall, found[REST].f1) == (0.5, 0.5, 0.5)

    def test_have_a_mean_over_the_strategies_that_occur(self):
        scores = scored(*ITEMS)

        assert scores.macro_f1 == pytest.approx((2 / 3 + 1 / 2) / 2)
        assert scores.n_scored == 2
        assert by_key(scores)[FACTS].f1 is None

    def test_say_nothing_where_there_is_nothing_to_divide_by(self):
        found = by_key(scored(judged(model=[HOPE]), judged(settled=[REST])))

        assert (found[HOPE].precision, found[HOPE].recall, found[HOPE].f1) == (0, None, 0)
        assert (found[REST].precision, found[REST].recall, found[REST].f1) == (None, 0, 0)

    def test_of_nothing_are_nothing(self):
        scores = scored()

        assert (scores.n_items, scores.macro_f1, scores.interval, scores.kappa) == (
            0, None, None, None,
        )  # fmt: skip


class TestTheInterval:
    def test_of_a_faultless_model_is_a_point(self):
        items = [judged(model=[HOPE], settled=[HOPE]) for _ in range(5)]

        assert scored(*items).interval == (1.0, 1.0)

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

    def test_needs_two_items(self):
        assert scored(judged(model=[HOPE], settled=[HOPE])).interval is None

    def test_of_items_without_any_strategy_is_none(self):
        assert scored(judged(), judged()).interval is None


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
