"""Where a rater stands: the parts of a session, and how it ends."""

import datetime as dt

from annotation.choices import RaterStage, RaterState
from annotation.models import Rater, Study
from annotation.studies.selectors import content_of


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
