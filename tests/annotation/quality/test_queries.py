"""From rows to what the rules look at."""

import datetime as dt

import pytest

from annotation.choices import Protocol, Purpose, RaterState, Side
from annotation.quality.queries import raters as quality_raters
from annotation.quality.queries import records
from annotation.quality.rules.records import RaterRecord, Rules
from tests.helpers.factories import (
    NOW,
    TURNS,
    make_alone,
    make_comparison,
    make_completion,
    make_judgment,
    make_llm_judgment,
    make_quality_check,
    make_rater,
    make_study,
)
from tests.helpers.factories_written_once import make_exclusion, make_mark, make_user
from tests.helpers.released import LATER, answer, make_pairs, make_reviewed_study, read

pytestmark = pytest.mark.django_db

DIALOGUE_WORDS = sum(len(turn["text"].split()) for turn in TURNS)


def record_of(rater, as_of=LATER) -> RaterRecord:
    known = records.read_quality(rater.study, as_of=as_of)
    (found,) = [record for record in known.records if record.rater == rater.code]
    return found


class TestTheRecordOfARater:
    def test_holds_the_answer_as_the_screen_had_it_and_as_it_counts_and_the_time_it_was_read(self):
        comparison = make_comparison()
        rater = make_rater(study=comparison.study)
        answer(comparison, rater, 2, first_side=Side.B)
        paused = make_judgment(hidden_ms=5000, paused_ms=10_000)

        (main,) = record_of(rater).answers
        (shorter,) = record_of(paused.rater).answers

        assert (main.shown, main.side, main.winner) == ("-2", -1, 1)
        assert shorter.seconds == 25.0
        assert records.read_quality(paused.comparison.study, as_of=NOW).raters == ()  # not yet

    def test_counts_the_words_of_a_dialogue_when_it_is_read_for_the_first_time(self):
        comparison = make_comparison()
        other = make_comparison(
            study=comparison.study,
            first=comparison.second,
            second=make_completion(context=comparison.context, text="Two words"),
        )
        rater = make_rater(study=comparison.study)
        answer(comparison, rater, 1)
        answer(other, rater, 1, issued_at=NOW + dt.timedelta(minutes=1))

        first, second = record_of(rater).answers

        one_text = 9  # "I hear how much that weighs on you (n)."
        assert first.words == DIALOGUE_WORDS + 2 * one_text
        assert second.words == one_text + 2

    def test_holds_what_a_changed_answer_says_now_and_how_long_the_first_took(self):
        judgment = make_judgment(verdict=2)
        later = NOW + dt.timedelta(minutes=9)
        make_judgment(revises=judgment, verdict=-1, submitted_at=later)

        (main,) = record_of(judgment.rater).answers

        assert (main.winner, main.seconds) == (-1, 40.0)

    @pytest.mark.parametrize(("verdict", "passes"), [(1, True), (0, False), (-1, False)])
    def test_says_whether_a_check_was_passed_but_for_the_screening_round(self, verdict, passes):
        check = make_quality_check()
        rater, other = (make_rater(study=check.comparison.study) for _ in range(2))
        answer(check.comparison, rater, verdict, quality_check=check)
        answer(check.comparison, other, verdict, quality_check=check, is_screening=True)

        record = record_of(rater)

        assert [(one.kind, one.is_passed) for one in record.checks] == [("GOLD", passes)]
        assert record.answers == ()
        assert record_of(other).checks == ()

    @pytest.mark.parametrize(("later", "passes"), [(2, True), (-1, False)])
    def test_says_whether_a_repeated_pair_was_answered_alike(self, later, passes):
        earlier = make_judgment(verdict=2)
        answer(earlier.comparison, earlier.rater, later, repeats=earlier.lease)

        record = record_of(earlier.rater)

        assert [(one.kind, one.is_passed) for one in record.checks] == [("REPEAT", passes)]
        assert len(record.answers) == 1

    def test_of_a_rating_has_what_was_rated_and_whether_its_check_was_passed(self):
        study = make_study(protocol=Protocol.LIKERT)
        rater, planted = make_rater(study=study), make_alone(study=study, purpose=Purpose.CHECK)
        check = make_quality_check(comparison=planted, expected="LOW", dimension="H")
        for points, judgment in (
            (1, answer(make_alone(study=study), rater, None)),
            (2, answer(planted, rater, None, quality_check=check)),
        ):
            for dimension in "HE":
                make_mark(judgment=judgment, dimension=dimension, advantage=points)

        record = record_of(rater)

        (main,) = record.answers
        assert (main.shown, main.side, main.winner) == ("E1 H1", 0, 0)
        assert [check.is_passed for check in record.checks] == [True]


class TestReadQuality:
    def test_takes_the_rules_from_the_study_and_defaults_where_it_names_none(self):
        study = make_study(content={"exclusion": {"failed_share": 0.4, "min_answers": 7}})

        assert quality_raters.rules_of(study) == Rules(failed_share=0.4, min_answers=7)
        assert quality_raters.rules_of(make_study(content={})) == Rules()

    def test_asks_the_same_number_of_queries_for_any_number_of_raters(
        self, django_assert_max_num_queries
    ):
        study, _careless = make_reviewed_study()

        with django_assert_max_num_queries(6):
            records.read_quality(study, as_of=LATER)

    def test_settles_a_pair_when_it_has_all_the_answers_it_wants(self):
        study = make_study(judgments_per_pair=2)
        pair, other = make_pairs(study, n_contexts=1, n_systems=3)[:2]
        raters = [make_rater(study=study) for _ in range(3)]
        for minute, rater in enumerate(raters):
            answer(pair, rater, 1, issued_at=NOW + dt.timedelta(minutes=minute))
        answer(other, raters[0], 1, issued_at=NOW + dt.timedelta(minutes=9))

        known = records.read_quality(study, as_of=LATER)

        assert [(full.pair, full.winners) for full in known.pairs] == [
            (pair.pk, {raters[0].code: 1, raters[1].code: 1})
        ]
        assert len(known.winners) == 2

    def test_leaves_out_judges_and_those_whose_answers_never_count(self):
        study = make_study(is_simulated=False)
        pairs = make_pairs(study, n_contexts=1)
        make_llm_judgment(comparison=pairs[0])
        read(make_rater(study=study, is_simulated=True), pairs)
        gone = make_rater(study=study, state=RaterState.WITHDRAWN, ended_at=LATER, data_kept=False)
        read(gone, pairs)

        known = records.read_quality(study, as_of=LATER)

        assert (known.raters, known.winners) == ((), ())

    def test_knows_when_a_person_took_a_rater_back(self):
        rater = make_judgment().rater
        make_exclusion(rater=rater)
        back = {"is_excluded": False, "decided_by": make_user(), "reason": "It is fine."}
        make_exclusion(rater=rater, decided_at=LATER, **back)

        assert record_of(rater).reinstated_at == LATER
