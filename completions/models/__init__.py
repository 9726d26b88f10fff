"""Models of the completions app, one aggregate per module."""

from completions.models.call import ProviderCall
from completions.models.completion import Completion
from completions.models.consent import GivenConsent
from completions.models.context import Context
from completions.models.dataset import Dataset, Dialogue
from completions.models.generation import GenerationCall
from completions.models.lease import TimedLease
from completions.models.log import LogEntry
from completions.models.system import System
from completions.models.writer import Writer, WriterConsent, WritingLease

__all__ = [
    "Completion",
    "Context",
    "Dataset",
    "Dialogue",
    "GenerationCall",
    "GivenConsent",
    "LogEntry",
    "ProviderCall",
    "System",
    "TimedLease",
    "Writer",
    "WriterConsent",
    "WritingLease",
]
