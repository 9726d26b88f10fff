"""Models of the annotation app, one aggregate per module."""

from annotation.models.comparison import Comparison
from annotation.models.judge import Judge, JudgeCall
from annotation.models.judging import DimensionMark, Judgment, Lease
from annotation.models.people import Consent, Rater
from annotation.models.quality import CheckResult, Exclusion, QualityCheck
from annotation.models.study import Study

__all__ = [
    "CheckResult",
    "Comparison",
    "Consent",
    "DimensionMark",
    "Exclusion",
    "Judge",
    "JudgeCall",
    "Judgment",
    "Lease",
    "QualityCheck",
    "Rater",
    "Study",
]
