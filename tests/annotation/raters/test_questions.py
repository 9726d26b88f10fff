"""The comprehension check: two tries, and a kind end after the second failure."""

import pytest

from annotation.choices import RaterStage, RaterState
from annotation.models import Rater
from annotation.raters.services import questions as raters_questions
from annotation.raters.services.questions import wrong_answers
from tests.helpers.factories import CONTENT, NOW, make_rater, make_study

pytestmark = pytest.mark.django_db

QUESTIONS = [
    {"text": "What do you compare?", "options": ["Talks", "Messages"], "answer": 2},
    {"text": "May you skip?", "options": ["Yes", "No"], "answer": 1},
]
RIGHT, WRONG = {0: 1, 1: 0}, {0: 0, 1: 0}


def make_newcomer(*, screening=0):
    rules = {"pairs": screening, "min_passed": 0}
    content = CONTENT | {"comprehension": QUESTIONS, "screening": rules}
    return make_rater(study=make_study(content=content), stage=RaterStage.COMPREHENSION)


@pytest.fixture
def rater():
    return make_newcomer()


def answer(rater, answers):
    wrong = raters_questions.answer_comprehension(rater=rater, answers=answers, now=NOW)
    rater.refresh_from_db()
    return wrong


class TestAnswerComprehension:
    @pytest.mark.parametrize("failures", [0, 1])
    def test_lets_a_rater_go_on_at_the_first_or_second_try(self, rater, failures):
        for _ in range(failures):
            answer(rater, WRONG)

        assert answer(rater, RIGHT) == ()
        assert (rater.state, rater.stage) == (RaterState.ACTIVE, RaterStage.JUDGING)
        assert rater.comprehension_tries == failures + 1

    def test_goes_on_to_the_screening_round_where_there_is_one(self):
        rater = make_newcomer(screening=2)

        answer(rater, RIGHT)

        assert rater.stage == RaterStage.SCREENING

    def test_second_failure_screens_out(self, rater):
        answer(rater, WRONG)

        assert answer(rater, {}) == ()
        assert (rater.state, rater.ended_at) == (RaterState.SCREENED, NOW)

    def test_first_failure_leaves_a_try_and_stores_nothing_but_its_number(self, rater):
        before = Rater.objects.values().get()

        assert answer(rater, WRONG) == (0,)
        assert rater.state == RaterState.ACTIVE
        assert Rater.objects.values().get() == before | {"comprehension_tries": 1}

    def test_nothing_is_judged_after_the_last_try(self, rater):
        rater.comprehension_tries = 2
        rater.save(update_fields=["comprehension_tries"])

        with pytest.raises(ValueError, match="all 2 tries"):
            answer(rater, RIGHT)

    @pytest.mark.parametrize("first", [RIGHT, WRONG])
    def test_a_post_that_comes_after_the_end_of_the_questions_is_refused(self, rater, first):
        answer(rater, first)
        if first is WRONG:
            answer(rater, WRONG)

        with pytest.raises(raters_questions.NothingToAnswerError):
            raters_questions.answer_comprehension(rater=rater, answers=RIGHT, now=NOW)

        rater.refresh_from_db()
        assert rater.comprehension_tries == (1 if first is RIGHT else 2)


ASKED = (
    {"text": "What counts?", "options": ["Length", "How it feels"], "answer": 2},
    {"text": "May you skip?", "options": ["Yes", "No"], "answer": 1},
)


class TestWrongAnswers:
    @pytest.mark.parametrize(
        ("questions", "answers"),
        [(ASKED, {0: 1, 1: 0}), ((), {})],
        ids=["all right", "no questions"],
    )
    def test_there_are_none_if_all_are_right(self, questions, answers):
        assert wrong_answers(questions, answers) == ()

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
    def test_names_what_was_wrong(self, answers, wrong):
        assert wrong_answers(ASKED, answers) == wrong
