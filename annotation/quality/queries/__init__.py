"""Reads of rater quality: from rows to what the rules look at, in a fixed number of queries."""

from annotation.quality.queries.listed import LEFT_OUT, MAIN, ListedAnswer, answers_given
from annotation.quality.queries.raters import (
    Decision,
    RaterHead,
    decisions_of,
    raters_judged,
    recently_judged,
    rules_of,
)
from annotation.quality.queries.records import StudyQuality, attention_checks, read_quality

__all__ = [
    "LEFT_OUT",
    "MAIN",
    "Decision",
    "ListedAnswer",
    "RaterHead",
    "StudyQuality",
    "answers_given",
    "attention_checks",
    "decisions_of",
    "raters_judged",
    "read_quality",
    "recently_judged",
    "rules_of",
]
