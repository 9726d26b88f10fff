"""Writes of judging; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from annotation.judging.services.judging import (
        NextAssignment,
        RaterCredential,
        Submission,
        TooManyChangesError,
        foresee_next,
        submit_and_assign_next,
        submit_judgment,
    )
    from annotation.judging.services.leasing import (
        NotUnderstoodError,
        RaterEndedError,
        StudyNotOpenError,
        finish_with_nothing_left,
        lease_next_comparison,
        pause_judging,
        release_expired_leases,
        skip_comparison,
        stop_judging,
    )
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "NextAssignment",
    "NotUnderstoodError",
    "RaterCredential",
    "RaterEndedError",
    "StudyNotOpenError",
    "Submission",
    "TooManyChangesError",
    "finish_with_nothing_left",
    "foresee_next",
    "lease_next_comparison",
    "pause_judging",
    "release_expired_leases",
    "skip_comparison",
    "stop_judging",
    "submit_and_assign_next",
    "submit_judgment",
]
