"""Pure rules of rater quality: which raters leave the analysis, and what only warns; no Django."""

from annotation.quality.rules.checks import (
    agreement_by_rater,
    are_ratings_consistent,
    is_check_passed,
    is_rating_passed,
    is_repeat_consistent,
)
from annotation.quality.rules.findings import (
    Infit,
    PairAnswers,
    StudyRecord,
    examine,
    infit,
)
from annotation.quality.rules.records import (
    RULES_VERSION,
    CheckAnswer,
    Finding,
    MainAnswer,
    RaterRecord,
    Rules,
    RulesError,
)
from annotation.quality.rules.times import TimePerWord, active_seconds, pace_of

__all__ = [
    "RULES_VERSION",
    "CheckAnswer",
    "Finding",
    "Infit",
    "MainAnswer",
    "PairAnswers",
    "RaterRecord",
    "Rules",
    "RulesError",
    "StudyRecord",
    "TimePerWord",
    "active_seconds",
    "agreement_by_rater",
    "are_ratings_consistent",
    "examine",
    "infit",
    "is_check_passed",
    "is_rating_passed",
    "is_repeat_consistent",
    "pace_of",
]
