"""A question to a model and what came back."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

Message = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Request:
    """One question to a model; a key is named by its environment variable, never held."""

    model: str
    messages: tuple[Message, ...]
    api_base: str = ""
    api_base_env: str = ""
    """The variable that holds the address, where ``api_base`` gives none."""
    api_key_env: str = ""
    temperature: float | None = 0.0
    top_p: float | None = 1.0
    leave_out: Collection[str] = ()
    """Parameters that are wanted and that the model refuses: recorded as dropped."""
    reasoning_effort: str | None = None
    system_role: str = "system"
    """The role under which this model takes instructions; ``user``: before the first message."""
    schema_mode: str = ""
    """How a schema is sent: as ``json_schema``, as the wish for a ``json_object``, or in the
    ``prompt`` alone; nothing is as a schema, unless the model is known to refuse that."""
    token_limit: str = ""
    """What the limit of tokens is called; nothing leaves that to LiteLLM."""
    stream_options: bool = True
    """Whether a stream may be asked to count its tokens."""
    opening: str = ""
    """Said in the user's role before a chat that the assistant begins, where the API needs it."""
    price: Mapping[str, float] | None = None
    """What ``input`` and ``output`` cost, in US dollars for a million tokens, if not as listed."""
    max_tokens: int = 300
    response_schema: Mapping[str, Any] | None = None
    timeout_s: float = 120.0
    stream: bool = False
    logprobs: bool = False
    """Whether the provider shall say how probable each token was; only some models do."""

    @property
    def is_elsewhere(self) -> bool:
        """Say whether it goes to an address of one's own, and not to the provider's."""
        return bool(self.api_base or self.api_base_env)

    def asked(self) -> dict[str, Any]:
        """Return the parameters as wanted, for the record."""
        unusual = {
            "reasoning_effort": self.reasoning_effort,
            "price": self.price,
            "logprobs": self.logprobs,
        }
        return {
            "model": self.model,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "response_schema": self.response_schema is not None,
            "stream": self.stream,
            **{name: value for name, value in unusual.items() if value},
        }


@dataclass(frozen=True)
class Token:
    """A piece of an answer, and the likeliest pieces in its place with their log probabilities."""

    text: str
    alternatives: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came back, what it cost, and which parameters were really sent."""

    text: str
    """The message, without what stood around it."""
    finish_reason: str
    provider_id: str
    n_prompt_tokens: int | None
    n_completion_tokens: int | None
    cost_usd: float | None
    ttft_ms: int | None
    latency_ms: int
    honoured: Mapping[str, Any] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    tokens: tuple[Token, ...] = ()
    """The answer in pieces, where it was asked how probable they were and the provider said so."""
    raw_text: str = ""
    """The text as it came, where something was taken off."""
    stripped: tuple[str, ...] = ()
    """What was taken off, as ``completions.llm.wrapping`` calls it."""
