"""Judge whether a rater has understood the task: two tries, and never a rejection."""

import datetime as dt
from collections.abc import Mapping, Sequence

from django.db import transaction

from annotation.assignment.slots import lock_rater
from annotation.choices import RaterStage, RaterState
from annotation.judging.services.stages import end_rater, move_to, stage_after_comprehension
from annotation.models import Rater, Study
from annotation.raters.comprehension import ComprehensionQuestion, TryOutcome, judge_answers
from annotation.studies import selectors


class NothingToAnswerError(Exception):
    """The rater is past the questions, or has ended."""


def comprehension_questions(study: Study) -> Sequence[ComprehensionQuestion]:
    """Return the questions of the study file, with the places of their right answers."""
    return tuple(
        ComprehensionQuestion(row["text"], tuple(row["options"]), row["answer"] - 1)
        for row in selectors.content_of(study)["comprehension"]
    )


@transaction.atomic
def answer_comprehension(
    *, rater: Rater, answers: Mapping[int, int], now: dt.datetime
) -> TryOutcome:
    """Let the rater go on if every answer is right; end the session after a second failure.

    Of a try nothing but its number is stored.

    Raises
    ------
    NothingToAnswerError
        If the rater is past the questions, or has ended: a repeated post changes nothing.
    """
    rater = lock_rater(rater)
    if rater.state != RaterState.ACTIVE or rater.stage != RaterStage.COMPREHENSION:
        raise NothingToAnswerError
    questions = comprehension_questions(rater.study)
    outcome = judge_answers(questions, answers, tries_before=rater.comprehension_tries)
    rater.comprehension_tries += 1
    rater.save(update_fields=["comprehension_tries"])
    if outcome.is_passed:
        move_to(rater, stage_after_comprehension(rater.study))
    elif outcome.is_over:
        end_rater(rater, state=RaterState.SCREENED, now=now)
    return outcome
