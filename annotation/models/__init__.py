"""Models of the annotation app, one aggregate per module."""

from annotation.models.audit import BlindingAudit, SourceGuess
from annotation.models.care import Report, ReportAlert, ReportDecision
from annotation.models.comparison import Comparison
from annotation.models.external import ExternalBatch, ExternalDecision, ExternalJudgment
from annotation.models.judge import Judge, JudgeCall, JudgeRun
from annotation.models.judging import DimensionMark, Judgment, Lease
from annotation.models.people import (
    Consent,
    FailedArrival,
    PlatformEvent,
    PlatformStudy,
    PlatformSubmission,
    Rater,
)
from annotation.models.quality import Exclusion, QualityCheck
from annotation.models.rationale import (
    RationaleCall,
    RationaleDecision,
    RationaleRun,
    RationaleScan,
    ThemeCheck,
    ThemeCheckItem,
    ThemeLabel,
    ThemeLabelling,
)
from annotation.models.study import Study

__all__ = [
    "BlindingAudit",
    "Comparison",
    "Consent",
    "DimensionMark",
    "Exclusion",
    "ExternalBatch",
    "ExternalDecision",
    "ExternalJudgment",
    "FailedArrival",
    "Judge",
    "JudgeCall",
    "JudgeRun",
    "Judgment",
    "Lease",
    "PlatformEvent",
    "PlatformStudy",
    "PlatformSubmission",
    "QualityCheck",
    "Rater",
    "RationaleCall",
    "RationaleDecision",
    "RationaleRun",
    "RationaleScan",
    "Report",
    "ReportAlert",
    "ReportDecision",
    "SourceGuess",
    "Study",
    "ThemeCheck",
    "ThemeCheckItem",
    "ThemeLabel",
    "ThemeLabelling",
]
