"""Models of the completions app, one aggregate per module."""

from completions.models.assistant import Assistant
from completions.models.brought import BroughtCompletion
from completions.models.call import FAILED, ProviderCall
from completions.models.candidate import Candidate, ScreeningCall
from completions.models.completion import Completion
from completions.models.consent import GivenConsent
from completions.models.context import Context
from completions.models.dataset import Dataset, Dialogue
from completions.models.endpoint import Endpoint
from completions.models.generation import GenerationCall
from completions.models.hold import Hold
from completions.models.label import StoredLabel
from completions.models.lease import TimedLease
from completions.models.message import Message, MessageDecision, MessageRevision
from completions.models.rewrite import Rewrite, RewriteCall
from completions.models.run import GenerationRun, LabellingRun, Run
from completions.models.strategy import (
    HumanLabelling,
    SpotCheck,
    SpotCheckItem,
    StrategyCall,
    StrategyLabel,
)
from completions.models.system import System
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
    "LabellingRun",
    "Message",
    "MessageDecision",
    "MessageRevision",
    "ProviderCall",
    "Rewrite",
    "RewriteCall",
    "Run",
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
