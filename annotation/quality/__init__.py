"""Pure rules of rater quality: which raters leave the analysis, and what only warns; no Django."""

from annotation.quality.agreement import agreement_by_rater
from annotation.quality.checks import (
    are_ratings_consistent,
    is_check_passed,
    is_rating_passed,
    is_repeat_consistent,
)
from annotation.quality.examining import StudyRecord, examine
from annotation.quality.misfit import Infit, Prediction, infit
from annotation.quality.outlier import PairAnswers
from annotation.quality.records import CheckAnswer, Finding, MainAnswer, RaterRecord
from annotation.quality.rules import RULES_VERSION, Rules, RulesError
from annotation.quality.times import Pace, active_seconds, pace_of

__all__ = [
    "RULES_VERSION",
    "CheckAnswer",
    "Finding",
    "Infit",
    "MainAnswer",
    "Pace",
    "PairAnswers",
    "Prediction",
    "RaterRecord",
    "Rules",
    "RulesError",
    "StudyRecord",
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
