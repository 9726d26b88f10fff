"""Pure rules of rater quality: which raters leave the analysis, and what only warns; no Django."""

from annotation.quality.rules.agreement import agreement_by_rater
from annotation.quality.rules.checks import (
    are_ratings_consistent,
    is_check_passed,
    is_rating_passed,
    is_repeat_consistent,
)
from annotation.quality.rules.examining import StudyRecord, examine
from annotation.quality.rules.misfit import Infit, Prediction, infit
from annotation.quality.rules.outlier import PairAnswers
from annotation.quality.rules.records import CheckAnswer, Finding, MainAnswer, RaterRecord
from annotation.quality.rules.rules import RULES_VERSION, Rules, RulesError
from annotation.quality.rules.times import Pace, active_seconds, pace_of

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
