"""The comprehension check: two tries, and a kind end after the second failure."""

import pytest

from annotation.choices import RaterStage, RaterState
from annotation.judging import services as judging_services
from annotation.models import Rater
from annotation.raters import services as rater_services
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
    outcome = rater_services.answer_comprehension(rater=rater, answers=answers, now=NOW)
    rater.refresh_from_db()
    return outcome


class TestAnswerComprehension:
    @pytest.mark.parametrize("failures", [0, 1])
    def test_lets_a_rater_go_on_at_the_first_or_second_try(self, rater, failures):
        for _ in range(failures):
            answer(rater, WRONG)

        assert answer(rater, RIGHT).is_passed
        assert (rater.state, rater.stage) == (RaterState.ACTIVE, RaterStage.JUDGING)
        assert rater.comprehension_tries == failures + 1

    def test_goes_on_to_the_screening_round_where_there_is_one(self):
        rater = make_newcomer(screening=2)

        answer(rater, RIGHT)

        assert rater.stage == RaterStage.SCREENING

    def test_first_failure_leaves_a_try(self, rater):
        outcome = answer(rater, WRONG)

        assert outcome.wrong == (0,)
        assert (rater.state, rater.stage) == (RaterState.ACTIVE, RaterStage.COMPREHENSION)

    def test_second_failure_screens_out(self, rater):
        answer(rater, WRONG)

        assert answer(rater, {}).is_over
        assert (rater.state, rater.ended_at) == (RaterState.SCREENED, NOW)

    def test_stores_nothing_of_a_try_but_its_number(self, rater):
        before = Rater.objects.values().get()

        answer(rater, WRONG)

        assert Rater.objects.values().get() == before | {"comprehension_tries": 1}

    @pytest.mark.parametrize("first", [RIGHT, WRONG])
    def test_a_post_that_comes_after_the_end_of_the_questions_is_refused(self, rater, first):
        answer(rater, first)
        if first is WRONG:
            answer(rater, WRONG)

        with pytest.raises(rater_services.NothingToAnswerError):
            rater_services.answer_comprehension(rater=rater, answers=RIGHT, now=NOW)

        rater.refresh_from_db()
        assert rater.comprehension_tries == (1 if first is RIGHT else 2)

    def test_no_pair_is_handed_out_before(self, rater):
        with pytest.raises(judging_services.NotUnderstoodError):
            judging_services.lease_next_comparison(rater=rater, now=NOW)
