"""Whether the task was understood, in two tries."""

import pytest

from annotation.raters.comprehension import ComprehensionQuestion, judge_answers

QUESTIONS = (
    ComprehensionQuestion("What counts?", ("Length", "How it feels"), 1),
    ComprehensionQuestion("May you skip?", ("Yes", "No"), 0),
)


class TestJudgeAnswers:
    @pytest.mark.parametrize("tries_before", [0, 1])
    def test_all_right_passes_at_either_try(self, tries_before):
        outcome = judge_answers(QUESTIONS, {0: 1, 1: 0}, tries_before=tries_before)

        assert outcome.is_passed
        assert not outcome.is_over

    @pytest.mark.parametrize(
        ("answers", "wrong"),
        [
            ({0: 0, 1: 0}, (0,)),
            ({0: 1, 1: 1}, (1,)),
            ({0: 0, 1: 1}, (0, 1)),
            ({0: 1}, (1,)),
            ({}, (0, 1)),
            ({0: 1, 1: 7}, (1,)),
        ],
        ids=["first", "second", "both", "left out", "nothing", "no such answer"],
    )
    def test_names_what_was_wrong_and_leaves_a_second_try(self, answers, wrong):
        outcome = judge_answers(QUESTIONS, answers, tries_before=0)

        assert outcome.wrong == wrong
        assert outcome.tries_left == 1
        assert not outcome.is_passed
        assert not outcome.is_over

    def test_second_failure_is_the_last(self):
        assert judge_answers(QUESTIONS, {}, tries_before=1).is_over

    def test_nothing_is_judged_after_that(self):
        with pytest.raises(ValueError, match="all 2 tries"):
            judge_answers(QUESTIONS, {0: 1, 1: 0}, tries_before=2)

    def test_no_question_is_understood_by_everybody(self):
        assert judge_answers((), {}, tries_before=0).is_passed
