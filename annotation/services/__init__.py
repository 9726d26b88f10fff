"""Writes of the annotation app; everything a caller may import is named here."""

from annotation.services.entering import Entry, enter_study
from annotation.services.judge_planning import StudyNotLockedError, plan_judge_calls
from annotation.services.judges import register_simulated_judge
from annotation.services.judging import submit_judgment
from annotation.services.leasing import (
    RaterEndedError,
    StudyNotOpenError,
    lease_next_comparison,
    release_expired_leases,
    skip_comparison,
    stop_judging,
)
from annotation.services.llm_judging import (
    ask_judges,
    forget_judging_claims,
    is_judging_waiting,
)
from annotation.services.planning import PlanReport, plan_study
from annotation.services.slots import LeaseNotFoundError
from annotation.services.studies import (
    RubricShownError,
    StudyExistsError,
    StudyStateError,
    close_study,
    create_study,
    open_study,
    pause_study,
)
from annotation.services.withdrawing import withdraw_rater

__all__ = [
    "Entry",
    "LeaseNotFoundError",
    "PlanReport",
    "RaterEndedError",
    "RubricShownError",
    "StudyExistsError",
    "StudyNotLockedError",
    "StudyNotOpenError",
    "StudyStateError",
    "ask_judges",
    "close_study",
    "create_study",
    "enter_study",
    "forget_judging_claims",
    "is_judging_waiting",
    "lease_next_comparison",
    "open_study",
    "pause_study",
    "plan_judge_calls",
    "plan_study",
    "register_simulated_judge",
    "release_expired_leases",
    "skip_comparison",
    "stop_judging",
    "submit_judgment",
    "withdraw_rater",
]
