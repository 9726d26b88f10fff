"""Writes of the annotation app; everything a caller may import is named here."""

from annotation.services.entering import Entry, enter_study
from annotation.services.judging import (
    LeaseNotFoundError,
    RaterEndedError,
    StudyNotOpenError,
    lease_next_comparison,
    release_expired_leases,
    skip_comparison,
    stop_judging,
    submit_judgment,
)
from annotation.services.planning import PlanReport, plan_study

__all__ = [
    "Entry",
    "LeaseNotFoundError",
    "PlanReport",
    "RaterEndedError",
    "StudyNotOpenError",
    "enter_study",
    "lease_next_comparison",
    "plan_study",
    "release_expired_leases",
    "skip_comparison",
    "stop_judging",
    "submit_judgment",
]
