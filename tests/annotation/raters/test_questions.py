"""What raters are asked beside their pairs: whether the task is clear, and who wrote a message."""

import datetime as dt

import pytest

from annotation.choices import RaterStage, RaterState, Side, Source
from annotation.models import Rater, SourceGuess
from annotation.raters import entry_queries
from annotation.raters.services import questions
from completions.choices import LeaseOutcome
from tests.helpers.factories import (
    CONTENT,
    NOW,
    make_comparison,
    make_lease,
    make_quality_check,
    make_rater,
    make_study,
)
from tests.helpers.judged import delete_text

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
def newcomer():
    return make_newcomer()


def answer(rater, answers):
    wrong = questions.answer_comprehension(rater=rater, answers=answers, now=NOW)
    rater.refresh_from_db()
    return wrong


class TestAnswerComprehension:
    @pytest.mark.parametrize("failures", [0, 1])
    def test_lets_a_rater_go_on_at_the_first_or_second_try(self, newcomer, failures):
        for _ in range(failures):
            answer(newcomer, WRONG)

        assert answer(newcomer, RIGHT) == ()
        assert (newcomer.state, newcomer.stage) == (RaterState.ACTIVE, RaterStage.JUDGING)
        assert newcomer.comprehension_tries == failures + 1

    def test_goes_on_to_the_screening_round_where_there_is_one(self):
        newcomer = make_newcomer(screening=2)

        answer(newcomer, RIGHT)

        assert newcomer.stage == RaterStage.SCREENING

    def test_second_failure_screens_out(self, newcomer):
        answer(newcomer, WRONG)

        assert answer(newcomer, {}) == ()
        assert (newcomer.state, newcomer.ended_at) == (RaterState.SCREENED, NOW)

    def test_first_failure_leaves_a_try_and_stores_nothing_but_its_number(self, newcomer):
        before = Rater.objects.values().get()

        assert answer(newcomer, WRONG) == (0,)
        assert newcomer.state == RaterState.ACTIVE
        assert Rater.objects.values().get() == before | {"comprehension_tries": 1}

    def test_nothing_is_judged_after_the_last_try(self, newcomer):
        newcomer.comprehension_tries = 2
        newcomer.save(update_fields=["comprehension_tries"])

        with pytest.raises(ValueError, match="all 2 tries"):
            answer(newcomer, RIGHT)

    @pytest.mark.parametrize("tries", [[RIGHT], [WRONG, WRONG]], ids=["passed", "failed"])
    def test_a_post_that_comes_after_the_end_of_the_questions_is_refused(self, newcomer, tries):
        for answers in tries:
            answer(newcomer, answers)

        with pytest.raises(questions.NothingToAnswerError):
            answer(newcomer, RIGHT)

        newcomer.refresh_from_db()
        assert newcomer.comprehension_tries == len(tries)


@pytest.mark.parametrize(
    ("answers", "wrong"),
    [
        ({0: 1, 1: 0}, ()),
        ({0: 0, 1: 0}, (0,)),
        ({0: 1, 1: 1}, (1,)),
        ({0: 0, 1: 1}, (0, 1)),
        ({0: 1}, (1,)),
        ({}, (0, 1)),
        ({0: 1, 1: 7}, (1,)),
    ],
    ids=["all right", "first", "second", "both", "left out", "nothing", "no such answer"],
)
def test_wrong_answers_are_named_by_their_place(answers, wrong):
    assert questions.wrong_answers(QUESTIONS, answers) == wrong


PERSON, PROGRAM = Source.PERSON.value, Source.PROGRAM.value


CLOSED = {"closed_at": NOW, "outcome": LeaseOutcome.SUBMITTED}


def judged(rater, n, **fields):
    return [
        make_lease(comparison=make_comparison(study=rater.study), rater=rater, **CLOSED | fields)
        for _ in range(n)
    ]


@pytest.fixture
def rater():
    study = make_study(content=CONTENT | {"source_guesses": 3})
    return make_rater(study=study, state=RaterState.FINISHED, ended_at=NOW)


def guessable(rater):
    return list(entry_queries.messages_to_guess(rater).values())


class TestMessagesToGuess:
    def test_are_as_many_as_the_study_says_one_of_each_pair(self, rater):
        leases = judged(rater, 6)

        messages = guessable(rater)

        pairs = [
            lease.comparison_id
            for message in messages
            for lease in leases
            if message in lease.comparison.completions
        ]
        assert len(messages) == len(set(pairs)) == 3

    def test_are_other_places_for_other_raters_and_the_same_again(self, rater):
        comparisons = [lease.comparison for lease in judged(rater, 6)]
        orders = set()
        for _ in range(3):
            other = make_rater(study=rater.study, state=RaterState.FINISHED, ended_at=NOW)
            for comparison in comparisons:
                make_lease(comparison=comparison, rater=other, **CLOSED)
            orders.add(tuple(message.pk for message in guessable(other)))

        assert len(orders) == 3
        assert guessable(rater) == guessable(rater)

    def test_leave_out_what_was_planted_skipped_or_came_after_the_end(self, rater):
        first = judged(rater, 1)[0]
        judged(rater, 1, outcome=LeaseOutcome.SKIPPED, skip_reason="unclear")
        judged(rater, 1, closed_at=NOW + dt.timedelta(hours=1))
        planted = make_comparison(study=rater.study)
        closed = {"rater": rater} | CLOSED
        make_lease(
            comparison=planted, quality_check=make_quality_check(comparison=planted), **closed
        )
        make_lease(comparison=first.comparison, repeats=first, first_side=Side.B, **closed)

        messages = guessable(rater)

        assert len(messages) == 1
        assert messages[0] in first.comparison.completions

    def test_are_none_before_the_end_and_where_the_study_asks_none(self, rater):
        judged(rater, 3)
        rater.state, rater.ended_at = RaterState.ACTIVE, None
        assert guessable(rater) == []

        silent = make_rater(study=make_study(), state=RaterState.FINISHED, ended_at=NOW)
        judged(silent, 3)
        assert guessable(silent) == []


class TestRecordGuesses:
    def test_keeps_each_guess_with_its_message_and_ignores_what_was_not_guessable(self, rater):
        judged(rater, 3)

        guesses = {0: PERSON, 2: PROGRAM, 7: PERSON, -1: PERSON}
        n = questions.record_guesses(rater=rater, guesses=guesses, now=NOW)

        messages = guessable(rater)
        stored = SourceGuess.objects.values_list("completion", "guess", "guessed_at")
        assert n == 2
        assert set(stored) == {(messages[0].pk, PERSON, NOW), (messages[2].pk, PROGRAM, NOW)}

    def test_of_a_text_deleted_meanwhile_is_left_out_and_the_others_keep_their_messages(
        self, rater
    ):
        judged(rater, 5)
        shown = guessable(rater)
        delete_text(shown[1].pk)

        questions.record_guesses(rater=rater, guesses=dict.fromkeys(range(3), PERSON), now=NOW)

        guessed = SourceGuess.objects.values_list("completion", flat=True)
        assert set(guessed) == {shown[0].pk, shown[2].pk}

    def test_the_first_guess_about_a_message_stays(self, rater):
        judged(rater, 3)
        questions.record_guesses(rater=rater, guesses={0: PERSON}, now=NOW)

        n = questions.record_guesses(rater=rater, guesses={0: PROGRAM, 1: PROGRAM}, now=NOW)

        assert n == 1
        assert sorted(SourceGuess.objects.values_list("guess", flat=True)) == [PERSON, PROGRAM]
