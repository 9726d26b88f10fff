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
    """Sampling parameters that are wanted and that the model refuses: recorded as dropped."""
    reasoning_effort: str | None = None
    max_tokens: int = 300
    response_schema: Mapping[str, Any] | None = None
    timeout_s: float = 120.0
    stream: bool = False

    def asked(self) -> dict[str, Any]:
        """Return the parameters as wanted, for the record."""
        effort = self.reasoning_effort
        return {
            "model": self.model,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "response_schema": self.response_schema is not None,
            "stream": self.stream,
            **({} if effort is None else {"reasoning_effort": effort}),
        }


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came back, what it cost, and which parameters were really sent."""

    text: str
    finish_reason: str
    provider_id: str
    n_prompt_tokens: int | None
    n_completion_tokens: int | None
    cost_usd: float | None
    ttft_ms: int | None
    latency_ms: int
    honoured: Mapping[str, Any] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
