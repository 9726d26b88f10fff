"""Excluding raters: by failed checks, by anomalous times, and by people, who have the last word."""

import datetime as dt
import math
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from access.models import LogEntry
from annotation.models import Exclusion, Judgment
from annotation.quality.rules.exclusions import (
    active_seconds,
    anomalous_times,
    are_ratings_consistent,
    failed_checks,
    is_check_passed,
    is_rating_passed,
    is_repeat_consistent,
    pace_of,
)
from annotation.quality.rules.findings import examine
from annotation.quality.rules.records import (
    CheckAnswer,
    Finding,
    MainAnswer,
    RaterRecord,
    Rules,
    RulesError,
)
from annotation.quality.services import excluding
from annotation.studies.protocol.parts import ExclusionRules
from ranking.raters import services
from tests.helpers.factories import HOUR, NOW, make_judgment, make_rater, make_study
from tests.helpers.factories_written_once import make_user
from tests.helpers.released import LATER, decisions, make_reviewed_study
from tests.helpers.threads import together

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
        counts = {"n_checks": 4, "n_failed": 2, "failed_by_kind": {"GOLD": 2}}

        finding = failed_checks(seen(True, False, True, False), RULES)

        assert finding == Finding("checks-2", 0.5, 0.5, counts, is_exclusion=True)

    @pytest.mark.parametrize(
        ("numbers", "passed", "excludes"),
        [
            ({}, [False, False, False], False),
            ({"failed_share": 0.3, "min_checks": 3}, [False, True, True], True),
        ],
        ids=["all of too few", "as the study says"],
    )
    def test_excludes_by_the_share_that_the_study_names(self, numbers, passed, excludes):
        assert (failed_checks(seen(*passed), Rules.of(numbers)) is not None) == excludes

    def test_exclude_at_the_very_share_and_not_just_below_it(self):
        """In floats 0.28 times 25 is a little more than 7, while 7 / 25 is 0.28."""

        def excludes(n_failed: int, percent: int) -> bool:
            record = seen(*[False] * n_failed, *[True] * (100 - n_failed))
            return failed_checks(record, Rules(failed_share=percent / 100)) is not None

        assert all(excludes(n, n) and not excludes(n - 1, n) for n in range(1, 101))

    @given(st.lists(st.booleans()), st.randoms(use_true_random=False))
    def test_does_not_depend_on_the_order_of_the_checks(self, passed, chance):
        shuffled = list(passed)
        chance.shuffle(shuffled)

        assert failed_checks(seen(*passed), RULES) == failed_checks(seen(*shuffled), RULES)


class TestRulesOfAStudy:
    def test_have_the_defaults_of_the_study_file_and_no_other_numbers_from_it(self):
        assert Rules.of(ExclusionRules().model_dump()) == Rules()

    @pytest.mark.parametrize(
        ("number", "reason"),
        [
            ({"failed_shares": 0.5}, "no failed_shares"),
            ({"failed_share": 1.5}, "between 0 and 1"),
            ({"min_checks": 0}, "more than 0"),
            ({"words_per_minute": -1}, "more than 0"),
        ],
    )
    def test_refuse_a_number_out_of_range_or_that_they_do_not_know(self, number, reason):
        with pytest.raises(RulesError, match=reason):
            Rules.of(number)


class TestActiveTime:
    def test_leaves_out_what_was_hidden_or_paused_and_is_never_nothing(self):
        submitted = NOW + dt.timedelta(seconds=90)

        assert active_seconds(NOW, submitted, hidden_ms=20_000, paused_ms=30_000) == 40.0
        assert active_seconds(NOW, NOW, hidden_ms=500) == 0.1


class TestThePaceOfAStudy:
    @pytest.mark.parametrize(
        ("log_paces", "middle", "spread"),
        [
            # The median is 2; deviations from it 2, 1, 0, 1, 8; their median 1.
            ((0, 1, 2, 3, 10), 2, 1.4826),
            # The median deviation is 0, the mean deviation 1.
            ((0, 0, 0, 0, 5), 0, 1.2533),
        ],
        ids=["the median deviation", "the mean one where most times are the same"],
    )
    def test_is_the_median_and_a_scaled_deviation_of_log_seconds_per_word_by_hand(
        self, log_paces, middle, spread
    ):
        answers = [MainAnswer(0, "1", 1, 1, math.exp(x), 1) for x in log_paces]

        pace = pace_of(answers, Rules(min_study_answers=5))

        assert (pace.middle, pace.spread) == pytest.approx((middle, spread))
        assert pace.z(answers[-1]) == pytest.approx((log_paces[-1] - middle) / spread)

    def test_has_no_spread_from_few_answers_or_from_the_same_times(self):
        assert pace_of(timed(*range(1, 30)), RULES).spread == 0
        assert pace_of(timed(*range(1, 31)), RULES).spread > 0
        same = pace_of(timed(*[30.0] * 40), RULES)
        assert same.spread == 0
        assert same.z(timed(3)[0]) is None

    @given(st.lists(st.floats(1, 1000), min_size=30, max_size=60), st.floats(0.1, 10))
    def test_gives_the_same_z_however_the_unit_of_time_is_chosen(self, seconds, factor):
        answers, scaled = timed(*seconds), timed(*(factor * s for s in seconds))
        pace, scaled_pace = pace_of(answers, RULES), pace_of(scaled, RULES)

        if pace.spread > 1e-6:
            assert scaled_pace.z(scaled[0]) == pytest.approx(pace.z(answers[0]), abs=1e-6)


PACE = pace_of(timed(*range(30, 90)), RULES)  # a hundred words: 67 to 200 words per minute


class TestAnomalousTimes:
    def test_on_most_answers_exclude(self):
        finding = anomalous_times(of(2, 2, 2, 40, 50), PACE, RULES)

        counts = {"n_beyond_reading_speed": 3, "n_beyond_z": 3}
        assert finding.evidence.items() >= counts.items()
        assert finding == Finding("times-2", 0.6, 0.5, finding.evidence, is_exclusion=True)

    @pytest.mark.parametrize(
        "record",
        [
            of(2, 2, 2, 2),
            of(2, 2, 2, 2, 2, words=0),
            RaterRecord("R1", answers=(*timed(2, 2, 2, 2), *timed(2, words=0))),
        ],
        ids=["few answers", "nothing to read", "few with words to read"],
    )
    def test_decide_nothing_otherwise(self, record):
        assert anomalous_times(record, PACE, RULES) is None

    def test_exclude_above_the_share_and_not_at_it(self):
        def excludes(n_fast: int, percent: int) -> bool:
            record = of(*[2] * n_fast, *[50] * (100 - n_fast))
            return anomalous_times(record, PACE, Rules(anomalous_share=percent / 100)) is not None

        assert all(excludes(n + 1, n) and not excludes(n, n) for n in range(100))

    def test_include_being_far_too_slow(self):
        finding = anomalous_times(of(3000, 3000, 3000, 40, 50), PACE, RULES)

        assert finding.evidence["n_beyond_reading_speed"] == 0

    def test_are_known_by_the_reading_speed_alone_when_the_study_is_young(self):
        """A hundred words at 700 a minute take 8.57 seconds."""
        pace = pace_of(timed(5, 5, 5, 5, 5), RULES)

        assert anomalous_times(of(8.5, 8.5, 8.5, 8.5, 8.5), pace, RULES) is not None
        assert anomalous_times(of(8.6, 8.6, 8.6, 8.6, 8.6), pace, RULES) is None


class TestExamining:
    def test_finds_those_who_rush_among_those_who_read(self):
        readers = [
            RaterRecord(f"R{n}", answers=timed(*(40 + (n + k) % 20 for k in range(10))))
            for n in range(8)
        ]
        rushed = RaterRecord("R8", answers=timed(*[3] * 10))

        found = examine([*readers, rushed], RULES)

        out = {rater for rater, findings in found.items() if any(f.is_exclusion for f in findings)}
        assert out == {"R8"}

    @given(st.permutations(range(6)))
    def test_does_not_depend_on_the_order_of_the_raters(self, order):
        records = [
            RaterRecord(f"R{n}", answers=timed(*(3 + n * k for k in range(1, 10))))
            for n in range(6)
        ]

        shuffled = examine([records[n] for n in order], RULES)

        assert shuffled == examine(records, RULES)

    def test_excludes_who_was_taken_back_on_new_evidence_only(self):
        failed = tuple(CheckAnswer("GOLD", False, NOW + n * HOUR) for n in range(8))
        taken_back = RaterRecord("R1", failed[:4], reinstated_at=NOW + 3 * HOUR)
        again = replace(taken_back, checks=failed)

        assert examine([replace(taken_back, reinstated_at=None)], RULES)["R1"]
        assert examine([taken_back], RULES)["R1"] == ()
        (finding,) = examine([again], RULES)["R1"]
        assert finding.evidence["n_checks"] == 4


FAILED = Finding("checks-2", 0.75, 0.5, {"n_checks": 4, "n_failed": 3}, is_exclusion=True)
RUSHED = Finding("times-2", 0.9, 0.5, {"n_answers": 10}, is_exclusion=True)
ODD = Finding("misfit-2", 1.6, 1.3, {"n_answers": 40}, is_exclusion=False)


@pytest.fixture
def boss():
    return make_user()


def exclude(rater, *findings, study=None, known=None, now=NOW, by=None):
    examined = [excluding.Examined(rater.pk, findings, known)]
    return excluding.exclude_by_rules(study=study or rater.study, examined=examined, now=now, by=by)


@pytest.mark.django_db
class TestExcludingByRules:
    def test_makes_one_decision_for_each_rule_but_none_for_a_warning_and_keeps_the_answers(
        self, boss
    ):
        judgment = make_judgment()
        rater = judgment.rater

        decision, _ = exclude(rater, FAILED, RUSHED, ODD, by=boss)

        assert decisions(rater) == [(True, "checks-2"), (True, "times-2")]
        assert (decision.decided_by, decision.decided_at) == (boss, NOW)
        assert decision.evidence == {"value": 0.75, "threshold": 0.5, **FAILED.evidence}
        entry = LogEntry.objects.earliest("pk")
        assert (entry.action, entry.subject) == ("rater.excluded", f"rater {rater.code}")
        assert (entry.by, entry.after) == (boss, {"rule": "checks-2", "reason": ""})
        assert exclude(rater, FAILED) == []
        assert Judgment.objects.get() == judgment

    def test_does_not_overrule_a_person_but_may_follow_what_the_rules_knew_of(self, boss):
        rater = make_rater()
        (seen,) = exclude(rater, FAILED)
        back = excluding.reinstate_rater(
            rater=rater, reason="Gold was wrong.", by=boss, now=NOW + HOUR
        )

        assert exclude(rater, FAILED, known=seen.pk) == []
        assert exclude(rater, FAILED, known=None) == []
        assert len(exclude(rater, FAILED, known=back.pk, now=NOW + 2 * HOUR)) == 1

    def test_leaves_raters_of_other_studies_alone(self):
        assert exclude(make_rater(), FAILED, study=make_study()) == []


@pytest.mark.django_db
class TestDecidingByHand:
    def test_excludes_with_who_and_why_and_is_taken_back_by_another(self, boss):
        rater = make_rater()

        taken = excluding.exclude_rater(rater=rater, reason=" Asked to. ", by=boss, now=NOW)
        back = excluding.reinstate_rater(rater=rater, reason="Wrong.", by=boss, now=NOW)

        assert (taken.reason, taken.decided_by) == ("Asked to.", boss)
        assert decisions(rater) == [(True, "by-hand"), (False, "taken-back by-hand")]
        assert back.evidence == {"takes_back": taken.pk}

    def test_refuses_what_has_no_reason_or_holds_already(self, boss):
        rater = make_rater()

        for reason in ("", "  "):
            with pytest.raises(excluding.DecisionError, match="reason"):
                excluding.exclude_rater(rater=rater, reason=reason, by=boss, now=NOW)
        with pytest.raises(excluding.DecisionError, match="not out"):
            excluding.reinstate_rater(rater=rater, reason="Why not?", by=boss, now=NOW)
        exclude(rater, FAILED)
        with pytest.raises(excluding.DecisionError, match="excluded already"):
            excluding.exclude_rater(rater=rater, reason="Again.", by=boss, now=NOW)

    def test_is_never_dated_before_what_it_answers(self, boss):
        """Two clocks may differ; the newest decision must stay the newest."""
        rater = make_rater()
        exclude(rater, FAILED, now=NOW + HOUR)

        excluding.reinstate_rater(rater=rater, reason="Fine.", by=boss, now=NOW)

        assert not excluding.newest_decision(rater).is_excluded


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("shared_database")
class TestReviewsAtOnce:
    def test_write_what_one_would(self):
        study, careless = make_reviewed_study()

        together([partial(services.review_raters, study=study, dry_run=False, now=LATER)] * 3)

        assert decisions(careless) == [(True, "checks-2")]

    def test_and_a_person_leave_one_decision_that_holds(self):
        study, careless = make_reviewed_study()
        boss = make_user()

        def by_hand():
            try:
                excluding.exclude_rater(rater=careless, reason="For a test.", by=boss, now=LATER)
            except excluding.DecisionError:
                return

        together([by_hand, partial(services.review_raters, study=study, dry_run=False, now=LATER)])

        assert Exclusion.objects.count() == 1
