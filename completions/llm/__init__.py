"""The one way to model providers; nothing here loads LiteLLM before the first call."""

from completions.llm.exchange import (
    PermanentError,
    ProviderError,
    Reply,
    Request,
    Token,
    TransientError,
    UnexpectedError,
)
from completions.llm.failures import as_error, refuses_schema
from completions.llm.gateway import complete
from completions.llm.library import listed_price, warm_up
from completions.llm.parameters import SCHEMA_MODES, sent_parameters
from completions.llm.wrapping import unwrapped

__all__ = [
    "SCHEMA_MODES",
    "PermanentError",
    "ProviderError",
    "Reply",
    "Request",
    "Token",
    "TransientError",
    "UnexpectedError",
    "as_error",
    "complete",
    "listed_price",
    "refuses_schema",
    "sent_parameters",
    "unwrapped",
    "warm_up",
]
