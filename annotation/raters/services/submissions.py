"""Open submissions of raters, keep the codes they are shown, and what became of them."""

import datetime as dt
from collections.abc import Mapping

from annotation.choices import RaterState, SubmissionState
from annotation.models import PlatformSubmission, Rater
from annotation.studies import selectors

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
