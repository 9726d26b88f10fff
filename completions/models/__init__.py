"""Models of the completions app, one aggregate per module."""

from completions.models.completion import (
    BroughtCompletion,
    Completion,
    Hold,
    Message,
    MessageDecision,
    MessageRevision,
)
from completions.models.context import Candidate, Context, Rewrite, RewriteCall, ScreeningCall
from completions.models.dataset import Dataset, Dialogue, Job
from completions.models.run import (
    GenerationCall,
    GenerationRun,
    HumanLabelling,
    LabellingRun,
    Run,
    SpotCheck,
    SpotCheckItem,
    StrategyCall,
    StrategyLabel,
)
from completions.models.shapes import (
    FAILED,
    Endpoint,
    GivenConsent,
    LabelSample,
    PeoplesLabels,
    ProviderCall,
    SampledItem,
    StoredLabel,
    TimedLease,
)
from completions.models.system import Assistant, System
from completions.models.writer import (
    AdmissionDecision,
    Writer,
    WriterConsent,
    WriterMail,
    WritingLease,
)

__all__ = [
    "FAILED",
    "AdmissionDecision",
    "Assistant",
    "BroughtCompletion",
    "Candidate",
    "Completion",
    "Context",
    "Dataset",
    "Dialogue",
    "Endpoint",
    "GenerationCall",
    "GenerationRun",
    "GivenConsent",
    "Hold",
    "HumanLabelling",
    "Job",
    "LabelSample",
    "LabellingRun",
    "Message",
    "MessageDecision",
    "MessageRevision",
    "PeoplesLabels",
    "ProviderCall",
    "Rewrite",
    "RewriteCall",
    "Run",
    "SampledItem",
    "ScreeningCall",
    "SpotCheck",
    "SpotCheckItem",
    "StoredLabel",
    "StrategyCall",
    "StrategyLabel",
    "System",
    "TimedLease",
    "Writer",
    "WriterConsent",
    "WriterMail",
    "WritingLease",
]
