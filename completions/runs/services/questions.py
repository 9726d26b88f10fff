"""Questions to models, what came back of them, and what that has cost."""

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from django.conf import settings

from completions import llm
from completions.llm.exchange import LONGEST_TIMEOUT_S
from completions.runs.services import speaking, states

UNPAID = frozenset(
    {
        *(*states.KINDS, states.ERASED, speaking.NOT_ASKED),
        *("bad_request", "rate_limited", "too_early"),
    }
)
"""Failures for which no provider takes money; after others nobody knows."""
SETTABLE = frozenset(
    {
        "api_base_env",
        "api_key_env",
        "leave_out",
        "logprobs",
        "max_tokens",
        "opening",
        "price",
        "reasoning_effort",
        "schema_mode",
        "stream_options",
        "system_role",
        "temperature",
        "timeout_s",
        "token_limit",
        "top_p",
    }
)


class UnknownParameterError(ValueError):
    """A system or judge sets a parameter that nothing reads."""


Clock = Callable[[], dt.datetime]


class ModelEndpoint(Protocol):
    """What a system and a judge have in common."""

    slug: str
    model_id: str
    api_base: str
    parameters: Any
    is_simulated: bool


@dataclass(frozen=True)
class Claim:
    """A worker's hold on a call: whoever claims it later has another time."""

    call_id: int
    at: dt.datetime
    attempts: int


@dataclass(frozen=True)
class Question:
    """A claimed call, ready to be asked."""

    claim: Claim
    prompt_hash: str
    request: llm.Request

    @property
    def most_tries(self) -> int:
        """Return how often the model may be asked in one call."""
        return 1


@dataclass(frozen=True)
class Answered:
    """A question and the provider's reply to it."""

    question: Question
    at: dt.datetime
    reply: llm.Reply


@dataclass(frozen=True)
class Failed:
    """A claimed call that brought no usable text."""

    claim: Claim
    at: dt.datetime
    error: llm.ProviderError
    question: Question | None = None
    """``None`` if the question could not even be put."""
    before: llm.Reply | None = None
    """What the model had answered, and been paid for, before it was asked again in vain."""

    @property
    def cost_usd(self) -> Decimal | None:
        """Return what the failure has cost, or None if nobody knows."""
        replies = [one for one in (self.before, self.error.reply) if one is not None]
        if self.error.reply is None and self.error.kind not in UNPAID:
            return None
        return total(reply.cost_usd for reply in replies)


def request_to(endpoint: ModelEndpoint, **wanted: Any) -> llm.Request:  # noqa: ANN401 (fields of Request)
    """Return a request to a system's or judge's model; its own parameters come last.

    A simulated one is answered by the offline provider, whatever address its row holds.

    Raises
    ------
    UnknownParameterError
        If the row sets a parameter that is not known.
    """
    if unknown := sorted(set(endpoint.parameters) - SETTABLE):
        msg = f"unknown parameters {unknown}; known are {sorted(SETTABLE)}"
        raise UnknownParameterError(msg)
    own = dict(endpoint.parameters)
    if "timeout_s" in own:  # rows may be older than the rule
        own["timeout_s"] = min(own["timeout_s"], LONGEST_TIMEOUT_S)
    if endpoint.is_simulated:
        own |= {"api_base": settings.HEART_OFFLINE_LLM_URL, "api_base_env": "", "api_key_env": ""}
    elif endpoint.api_base:
        own["api_base"] = endpoint.api_base
    return llm.Request(model=endpoint.model_id, **wanted | own)


def total(costs: Iterable[float | None]) -> Decimal | None:
    """Return the sum, or None if one of them is not known."""
    known = list(costs)
    if any(cost is None for cost in known):
        return None
    return sum((Decimal(f"{cost:.6f}") for cost in known), Decimal(0))
