"""Judge whether a rater has understood the task: two tries, and never a rejection."""

import datetime as dt
from collections.abc import Mapping, Sequence

from django.db import transaction

from annotation.assignment.slots import lock_rater
from annotation.choices import RaterStage, RaterState, SubmissionState
from annotation.judging.services.screening import end_rater, move_to, stage_after_comprehension
from annotation.models import PlatformSubmission, Rater, SourceGuess, Study
from annotation.raters import entry_queries
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


@transaction.atomic
def record_guesses(*, rater: Rater, guesses: Mapping[int, str], now: dt.datetime) -> int:
    """Store guesses by the place of the message among those asked; return how many are new.

    A place that was not asked is ignored, and the first guess about a message stays: whoever
    goes back and sends again changes nothing.
    """
    rater = lock_rater(rater)
    asked = dict(enumerate(entry_queries.messages_to_guess(rater)))
    known = set(rater.source_guesses.values_list("completion_id", flat=True))
    new = [
        SourceGuess(rater=rater, completion=asked[place], guess=guess, guessed_at=now)
        for place, guess in sorted(guesses.items())
        if place in asked and asked[place].pk not in known
    ]
    return len(SourceGuess.objects.bulk_create(new))


NAMES = ("SESSION_ID", "assignmentId")
"""What platforms call the id of a submission on their links."""
GOES_ON = (RaterState.STOPPED, RaterState.FULL)
"""How a part may have ended that a new submission takes up again, if anything is left of it."""
OUTCOMES = {
    "RETURNED": SubmissionState.RETURNED,
    "TIMED-OUT": SubmissionState.EXPIRED,
    "REJECTED": SubmissionState.REJECTED,
    "APPROVED": SubmissionState.APPROVED,
}
"""What of a platform's words for where a submission stands ends it."""


def open_first(rater: Rater, ids: Mapping[str, str], *, now: dt.datetime) -> None:
    """Store with what submission of their platform a new rater came."""
    _open(rater, ids, number=1, n_before=0, now=now)


def open_submission(rater: Rater, ids: Mapping[str, str], *, now: dt.datetime) -> None:
    """Store that a locked rater came back with a submission of their platform, if it is a new one.

    It goes on with what is left of the session, even if the rater stopped, or their platform
    ended the one before.
    """
    if rater.submissions.filter(session_id=_session_id(ids)).exists():
        return
    n_before, wanted = selectors.rater_progress(rater)
    _open(rater, ids, number=rater.submissions.count() + 1, n_before=n_before, now=now)
    if rater.state in GOES_ON and n_before < wanted:
        rater.state, rater.ended_at = RaterState.ACTIVE, None
        rater.save(update_fields=["state", "ended_at"])


def _open(
    rater: Rater, ids: Mapping[str, str], *, number: int, n_before: int, now: dt.datetime
) -> None:
    PlatformSubmission.objects.create(
        rater=rater,
        number=number,
        session_id=_session_id(ids),
        ids={name: value for name, value in ids.items() if name not in NAMES},
        n_before=n_before,
        opened_at=now,
        changed_at=now,
    )


def _session_id(ids: Mapping[str, str]) -> str:
    return next((ids[name] for name in NAMES if name in ids), "")


def give_code(*, rater: Rater, code: str, now: dt.datetime) -> None:
    """Keep with a rater's newest submission the code that the last page shows."""
    newest = selectors.newest_submission(rater)
    if newest is not None and newest.code != code:
        PlatformSubmission.objects.filter(pk=newest.pk).update(code=code, changed_at=now)


def end_submission(submission: PlatformSubmission, status: str, *, now: dt.datetime) -> None:
    """Keep how a submission ended on its platform; other words for where it stands say nothing."""
    if (outcome := OUTCOMES.get(status)) is not None:
        found = PlatformSubmission.objects.filter(pk=submission.pk)
        found.exclude(state=outcome).update(state=outcome, changed_at=now)
