"""What raters are asked beside their pairs: whether the task is clear, and who wrote a message.

There are two tries to show that the task is clear, and never a rejection: crowd platforms ask for
both. Guesses of sources test whether the blinding held.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from annotation.assignment.slots import lock_rater
from annotation.choices import RaterStage, RaterState
from annotation.judging.services.leasing import end_rater, move_to, stage_after_comprehension
from annotation.models import Rater, SourceGuess
from annotation.raters import entry_queries
from annotation.studies import selectors

TRIES = 2


class NothingToAnswerError(Exception):
    """The rater is past the questions, or has ended."""


@dataclass(frozen=True)
class TryOutcome:
    """How a try went: which questions, by place, were not answered rightly."""

    wrong: tuple[int, ...]
    tries_left: int

    @property
    def is_passed(self) -> bool:
        """Whether every question was answered rightly."""
        return not self.wrong

    @property
    def is_over(self) -> bool:
        """Whether the rater failed and has no further try."""
        return bool(self.wrong) and self.tries_left == 0


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
    questions = selectors.content_of(rater.study)["comprehension"]
    outcome = judge_answers(questions, answers, tries_before=rater.comprehension_tries)
    rater.comprehension_tries += 1
    rater.save(update_fields=["comprehension_tries"])
    if outcome.is_passed:
        move_to(rater, stage_after_comprehension(rater.study))
    elif outcome.is_over:
        end_rater(rater, state=RaterState.SCREENED, now=now)
    return outcome


def judge_answers(
    questions: Sequence[Mapping[str, Any]], answers: Mapping[int, int], *, tries_before: int
) -> TryOutcome:
    """Compare the chosen places, from 0, with the right ones; what was left out is wrong.

    ``questions`` are those of the study file, whose ``answer`` counts from 1.

    Raises
    ------
    ValueError
        If the rater has had every try already: there is nothing left to judge.
    """
    if tries_before >= TRIES:
        msg = f"all {TRIES} tries were used"
        raise ValueError(msg)
    wrong = tuple(
        place
        for place, question in enumerate(questions)
        if answers.get(place) != question["answer"] - 1
    )
    return TryOutcome(wrong, tries_left=TRIES - tries_before - 1)


@transaction.atomic
def record_guesses(*, rater: Rater, guesses: Mapping[int, str], now: dt.datetime) -> int:
    """Store guesses by the place of the message among those asked; return how many are new.

    A place that was not asked is ignored, and the first guess about a message stays: whoever
    goes back and sends again changes nothing.
    """
    rater = lock_rater(rater)
    messages = dict(enumerate(entry_queries.messages_to_guess(rater)))
    known = set(rater.source_guesses.values_list("completion_id", flat=True))
    new = [
        SourceGuess(rater=rater, completion=messages[place], guess=guess, guessed_at=now)
        for place, guess in sorted(guesses.items())
        if place in messages and messages[place].pk not in known
    ]
    return len(SourceGuess.objects.bulk_create(new))
