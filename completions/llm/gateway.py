"""Ask a model through LiteLLM, once, and take the answer apart."""

import asyncio
import re
import time
from dataclasses import dataclass, replace
from typing import Any

from completions.llm.errors import (
    ContentFilteredError,
    EmptyAnswerError,
    PermanentError,
    ProviderError,
    TransientError,
    TruncatedAnswerError,
    classified,
)
from completions.llm.exchange import Reply, Request
from completions.llm.library import litellm
from completions.llm.parameters import arguments, dropped, sent_parameters

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


async def complete(request: Request) -> Reply:
    """Ask a model once and return its whole answer; nothing is retried here.

    Raises
    ------
    TransientError
        If asking again later may help; with the provider's Retry-After where it gave one.
    ContentFilteredError, EmptyAnswerError, TruncatedAnswerError
        If the provider answered, but not with a usable text.
    PermanentError
        For everything else the provider refuses.
    """
    given, honoured = arguments(request), sent_parameters(request)
    started = time.perf_counter()
    try:
        async with asyncio.timeout(request.timeout_s):
            received = await _receive(given)
    except TimeoutError as error:
        msg = f"No answer within {request.timeout_s:g} s."
        raise TransientError(msg, kind="timeout") from error
    except ProviderError:
        raise
    except Exception as error:
        if (known := classified(error)) is None:
            raise
        raise known from error
    reply = _reply(request.model, received, started)
    return _checked(replace(reply, honoured=honoured, dropped=dropped(request, honoured)))


@dataclass(frozen=True)
class _Received:
    """The parts of an answer, streamed or not, that are kept."""

    text: str
    finish_reason: str
    provider_id: str
    usage: Any
    first_at: float | None = None


async def _receive(given: dict[str, Any]) -> _Received:
    """Make the call, and take a stream in to its end."""
    answer = await litellm().acompletion(**given)
    if given.get("stream"):
        return await _drain(answer)
    choice = answer.choices[0]
    return _Received(
        text=choice.message.content or "",
        finish_reason=str(choice.finish_reason or ""),
        provider_id=str(answer.id or ""),
        usage=getattr(answer, "usage", None),
    )


async def _drain(stream: Any) -> _Received:  # noqa: ANN401 (a type of a module loaded late)
    """Collect a stream; the first text that comes sets the time to first token."""
    texts: list[str] = []
    first_at, finish_reason, provider_id, usage = None, "", "", None
    async for chunk in stream:
        provider_id = provider_id or str(chunk.id or "")
        usage = getattr(chunk, "usage", None) or usage
        for choice in chunk.choices:
            finish_reason = str(choice.finish_reason or finish_reason)
            if choice.delta.content:
                first_at = first_at or time.perf_counter()
                texts.append(choice.delta.content)
    if not (stream.received_finish_reason or stream.intermittent_finish_reason):
        # LiteLLM makes up a "stop" for a stream that ended without saying so.
        msg = "The stream ended before the provider said that the answer was complete."
        raise TransientError(msg, kind="cut_stream")
    return _Received("".join(texts), finish_reason, provider_id, usage, first_at)


def _reply(model: str, received: _Received, started: float) -> Reply:
    usage, first_at = received.usage, received.first_at
    return Reply(
        text=received.text,
        finish_reason=received.finish_reason,
        provider_id=received.provider_id,
        n_prompt_tokens=getattr(usage, "prompt_tokens", None),
        n_completion_tokens=getattr(usage, "completion_tokens", None),
        cost_usd=_cost(model, usage),
        ttft_ms=None if first_at is None else round(1000 * (first_at - started)),
        latency_ms=round(1000 * (time.perf_counter() - started)),
    )


def _checked(reply: Reply) -> Reply:
    """Return the reply if it holds a whole, storable text."""
    if reply.finish_reason == "content_filter":
        msg = "The provider's filter held the answer back."
        raise ContentFilteredError(msg, reply=reply)
    if reply.finish_reason == "length":
        msg = "The answer stopped at the token limit."
        raise TruncatedAnswerError(msg, reply=reply)
    if not reply.text.strip():
        msg = "The provider sent no text."
        raise EmptyAnswerError(msg, reply=reply)
    if UNSTORABLE.search(reply.text):
        msg = "The text holds NUL or half a surrogate pair."
        raise PermanentError(msg, kind="unstorable")
    return reply


def _cost(model: str, usage: Any) -> float | None:  # noqa: ANN401 (a type of a module loaded late)
    """Return the price of a call in US dollars, or None for a model without a known price."""
    if usage is None:
        return None
    counts = {name: getattr(usage, name) for name in ("prompt_tokens", "completion_tokens")}
    try:
        return float(sum(litellm().cost_per_token(model=model, usage_object=usage, **counts)))
    except Exception:  # an unmapped model is not one of LiteLLM's typed errors
        return None
