"""What raters are asked beside their pairs: whether the task is clear, and who wrote a message.

There are two tries to show that the task is clear, and never a rejection: crowd platforms ask for
both. Guesses of sources test whether the blinding held.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from annotation.assignment.slots import lock_rater
from annotation.choices import RaterStage, RaterState
from annotation.judging.services.leasing import end_rater, move_to, stage_after_comprehension
from annotation.models import Rater, SourceGuess
from annotation.raters import entry_queries
from annotation.studies import queries as study_queries

TRIES = 2


class NothingToAnswerError(Exception):
    """The rater is past the questions or has ended, or the page was that of an earlier try."""


@transaction.atomic
def answer_comprehension(
    *, rater: Rater, answers: Mapping[int, int], now: dt.datetime, tries_before: int | None = None
) -> tuple[int, ...]:
    """Let the rater go on if every answer is right; end the session after a second failure.

    Of a try nothing but its number is stored. ``tries_before`` is how many there were when the page
    was made that is answered, if it says so: a double click is one try.

    Returns
    -------
    tuple of int
        The places of the questions to answer again, from 0: none if the rater goes on or has ended.

    Raises
    ------
    NothingToAnswerError
        If the rater is past the questions or has ended, or has tried again since the page was made:
        a repeated post changes nothing, and tells nothing of the answers.
    ValueError
        If the rater has had every try already: there is nothing left to judge.
    """
    rater = lock_rater(rater)
    if rater.state != RaterState.ACTIVE or rater.stage != RaterStage.COMPREHENSION:
        raise NothingToAnswerError
    if tries_before not in (None, rater.comprehension_tries):
        raise NothingToAnswerError
    if rater.comprehension_tries >= TRIES:
        msg = f"all {TRIES} tries were used"
        raise ValueError(msg)
    questions = study_queries.content_of(rater.study)["comprehension"]
    wrong = wrong_answers(questions, answers)
    rater.comprehension_tries += 1
    rater.save(update_fields=["comprehension_tries"])
    if not wrong:
        move_to(rater, stage_after_comprehension(rater.study))
    elif rater.comprehension_tries >= TRIES:
        end_rater(rater, state=RaterState.SCREENED, now=now)
        return ()
    return wrong


def wrong_answers(
    questions: Sequence[Mapping[str, Any]], answers: Mapping[int, int]
) -> tuple[int, ...]:
    """Return the places, from 0, of questions whose chosen option is not the right one.

    What was left out is wrong. ``questions`` are those of the study file, whose ``answer`` counts
    from 1.
    """
    return tuple(
        place
        for place, question in enumerate(questions)
        if answers.get(place) != question["answer"] - 1
    )


@transaction.atomic
def record_guesses(*, rater: Rater, guesses: Mapping[int, str], now: dt.datetime) -> int:
    """Store guesses by the place of the message among those asked; return how many are new.

    A place that was not asked is ignored, and the first guess about a message stays: whoever
    goes back and sends again changes nothing.
    """
    rater = lock_rater(rater)
    messages = entry_queries.messages_to_guess(rater)
    known = set(rater.source_guesses.values_list("completion_id", flat=True))
    new = [
        SourceGuess(rater=rater, completion=messages[place], guess=guess, guessed_at=now)
        for place, guess in sorted(guesses.items())
        if place in messages and messages[place].pk not in known
    ]
    return len(SourceGuess.objects.bulk_create(new))
