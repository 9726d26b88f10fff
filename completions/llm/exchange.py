"""A question to a model, what came back, and the few ways in which a call can fail."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Message = Mapping[str, str]

MOST_TOKENS = 10_000_000
"""No model takes or gives more: who counts more, or less than none, has not counted."""
MOST_CHARACTERS = 200_000
"""No answer that is asked for has more: who says more heeds no limit of tokens, and may not end."""
MOST_BYTES = 2**26
"""Of an answer no more is taken in, unpacked: a long one with all that it is told in has less."""
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""What JSON can spell and no database can hold: NUL, and half of a surrogate pair."""

LONGEST_TIMEOUT_S = 300.0
"""No call may take longer: who stops a worker waits for those in flight."""


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


def storable(text: str) -> str:
    """Return ``text`` with marks in place of what a database cannot hold."""
    return UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


@dataclass(frozen=True)
class Token:
    """A piece of an answer, and the likeliest pieces in its place with their log probabilities."""

    text: str
    alternatives: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came back, what it cost, and which parameters were really sent; all can be stored."""

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


CONFIGURATION = "configuration"
"""The kind of a failure that only whoever runs the platform can mend."""


class ProviderError(Exception):
    """A call brought no usable text; ``kind`` says why in a word, ``reply`` is what did come.

    The detail may repeat what a server said, and is kept wherever the failure is.
    """

    kind = "unknown"

    def __init__(self, detail: str, *, kind: str = "", reply: Reply | None = None) -> None:
        super().__init__(storable(detail))
        self.kind = kind or self.kind
        self.reply = reply


class TransientError(ProviderError):
    """The provider may answer if asked again: rate limit, overload, lost connection."""

    def __init__(self, detail: str, *, kind: str, retry_after_s: float | None = None) -> None:
        super().__init__(detail, kind=kind)
        self.retry_after_s = retry_after_s


class PermanentError(ProviderError):
    """Asking again cannot help."""


class UnexpectedError(PermanentError):
    """Neither the provider nor the network failed: something here cannot deal with the answer."""

    kind = "unexpected"


WHOLE = frozenset({"stop", "end_turn", "stop_sequence", "eos", "eos_token", "complete"})
"""Reasons that say that the model had nothing more to say, without regard to case."""
TOOLS = frozenset({"tool_calls", "tool_use", "function_call"})
"""Whole as well where a schema was asked for, which LiteLLM sends to some models as a tool."""
CONTENT_FILTERED, TRUNCATED = "content_filtered", "truncated"
_KINDS = {
    TRUNCATED: (
        *("length", "max_tokens", "max_output_tokens", "model_length", "compaction"),
        "model_context_window_exceeded",
    ),
    CONTENT_FILTERED: (
        *("content_filter", "content_filtered", "refusal", "safety", "recitation", "language"),
        *("blocklist", "prohibited_content", "spii", "sensitive", "error_toxic"),
        *("guardrail_intervened", "image_safety", "image_prohibited_content", "no_image"),
        *("image_recitation", "image_other", "escalation"),
    ),
    "interrupted": (
        *("insufficient_system_resource", "network_error", "abort", "aborted", "cancelled"),
        *("error", "timeout", "overloaded", "malformed_response"),
    ),
}
_KIND_OF = {reason: kind for kind, reasons in _KINDS.items() for reason in reasons}
UNKNOWN = "finish_reason"
"""The kind of an answer that ended for a reason that nobody here knows."""


def ending(reasons: Iterable[str], *, with_tools: bool = False) -> tuple[str, str]:
    """Return the reason that decides, and the kind of failure that it means: "" for none.

    Reasons come in the order in which they were given. The first that does not stand for a whole
    text decides; without any, the answer ended for no reason that is known.
    """
    taken = WHOLE | TOOLS if with_tools else WHOLE
    given = list(reasons)
    for reason in given:
        if (name := reason.casefold()) not in taken:
            return reason, _KIND_OF.get(name, UNKNOWN)
    return (given[0], "") if given else ("", UNKNOWN)
