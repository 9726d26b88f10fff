"""Models of the annotation app, one subject per module."""

from annotation.models.judge import Judge, JudgeCall, JudgeRun
from annotation.models.judging import (
    DimensionMark,
    ExternalBatch,
    ExternalDecision,
    ExternalJudgment,
    Judgment,
    Lease,
    Report,
    ReportAlert,
    ReportDecision,
)
from annotation.models.people import (
    Consent,
    FailedArrival,
    PlatformEvent,
    PlatformStudy,
    PlatformSubmission,
    Rater,
)
from annotation.models.quality import BlindingAudit, Exclusion, QualityCheck, SourceGuess
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
from annotation.models.study import Comparison, Study

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
