"""Writes of judges; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from annotation.judges.services.judging import ask_judges
    from annotation.judges.services.planning import (
        StudyNotLockedError,
        count_wanted_judge_calls,
        plan_judge_calls,
    )
    from annotation.judges.services.registering import register_simulated_judge, sync_judges
    from annotation.judges.services.running import (
        Asking,
        SamplesAlikeError,
        draft_judge_run,
        start_judge_run,
    )
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "Asking",
    "SamplesAlikeError",
    "StudyNotLockedError",
    "ask_judges",
    "count_wanted_judge_calls",
    "draft_judge_run",
    "plan_judge_calls",
    "register_simulated_judge",
    "start_judge_run",
    "sync_judges",
]
