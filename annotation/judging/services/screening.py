"""The screening round: planted pairs before the first one that counts."""

import datetime as dt

from annotation.choices import Expected, RaterStage, RaterState
from annotation.judging.services.choosing import Choice, choose_check
from annotation.judging.services.stages import end_rater, move_to
from annotation.models import Judgment, Rater
from annotation.quality.rules import is_check_passed, is_rating_passed
from annotation.studies import selectors
from annotation.studies.selectors import RaterHistory


def choose_screening(rater: Rater, history: RaterHistory, *, now: dt.datetime) -> Choice | None:
    """Return the next pair of the round, or None once the round is over.

    It is over when as many pairs were answered as the study asks for, or none is left to show.
    The rater is then in the main part, or ended if too many answers were wrong: screened out,
    never rejected.
    """
    rules = selectors.content_of(rater.study)["screening"]
    answers = selectors.screening_answers(rater)
    if len(answers) < rules["pairs"] and (
        choice := choose_check(rater, history, is_screening=True)
    ):
        return choice
    wanted = min(rules["min_passed"], len(answers))
    if sum(map(_is_passed, answers)) >= wanted:
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
