"""How a session ends: in which way, the code for it, and the address that leads back."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.utils.crypto import salted_hmac

from annotation.choices import Platform, RaterState, SubmissionState
from annotation.models import PlatformSubmission, Rater, Study
from annotation.studies import queries as study_queries

DEFAULT_RETURN = {Platform.PROLIFIC: "https://app.prolific.com/submissions/complete?cc={code}"}
"""Where a platform expects people back with its own code, if the study file says nothing."""


class Way(StrEnum):
    """The ways in which a session ends; the names are those of the codes in a study file."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    SCREENED_OUT = "screened_out"
    NO_CONSENT = "no_consent"
    FULL = "full"
    CLOSED = "closed"
    PAUSED = "paused"
    TIMED_OUT = "timed_out"


@dataclass(frozen=True)
class Ending:
    """What somebody reads on their last page, and takes along from it."""

    way: Way
    code: str = ""
    return_url: str = ""
    done: int = 0
    total: int = 0
    is_over: bool = True
    is_stored: bool = True
    has_withdrawn: bool = False
    data_kept: bool = True
    left_out_most: bool = False

    @property
    def can_withdraw(self) -> bool:
        """Whether there is something left that the person may take back."""
        return self.is_stored and not (self.has_withdrawn and not self.data_kept)

    @classmethod
    def of_visitor(cls, study: Study, way: Way, *, platform: str) -> "Ending":
        """Return how it ends for somebody of whom nothing is stored."""
        code, return_url = _take_along(study, way, platform=platform, whose=study.slug)
        return cls(way, code, return_url, is_stored=False)

    @classmethod
    def of_rater(cls, rater: Rater) -> "Ending":
        """Return how it ended for a rater, or how far they are; before the end there is no code."""
        done, total = study_queries.rater_progress(rater)
        is_blocked = study_queries.is_excluded(rater)
        may_finish = rater.state in (RaterState.ACTIVE, RaterState.FINISHED) and done < total
        left_out_most = may_finish and study_queries.n_left_out(rater) > done
        submission = study_queries.newest_submission(rater)
        is_complete = done >= total or (rater.state == RaterState.FINISHED and not left_out_most)
        way = _way_of(rater, submission, done=done, is_complete=is_complete, is_blocked=is_blocked)
        is_over = rater.state != RaterState.ACTIVE or is_blocked or done >= total
        code, return_url = "", ""
        if is_over:
            code, return_url = _take_along(
                rater.study, way, platform=rater.platform, whose=_whose(rater, submission)
            )
        return cls(
            way,
            code,
            return_url,
            done,
            total,
            is_over=is_over,
            has_withdrawn=rater.state == RaterState.WITHDRAWN,
            data_kept=rater.data_kept,
            left_out_most=left_out_most,
        )


def _way_of(
    rater: Rater,
    submission: PlatformSubmission | None,
    *,
    done: int,
    is_complete: bool,
    is_blocked: bool,
) -> Way:
    """Return the way in which the newest submission of a rater ends, by the work done in it.

    To withdraw changes nothing of the way in which it had ended before. One that was opened after
    the part had ended, or was blocked, holds no work at all. One with the smaller part of the work
    completes a session only if nobody pays for the rest. What the platform's clock ended before
    the work was complete is timed out.
    """
    has_withdrawn = rater.state == RaterState.WITHDRAWN
    if has_withdrawn and submission is not None and (shown := way_of(submission)) is not None:
        return shown
    if submission is None or submission.number == 1:
        has_worked = bool(done or study_queries.n_screening_answers(rater))
    else:
        was_over = rater.ended_at is not None and rater.ended_at <= submission.opened_at
        has_worked = not was_over and done > submission.n_before
        if not has_worked:
            return Way.NO_CONSENT
        is_complete = is_complete and (
            done >= 2 * submission.n_before or not _was_paid_before(submission)
        )
    way = _way(rater, is_complete=is_complete, has_worked=has_worked, is_blocked=is_blocked)
    is_timed_out = submission is not None and submission.state == SubmissionState.EXPIRED
    return Way.TIMED_OUT if is_timed_out and way in (Way.PARTIAL, Way.NO_CONSENT) else way


def _was_paid_before(submission: PlatformSubmission) -> bool:
    """Say whether a submission before this one has a code for which its platform may pay."""
    earlier = submission.rater.submissions.filter(number__lt=submission.number).exclude(code="")
    return earlier.filter(state__in=(SubmissionState.ACTIVE, SubmissionState.APPROVED)).exists()


def _whose(rater: Rater, submission: PlatformSubmission | None) -> str:
    """Return by what a code is made: the rater, and which of their submissions after the first."""
    number = 1 if submission is None else submission.number
    return rater.code if number == 1 else f"{rater.code} {number}"


def _way(rater: Rater, *, is_complete: bool, has_worked: bool, is_blocked: bool) -> Way:
    """Return the way, each with a code of its own, so that platforms pay what was done.

    Whoever is blocked in the middle did not complete the session. Whoever stops after the
    screening round or some of the pairs, or left out more than half of them, did a part of it;
    before the first answer, nothing.
    """
    if rater.state == RaterState.SCREENED or (rater.state == RaterState.ACTIVE and is_blocked):
        return Way.SCREENED_OUT
    if rater.state == RaterState.FULL:
        return Way.FULL
    if is_complete:
        return Way.COMPLETE
    return Way.PARTIAL if has_worked else Way.NO_CONSENT


def _take_along(study: Study, way: Way, *, platform: str, whose: str) -> tuple[str, str]:
    """Return the code, and the address that takes somebody of a platform back with it.

    A plain visitor who answered nothing has nothing to show, and no use for a made-up code else.
    """
    crowd: Mapping[str, Any] = study_queries.content_of(study)["crowd"]
    own = crowd["codes"].get(way, "")
    if platform == Platform.GUEST and way not in (Way.COMPLETE, Way.PARTIAL):
        return own if way == Way.SCREENED_OUT else "", ""
    code = _code(crowd, way, whose)
    if platform == Platform.GUEST:
        return code, ""
    address = crowd["return_url"] or (DEFAULT_RETURN.get(Platform(platform), "") if own else "")
    return code, address.replace("{code}", code)


def _code(crowd: Mapping[str, Any], way: Way, whose: str) -> str:
    own: str = crowd["codes"].get(way, "")
    return own or salted_hmac("heart.completion", f"{way} {whose}").hexdigest()[:10].upper()


def way_of(submission: PlatformSubmission) -> Way | None:
    """Return the way in which a submission ended, by the code that was shown; None without one."""
    rater = submission.rater
    crowd = study_queries.content_of(rater.study)["crowd"]
    whose = _whose(rater, submission)
    shown = (way for way in Way if submission.code == _code(crowd, way, whose))
    return next(shown, None) if submission.code else None
