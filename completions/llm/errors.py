"""The few ways in which a call can fail, and what the provider's reason for an end means."""

from collections.abc import Iterable

from completions.llm.exchange import Reply

CONFIGURATION = "configuration"
"""The kind of a failure that only whoever runs the platform can mend."""


class ProviderError(Exception):
    """A call brought no usable text; ``kind`` says why in a word, ``reply`` is what did come."""

    kind = "unknown"

    def __init__(self, detail: str, *, kind: str = "", reply: Reply | None = None) -> None:
        super().__init__(detail)
        self.kind = kind or self.kind
        self.reply = reply


class TransientError(ProviderError):
    """The provider may answer if asked again: rate limit, overload, lost connection."""

    def __init__(self, detail: str, *, kind: str, retry_after_s: float | None = None) -> None:
        super().__init__(detail, kind=kind)
        self.retry_after_s = retry_after_s


class PermanentError(ProviderError):
    """Asking again cannot help."""


class ContentFilteredError(PermanentError):
    """The provider's filter held the question or the answer back."""

    kind = "content_filtered"


class EmptyAnswerError(PermanentError):
    """The provider reported success and sent no text."""

    kind = "empty"


class RefusedAnswerError(PermanentError):
    """The model declined in the field that its API has for that; the words are in ``reply``."""

    kind = "refused"


class TruncatedAnswerError(PermanentError):
    """The answer stopped at a limit of tokens."""

    kind = "truncated"


class UnexpectedError(PermanentError):
    """Neither the provider nor the network failed: something here cannot deal with the answer."""

    kind = "unexpected"


WHOLE = frozenset({"stop", "end_turn", "stop_sequence", "eos", "eos_token", "complete"})
"""Reasons that say that the model had nothing more to say, without regard to case."""
TOOLS = frozenset({"tool_calls", "tool_use", "function_call"})
"""Whole as well where a schema was asked for, which LiteLLM sends to some models as a tool."""
_KINDS = {
    "truncated": (
        *("length", "max_tokens", "max_output_tokens", "model_length", "compaction"),
        "model_context_window_exceeded",
    ),
    "content_filtered": (
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
