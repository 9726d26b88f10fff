"""The one way to model providers; nothing here loads LiteLLM before the first call."""

from completions.llm.errors import (
    ContentFilteredError,
    EmptyAnswerError,
    PermanentError,
    ProviderError,
    TransientError,
    TruncatedAnswerError,
)
from completions.llm.exchange import Message, Reply, Request, Token
from completions.llm.gateway import complete
from completions.llm.library import listed_price, warm_up
from completions.llm.parameters import sent_parameters

__all__ = [
    "ContentFilteredError",
    "EmptyAnswerError",
    "Message",
    "PermanentError",
    "ProviderError",
    "Reply",
    "Request",
    "Token",
    "TransientError",
    "TruncatedAnswerError",
    "complete",
    "listed_price",
    "sent_parameters",
    "warm_up",
]
