"""The parts of a rater's session: the screening round, what follows it, and how it ends."""

import datetime as dt

from annotation.choices import Expected, RaterStage, RaterState
from annotation.judging.services.choosing import Choice, choose_check
from annotation.models import Judgment, Rater, Study
from annotation.quality.rules.exclusions import is_check_passed, is_rating_passed
from annotation.studies import selectors
from annotation.studies.selectors import RaterHistory, content_of
from completions.choices import LeaseOutcome

BY_THE_RATER = (LeaseOutcome.SUBMITTED, LeaseOutcome.SKIPPED)


def first_stage(study: Study) -> RaterStage:
    """Return the first part of a session that the study has."""
    if content_of(study)["comprehension"]:
        return RaterStage.COMPREHENSION
    return stage_after_comprehension(study)


def stage_after_comprehension(study: Study) -> RaterStage:
    """Return the part of a session that follows once the task is clear."""
    return RaterStage.SCREENING if content_of(study)["screening"]["pairs"] else RaterStage.JUDGING


def move_to(rater: Rater, stage: RaterStage) -> None:
    """Let the locked rater into the next part of the session."""
    rater.stage = stage
    rater.save(update_fields=["stage"])


def end_rater(rater: Rater, *, state: RaterState, now: dt.datetime) -> None:
    """End the part of the locked rater, for the reason that the state names."""
    rater.state = state
    rater.ended_at = now
    rater.save(update_fields=["state", "ended_at"])


def choose_screening(rater: Rater, history: RaterHistory, *, now: dt.datetime) -> Choice | None:
    """Return the next pair of the round, or None once the round is over.

    It is over when as many pairs were answered as the study asks for, or none is left to show.
    The rater is then in the main part, or ended if too many answers were wrong: screened out,
    never rejected.
    """
    rules = content_of(rater.study)["screening"]
    answers = selectors.screening_answers(rater)
    if len(answers) < rules["pairs"] and (
        choice := choose_check(rater, history, is_screening=True)
    ):
        return choice
    # A study that has few planted pairs asks for fewer; whoever skips them is asked for all.
    decided = rater.leases.filter(is_screening=True, outcome__in=BY_THE_RATER)
    required = min(rules["min_passed"], decided.count())
    if sum(map(_is_passed, answers)) >= required:
        move_to(rater, RaterStage.JUDGING)
    else:
        end_rater(rater, state=RaterState.SCREENED, now=now)
    return None


def _is_passed(judgment: Judgment) -> bool:
    lease = judgment.lease
    check = lease.quality_check if lease is not None else None
    if check is None:
        return False
    if judgment.verdict is not None:
        return is_check_passed(
            judgment.verdict, expected="FIRST" if check.expected == Expected.FIRST else "SECOND"
        )
    ratings = {mark.dimension: mark.advantage for mark in judgment.marks.all()}
    rating = ratings.get(check.dimension)
    expected = "HIGH" if check.expected == Expected.HIGH else "LOW"
    return rating is not None and is_rating_passed(rating, expected=expected)
