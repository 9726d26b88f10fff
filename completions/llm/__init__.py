"""The one way to model providers; nothing here loads LiteLLM before the first call."""

from completions.llm.errors import (
    ContentFilteredError,
    EmptyAnswerError,
    PermanentError,
    ProviderError,
    TransientError,
    TruncatedAnswerError,
)
from completions.llm.exchange import Message, Reply, Request
from completions.llm.gateway import complete
from completions.llm.library import warm_up
from completions.llm.parameters import sent_parameters

__all__ = [
    "ContentFilteredError",
    "EmptyAnswerError",
    "Message",
    "PermanentError",
    "ProviderError",
    "Reply",
    "Request",
    "TransientError",
    "TruncatedAnswerError",
    "complete",
    "sent_parameters",
    "warm_up",
]
