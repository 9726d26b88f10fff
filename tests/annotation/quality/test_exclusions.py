"""The two rules that exclude: failed checks, and anomalous times."""

import datetime as dt
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.quality.rules import (
    CheckAnswer,
    MainAnswer,
    RaterRecord,
    Rules,
    RulesError,
    StudyRecord,
    active_seconds,
    are_ratings_consistent,
    examine,
    is_check_passed,
    is_rating_passed,
    is_repeat_consistent,
    pace_of,
)
from annotation.quality.rules.checks import failed_checks
from annotation.quality.rules.times import anomalous_times
from annotation.studies.protocol.parts import ExclusionRules

RULES = Rules()
VERDICTS = st.integers(-5, 5)


def seen(*passed: bool, kind: str = "GOLD") -> RaterRecord:
    return RaterRecord("R1", checks=tuple(CheckAnswer(kind, one) for one in passed))


def timed(*seconds: float, words: int = 100) -> tuple[MainAnswer, ...]:
    return tuple(MainAnswer(n, "1", 1, 1, s, words) for n, s in enumerate(seconds))


def of(*seconds: float, words: int = 100) -> RaterRecord:
    return RaterRecord("R1", answers=timed(*seconds, words=words))


class TestPassingACheck:
    @pytest.mark.parametrize(
        ("verdict", "expected", "passes"),
        [(1, "FIRST", True), (-1, "FIRST", False), (0, "FIRST", False), (-2, "SECOND", True)],
        ids=["the better one", "the worse one", "a tie", "the better one, second"],
    )
    def test_takes_preferring_the_one_known_to_be_better(self, verdict, expected, passes):
        assert is_check_passed(verdict, expected=expected) is passes

    @given(verdict=VERDICTS)
    def test_does_not_depend_on_which_completion_is_first(self, verdict):
        assert is_check_passed(verdict, expected="FIRST") == is_check_passed(
            -verdict, expected="SECOND"
        )

    @pytest.mark.parametrize(("mark", "high", "low"), [(1, 0, 1), (3, 0, 0), (4, 1, 0), (5, 1, 0)])
    def test_takes_a_rating_on_the_right_side_of_the_middle(self, mark, high, low):
        assert is_rating_passed(mark, expected="HIGH") == high
        assert is_rating_passed(mark, expected="LOW") == low


class TestRepeatingAPair:
    @pytest.mark.parametrize(
        ("earlier", "later", "consistent"),
        [(2, 2, 1), (2, -2, 0), (2, -1, 0), (1, -1, 1), (0, -2, 1), (2, 0, 1), (-5, 2, 0)],
    )
    def test_fails_for_the_other_side_and_more_than_the_weakest_step(
        self, earlier, later, consistent
    ):
        assert is_repeat_consistent(earlier, later) == consistent

    @given(earlier=VERDICTS, later=VERDICTS)
    def test_is_judged_alike_in_either_order_and_frame(self, earlier, later):
        answer = is_repeat_consistent(earlier, later)

        assert is_repeat_consistent(later, earlier) == answer
        assert is_repeat_consistent(-earlier, -later) == answer

    @pytest.mark.parametrize(
        ("later", "consistent"),
        [({"H": 5, "E": 4}, 1), ({"H": 1, "E": 4}, 1), ({"H": 1, "E": 2}, 0), ({"H": 3}, 1)],
        ids=["the same", "half contrary", "all contrary", "the middle"],
    )
    def test_of_a_rated_completion_fails_when_most_dimensions_turn_round(self, later, consistent):
        assert are_ratings_consistent({"H": 5, "E": 4}, later) == consistent


class TestFailingChecks:
    def test_of_half_of_them_excludes(self):
        finding = failed_checks(seen(True, False, True, False), RULES)

        assert finding is not None
        assert finding.is_exclusion
        assert (finding.rule, finding.value, finding.threshold) == ("checks-1", 0.5, 0.5)
        assert finding.evidence == {
            "n_checks": 4,
            "n_failed": 2,
            "failed_by_kind": {"GOLD": 2},
        }

    def test_of_fewer_than_half_of_them_does_not(self):
        assert failed_checks(seen(True, False, True, False, True), RULES) is None

    def test_of_all_of_too_few_decides_nothing(self):
        assert failed_checks(seen(False, False, False), RULES) is None

    def test_follows_the_numbers_of_the_study(self):
        rules = Rules.of({"failed_share": 0.3, "min_checks": 3})

        assert failed_checks(seen(False, True, True), rules) is not None

    @given(st.lists(st.booleans()), st.randoms(use_true_random=False))
    def test_does_not_depend_on_the_order_of_the_checks(self, passed, chance):
        shuffled = list(passed)
        chance.shuffle(shuffled)

        assert failed_checks(seen(*passed), RULES) == failed_checks(seen(*shuffled), RULES)


class TestRulesOfAStudy:
    def test_have_the_defaults_of_the_study_file_and_no_other_numbers_from_it(self):
        assert Rules.of(ExclusionRules().model_dump()) == Rules()

    def test_refuse_a_number_they_do_not_know(self):
        with pytest.raises(RulesError, match="no failed_shares"):
            Rules.of({"failed_shares": 0.5})

    @pytest.mark.parametrize(
        "number", [{"failed_share": 1.5}, {"min_checks": 0}, {"words_per_minute": -1}]
    )
    def test_refuse_a_number_out_of_range(self, number):
        with pytest.raises(RulesError):
            Rules.of(number)

    def test_may_exclude_for_any_anomalous_time_at_all(self):
        assert Rules.of({"anomalous_share": 0}).anomalous_share == 0


class TestActiveTime:
    def test_leaves_out_what_was_hidden_or_paused(self):
        shown = dt.datetime(2026, 1, 5, 9, tzinfo=dt.UTC)
        submitted = shown + dt.timedelta(seconds=90)

        assert active_seconds(shown, submitted, hidden_ms=20_000, paused_ms=30_000) == 40.0

    def test_is_never_nothing(self):
        shown = dt.datetime(2026, 1, 5, 9, tzinfo=dt.UTC)

        assert active_seconds(shown, shown, hidden_ms=500) == 0.1


class TestThePaceOfAStudy:
    def test_is_the_median_and_the_scaled_median_deviation_of_log_seconds_per_word(self):
        """By hand: log paces 0, 1, 2, 3, 10; median 2; deviations 2, 1, 0, 1, 8; their median 1."""
        answers = [MainAnswer(0, "1", 1, 1, math.exp(x), 1) for x in (0, 1, 2, 3, 10)]

        pace = pace_of(answers, Rules(min_study_answers=5))

        assert pace.middle == pytest.approx(2)
        assert pace.spread == pytest.approx(1.4826)
        assert pace.z(answers[-1]) == pytest.approx(8 / 1.4826)

    def test_falls_back_on_the_mean_deviation_when_most_times_are_the_same(self):
        """By hand: log paces 0, 0, 0, 0, 5: the median deviation is 0, the mean deviation 1."""
        answers = [MainAnswer(0, "1", 1, 1, math.exp(x), 1) for x in (0, 0, 0, 0, 5)]

        pace = pace_of(answers, Rules(min_study_answers=5))

        assert pace.spread == pytest.approx(1.2533)

    def test_has_no_spread_when_all_times_are_the_same(self):
        pace = pace_of(timed(*[30.0] * 40), RULES)

        assert pace.spread == 0
        assert pace.z(timed(3)[0]) is None

    def test_has_no_spread_from_few_answers(self):
        assert pace_of(timed(*range(1, 30)), RULES).spread == 0
        assert pace_of(timed(*range(1, 31)), RULES).spread > 0

    @given(st.lists(st.floats(1, 1000), min_size=30, max_size=60), st.floats(0.1, 10))
    def test_gives_the_same_z_however_the_unit_of_time_is_chosen(self, seconds, factor):
        answers, scaled = timed(*seconds), timed(*(factor * s for s in seconds))
        pace, scaled_pace = pace_of(answers, RULES), pace_of(scaled, RULES)

        if pace.spread > 1e-6:
            assert scaled_pace.z(scaled[0]) == pytest.approx(pace.z(answers[0]), abs=1e-6)


STUDY = [30.0 + n for n in range(60)]  # seconds for a hundred words: 67 to 200 words per minute


class TestAnomalousTimes:
    def test_on_most_answers_exclude(self):
        pace = pace_of(timed(*STUDY), RULES)

        finding = anomalous_times(of(2, 2, 2, 40, 50), pace, RULES)

        assert finding is not None
        assert finding.is_exclusion
        assert (finding.rule, finding.value, finding.threshold) == ("times-1", 0.6, 0.5)
        assert finding.evidence["n_beyond_reading_speed"] == 3
        assert finding.evidence["n_beyond_z"] == 3

    def test_on_half_of_the_answers_do_not(self):
        pace = pace_of(timed(*STUDY), RULES)

        assert anomalous_times(of(2, 2, 2, 40, 50, 60), pace, RULES) is None

    def test_include_being_far_too_slow(self):
        pace = pace_of(timed(*STUDY), RULES)

        finding = anomalous_times(of(3000, 3000, 3000, 40, 50), pace, RULES)

        assert finding is not None
        assert finding.evidence["n_beyond_reading_speed"] == 0

    def test_are_known_by_the_reading_speed_alone_when_the_study_is_young(self):
        """A hundred words at 700 a minute take 8.57 seconds."""
        pace = pace_of(timed(5, 5, 5, 5, 5), RULES)

        assert anomalous_times(of(8.5, 8.5, 8.5, 8.5, 8.5), pace, RULES) is not None
        assert anomalous_times(of(8.6, 8.6, 8.6, 8.6, 8.6), pace, RULES) is None

    def test_of_few_answers_decide_nothing(self):
        pace = pace_of(timed(*STUDY), RULES)

        assert anomalous_times(of(2, 2, 2, 2), pace, RULES) is None

    def test_are_not_asked_where_nothing_was_to_read(self):
        pace = pace_of(timed(*STUDY), RULES)

        assert anomalous_times(of(2, 2, 2, 2, 2, words=0), pace, RULES) is None


class TestExamining:
    def test_finds_those_who_rush_among_those_who_read(self):
        readers = [
            RaterRecord(f"R{n}", answers=timed(*(40 + (n + k) % 20 for k in range(10))))
            for n in range(8)
        ]
        rushed = RaterRecord("R8", answers=timed(*[3] * 10))

        found = examine(StudyRecord([*readers, rushed]), RULES)

        out = {rater for rater, findings in found.items() if any(f.is_exclusion for f in findings)}
        assert out == {"R8"}

    @given(st.permutations(range(6)))
    def test_does_not_depend_on_the_order_of_the_raters(self, order):
        records = [
            RaterRecord(f"R{n}", answers=timed(*(3 + n * k for k in range(1, 10))))
            for n in range(6)
        ]

        shuffled = examine(StudyRecord([records[n] for n in order]), RULES)

        assert shuffled == examine(StudyRecord(records), RULES)

    def test_excludes_who_was_taken_back_on_new_evidence_only(self):
        day = dt.datetime(2026, 1, 5, tzinfo=dt.UTC)
        failed = [CheckAnswer("GOLD", False, day + dt.timedelta(hours=n)) for n in range(8)]
        before, after = failed[:4], failed[4:]
        taken_back = RaterRecord("R1", tuple(before), reinstated_at=day + dt.timedelta(hours=3))
        again = replace(taken_back, checks=tuple(failed))

        assert examine(StudyRecord([replace(taken_back, reinstated_at=None)]), RULES)["R1"]
        assert examine(StudyRecord([taken_back]), RULES)["R1"] == ()
        (finding,) = examine(StudyRecord([again]), RULES)["R1"]
        assert finding.evidence["n_checks"] == len(after)
