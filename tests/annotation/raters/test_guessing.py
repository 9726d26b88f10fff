"""The question on sources: what is asked, and what is kept."""

import datetime as dt

import pytest

from annotation.choices import RaterState, Side, Source
from annotation.models import SourceGuess
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

pytestmark = pytest.mark.django_db
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


def asked(rater):
    return entry_queries.messages_to_guess(rater)


class TestMessagesToGuess:
    def test_are_as_many_as_the_study_says_one_of_each_pair(self, rater):
        leases = judged(rater, 6)

        messages = asked(rater)

        pairs = [
            lease.comparison_id
            for message in messages
            for lease in leases
            if message in lease.comparison.completions
        ]
        assert len(messages) == len(set(pairs)) == 3

    def test_are_other_places_for_other_raters_and_the_same_again(self, rater):
        comparisons = [lease.comparison for lease in judged(rater, 12)]
        orders = set()
        for _ in range(6):
            other = make_rater(study=rater.study, state=RaterState.FINISHED, ended_at=NOW)
            for comparison in comparisons:
                make_lease(comparison=comparison, rater=other, **CLOSED)
            orders.add(tuple(message.pk for message in asked(other)))

        assert len(orders) == 6
        assert asked(rater) == asked(rater)

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

        messages = asked(rater)

        assert len(messages) == 1
        assert messages[0] in first.comparison.completions

    def test_are_none_before_the_end_and_where_the_study_asks_none(self, rater):
        judged(rater, 3)
        rater.state, rater.ended_at = RaterState.ACTIVE, None
        assert asked(rater) == []

        silent = make_rater(study=make_study(), state=RaterState.FINISHED, ended_at=NOW)
        judged(silent, 3)
        assert asked(silent) == []


class TestRecordGuesses:
    def test_keeps_each_guess_with_its_message_and_ignores_what_was_not_asked(self, rater):
        judged(rater, 3)

        guesses = {0: PERSON, 2: PROGRAM, 7: PERSON, -1: PERSON}
        n = questions.record_guesses(rater=rater, guesses=guesses, now=NOW)

        messages = asked(rater)
        stored = SourceGuess.objects.values_list("completion", "guess", "guessed_at")
        assert n == 2
        assert set(stored) == {(messages[0].pk, PERSON, NOW), (messages[2].pk, PROGRAM, NOW)}

    def test_the_first_guess_about_a_message_stays(self, rater):
        judged(rater, 3)
        questions.record_guesses(rater=rater, guesses={0: PERSON}, now=NOW)

        n = questions.record_guesses(rater=rater, guesses={0: PROGRAM, 1: PROGRAM}, now=NOW)

        assert n == 1
        assert sorted(SourceGuess.objects.values_list("guess", flat=True)) == [PERSON, PROGRAM]
