"""Writes of runs; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from completions.runs.services.budgeting import UnknownPriceError
    from completions.runs.services.exclusive import AnotherAtWorkError
    from completions.runs.services.running import (
        BudgetTooSmallError,
        NothingToAskError,
        RunStateError,
        cancel_run,
        finish_all_runs,
        forget_claims,
        is_waiting,
        look_after_runs,
        pause_run,
        pull,
        resume_run,
        retry_failed,
    )
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "AnotherAtWorkError",
    "BudgetTooSmallError",
    "NothingToAskError",
    "RunStateError",
    "UnknownPriceError",
    "cancel_run",
    "finish_all_runs",
    "forget_claims",
    "is_waiting",
    "look_after_runs",
    "pause_run",
    "pull",
    "resume_run",
    "retry_failed",
]
