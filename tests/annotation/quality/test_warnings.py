"""The rules that warn and never exclude by themselves."""

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from annotation.quality.rules.exclusions import agreement_by_rater
from annotation.quality.rules.findings import (
    BETS,
    Infit,
    PairAnswers,
    e_value,
    even_p,
    evidence,
    examine,
    infit,
    misfit,
    one_sided,
    outlier,
    straight_lining,
)
from annotation.quality.rules.records import Finding, MainAnswer, RaterRecord, Rules

RULES = Rules()


def on_screen(*sides: int) -> RaterRecord:
    answers = (MainAnswer(n, f"{side:+d}", side, side, 30, 100) for n, side in enumerate(sides))
    return RaterRecord("R1", answers=tuple(answers))


class TestStraightLining:
    @pytest.mark.parametrize(
        ("sides", "value", "threshold"),
        [([*[1, -1] * 5, *[1] * 15], 15, 15), (([1] * 9 + [-1]) * 3, 0.9, 0.9)],
        ids=["by a long run", "by one answer nearly always"],
    )
    def test_is_told(self, sides, value, threshold):
        finding = straight_lining(on_screen(*sides), RULES)

        assert finding.evidence["most_common"] == "+1"
        assert finding == Finding(
            finding.rule, value, threshold, finding.evidence, is_exclusion=False
        )

    @pytest.mark.parametrize(
        "sides", [[1, 1, -1, 0] * 10, [1] * 19], ids=["that move about", "too few"]
    )
    def test_is_not_told_of_answers(self, sides):
        assert straight_lining(on_screen(*sides), RULES) is None

    @given(st.lists(st.sampled_from([-1, 0, 1]), max_size=60))
    def test_is_told_alike_when_the_sides_are_exchanged(self, sides):
        there = straight_lining(on_screen(*sides), RULES)
        mirrored = straight_lining(on_screen(*(-side for side in sides)), RULES)

        assert (there and there.value) == (mirrored and mirrored.value)


class TestOneSidedChoices:
    @pytest.mark.parametrize(("n_a", "n"), [(0, 0), (3, 10), (10, 20), (19, 20), (60, 100)])
    def test_have_the_p_of_the_exact_binomial_test(self, n_a, n):
        expected = scipy.stats.binomtest(n_a, n).pvalue if n else 1.0

        assert even_p(n_a, n) == pytest.approx(expected)

    def test_warn_when_they_cannot_be_chance(self):
        finding = one_sided(on_screen(*[1] * 19, -1), RULES)

        counts = {"n_a": 19, "n_b": 1, "share_a": 0.95}
        assert finding == Finding("one-sided-2", finding.value, 0.001, counts, is_exclusion=False)
        assert finding.value == pytest.approx(2 * 21 / 2**20)

    def test_do_not_count_answers_for_neither_side(self):
        assert one_sided(on_screen(*[1] * 15, *[0] * 20), RULES) is None

    @given(st.integers(0, 60), st.integers(0, 60))
    def test_are_told_alike_for_either_side(self, n_a, n_b):
        there = one_sided(on_screen(*[1] * n_a, *[-1] * n_b), RULES)
        mirrored = one_sided(on_screen(*[-1] * n_a, *[1] * n_b), RULES)

        assert (there and there.value) == (mirrored and mirrored.value)


class TestInfit:
    @pytest.mark.parametrize(
        ("predictions", "mean_square"),
        [
            # (.3^2 + .6^2) / (.21 + .24) = .45 / .45
            ([(1, 0.7), (0, 0.6)], 1.0),
            # .9^2 / (.9 * .1): a contrary answer to what was nine times as probable
            ([(0, 0.9)], 9.0),
        ],
    )
    def test_is_the_sum_of_squares_over_the_information_by_hand(self, predictions, mean_square):
        measured = infit(predictions)

        assert measured.mean_square == pytest.approx(mean_square)

    def test_is_not_known_without_information_and_never_misfit_for_even_chances(self):
        assert infit([]) is None
        assert infit([(1, 1.0)]) is None
        assert infit([(1, 0.5)] * 40) == Infit(1.0, 0.0, 40)

    def test_is_one_in_the_mean_and_standard_normal_nearly_for_answers_as_predicted(self):
        rng = np.random.default_rng(4)
        expected = rng.uniform(0.1, 0.9, size=(2000, 60))
        outcomes = rng.random(expected.shape) < expected

        measured = [
            infit([(float(y), float(p)) for y, p in zip(*row, strict=True)])
            for row in zip(outcomes, expected, strict=True)
        ]

        values = np.array([(one.mean_square, one.z) for one in measured if one is not None])
        assert values[:, 0].mean() == pytest.approx(1, abs=0.01)
        assert values[:, 1].mean() == pytest.approx(0, abs=0.1)
        assert values[:, 1].std() == pytest.approx(1, abs=0.1)

    @given(st.lists(st.tuples(st.sampled_from([0, 0.5, 1]), st.floats(0.05, 0.95)), min_size=1))
    def test_is_the_same_with_every_pair_the_other_way_round(self, answers):
        there = infit(answers)
        swapped = infit([(1 - y, 1 - p) for y, p in answers])

        assert swapped.mean_square == pytest.approx(there.mean_square)

    def test_warns_above_its_limit_when_that_is_not_chance(self):
        contrary = infit([(0, 0.8)] * 15 + [(1, 0.8)] * 15)

        finding = misfit(contrary, RULES)

        assert (finding.rule, finding.is_exclusion) == ("misfit-2", False)
        assert finding.value == pytest.approx((15 * 0.64 + 15 * 0.04) / (30 * 0.16))

    @pytest.mark.parametrize(
        "measured",
        [None, Infit(5.0, 9.0, 19), Infit(1.3, 9.0, 40), Infit(1.6, 1.9, 40)],
        ids=["not measured", "few answers", "at the limit", "chance"],
    )
    def test_does_not_warn_otherwise(self, measured):
        assert misfit(measured, RULES) is None


def counted(n_pairs: int, raters: int, rng: np.random.Generator) -> list[PairAnswers]:
    """Pairs on which all raters are drawn from one distribution, another for each pair."""
    pairs = []
    for pair in range(n_pairs):
        ways = rng.dirichlet([2, 1, 2])
        answers = rng.choice([-1, 0, 1], size=raters, p=ways)
        pairs.append(PairAnswers(pair, {f"R{n}": int(a) for n, a in enumerate(answers)}))
    return pairs


class TestTheEValueOfAPair:
    @pytest.mark.parametrize("n", [3, 4, 5, 7])
    @pytest.mark.parametrize("bet", BETS)
    def test_is_one_in_the_mean_over_whose_answer_it_is(self, n, bet):
        for answers in combinations_with_replacement((-1, 0, 1), n):
            mean = sum(e_value(own, answers, bet) for own in answers) / n

            assert mean == pytest.approx(1.0, abs=1e-12)

    def test_of_one_against_two_is_as_computed_by_hand_and_of_all_who_agree_is_one(self):
        """Scores 1, 1/2, 1/2 and a bet of 2: e^2 / ((e^2 + e + e) / 3)."""
        expected = 3 * math.exp(2) / (math.exp(2) + 2 * math.e)

        assert e_value(-1, (-1, 1, 1), 2.0) == pytest.approx(expected)
        assert e_value(1, (1, 1, 1, 1), 2.0) == pytest.approx(1.0)

    @given(st.lists(st.sampled_from([-1, 0, 1]), min_size=2, max_size=9))
    def test_is_the_same_with_the_completions_exchanged(self, answers):
        own = answers[0]
        swapped = tuple(sorted(-one for one in answers))

        assert e_value(own, tuple(sorted(answers)), 1.0) == pytest.approx(
            e_value(-own, swapped, 1.0)
        )


class TestTheEvidenceAgainstARater:
    @pytest.mark.parametrize("n_groups", [30, pytest.param(300, marks=pytest.mark.full)])
    def test_seldom_reaches_its_limit_for_raters_like_the_others_however_long_one_looks(
        self, n_groups
    ):
        """Groups of 5, looked at after each of 80 pairs: at most alpha of them ever alarm."""
        alpha, rng = 0.05, np.random.default_rng(7)
        alarms = 0
        for _group in range(n_groups):
            pairs = counted(80, 5, rng)
            highest = (max(evidence(f"R{n}", pairs)) for n in range(5))
            alarms += sum(value >= 1 / alpha for value in highest)

        assert alarms / (5 * n_groups) <= alpha

    @pytest.mark.parametrize(
        ("contrary", "n_pairs"), [(0.5, 120), (0.9, 40)], ids=["at random", "against the others"]
    )
    def test_reaches_it_for_those_who_do_not_read(self, contrary, n_pairs):
        rng = np.random.default_rng(11)
        caught = 0
        for _rater in range(100):
            pairs = []
            for pair in range(n_pairs):
                others = rng.random(4) < 0.85
                own = -1 if rng.random() < contrary else 1
                winners = {f"R{n}": 1 if agrees else -1 for n, agrees in enumerate(others)}
                pairs.append(PairAnswers(pair, winners | {"X": own}))
            caught += outlier(RaterRecord("X"), pairs, RULES) is not None

        assert caught >= 95

    def test_skips_pairs_of_others_and_pairs_with_two_answers(self):
        pairs = [PairAnswers(1, {"R2": 1, "R3": 1, "R4": -1}), PairAnswers(2, {"R1": 1, "R2": -1})]

        assert list(evidence("R1", pairs)) == []
        assert outlier(RaterRecord("R1"), pairs, RULES) is None

    def test_only_warns_and_says_when(self):
        pairs = [PairAnswers(n, {"R1": -1, "R2": 1, "R3": 1, "R4": 1, "R5": 1}) for n in range(20)]

        finding = outlier(RaterRecord("R1"), pairs, RULES)

        assert not finding.is_exclusion
        assert finding.evidence["n_pairs"] == 20
        assert finding.evidence["n_pairs_at_alarm"] < 20

    def test_is_found_with_the_other_rules(self):
        pairs = [PairAnswers(n, {"R1": -1, "R2": 1, "R3": 1, "R4": 1}) for n in range(40)]
        records = [RaterRecord("R1"), RaterRecord("R2")]

        found = examine(records, RULES, pairs=pairs)

        assert [finding.rule for finding in found["R1"]] == ["outlier-2"]
        assert found["R2"] == ()


def test_agreement_is_the_share_of_others_who_prefer_the_same():
    """By hand: R1 agrees with one of two, then with none of one: 1 of 3."""
    pairs = [{"R1": 1, "R2": 1, "R3": -1}, {"R1": 0, "R2": 1}]

    assert agreement_by_rater(pairs) == pytest.approx({"R1": 1 / 3, "R2": 1 / 3, "R3": 0})
    assert agreement_by_rater([{"R1": 1}]) == {}
