"""Ask a model through LiteLLM, once, and take the answer apart."""

import asyncio
import re
import time
from dataclasses import dataclass, replace
from typing import Any

from completions.llm.errors import (
    CONFIGURATION,
    ContentFilteredError,
    EmptyAnswerError,
    PermanentError,
    ProviderError,
    TransientError,
    TruncatedAnswerError,
    classified,
    lacks_key,
)
from completions.llm.exchange import Reply, Request, Token
from completions.llm.library import listed_price, litellm, missing_keys, usage_of
from completions.llm.parameters import arguments, conditions, dropped, sent_parameters

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
INVENTED_ID = re.compile(r"chatcmpl-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""What LiteLLM calls an answer whose id it does not pass on."""


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
        raise _without_key(error, given) or known from error
    reply = replace(
        _reply(request, received, started),
        honoured={**honoured, **conditions(request)},
        dropped=dropped(request, honoured),
    )
    return _checked(reply)


def _without_key(error: Exception, given: dict[str, Any]) -> PermanentError | None:
    """Return what to raise instead if LiteLLM looked for a key and there is none."""
    if "api_key" in given or not lacks_key(error):
        return None
    missing = " or ".join(missing_keys(given["model"]))
    msg = f"The environment has no {missing}."
    return PermanentError(msg, kind=CONFIGURATION) if missing else None


@dataclass(frozen=True)
class _Received:
    """The parts of an answer, streamed or not, that are kept."""

    text: str
    finish_reason: str
    provider_id: str
    usage: Any
    first_at: float | None = None
    tokens: tuple[Token, ...] = ()


async def _receive(given: dict[str, Any]) -> _Received:
    """Make the call, and take a stream in to its end."""
    answer = await litellm().acompletion(**given)
    if given.get("stream"):
        return await _drain(answer)
    choice = answer.choices[0]
    return _Received(
        text=choice.message.content or "",
        finish_reason=str(choice.finish_reason or ""),
        provider_id=_provider_id(answer.id, answer),
        usage=getattr(answer, "usage", None),
        tokens=_tokens(choice),
    )


def _tokens(choice: Any) -> tuple[Token, ...]:  # noqa: ANN401 (of a module loaded late)
    """Return the answer in pieces, where the provider said how probable each was."""
    pieces = getattr(getattr(choice, "logprobs", None), "content", None) or ()
    return tuple(
        Token(
            str(one.token),
            {str(other.token): float(other.logprob) for other in (*(one.top_logprobs or ()), one)},
        )
        for one in pieces
    )


async def _drain(stream: Any) -> _Received:  # noqa: ANN401 (a type of a module loaded late)
    """Collect a stream; the first text that comes sets the time to first token."""
    texts: list[str] = []
    first_at, finish_reason, given_id = None, "", ""
    async for chunk in stream:
        given_id = given_id or str(chunk.id or "")
        for choice in chunk.choices:
            finish_reason = str(choice.finish_reason or finish_reason)
            if choice.delta.content:
                first_at = first_at or time.perf_counter()
                texts.append(choice.delta.content)
    if not (stream.received_finish_reason or stream.intermittent_finish_reason):
        # LiteLLM makes up a "stop" for a stream that ended without saying so.
        msg = "The stream ended before the provider said that the answer was complete."
        raise TransientError(msg, kind="cut_stream")
    provider_id = _provider_id(given_id, stream)
    usage = usage_of(stream.chunks)
    return _Received("".join(texts), finish_reason, provider_id, usage, first_at)


def _provider_id(given: Any, answer: Any) -> str:  # noqa: ANN401 (of a module loaded late)
    """Return the provider's id of an answer, or of the request where LiteLLM invents the former."""
    if not INVENTED_ID.fullmatch(str(given or "")):
        return str(given or "")
    headers = (getattr(answer, "_hidden_params", None) or {}).get("additional_headers") or {}
    return str(headers.get("llm_provider-request-id") or "")


def _reply(request: Request, received: _Received, started: float) -> Reply:
    n_prompt, n_completion = _counts(received.usage)
    first_at = received.first_at
    return Reply(
        text=received.text,
        finish_reason=received.finish_reason,
        provider_id=received.provider_id,
        n_prompt_tokens=n_prompt,
        n_completion_tokens=n_completion,
        cost_usd=_cost(request, received.usage),
        ttft_ms=None if first_at is None else round(1000 * (first_at - started)),
        latency_ms=round(1000 * (time.perf_counter() - started)),
        tokens=received.tokens,
    )


def _counts(usage: Any) -> tuple[int | None, int | None]:  # noqa: ANN401 (of a module loaded late)
    """Return the tokens of question and answer; none in a question means that nobody counted."""
    n_prompt = getattr(usage, "prompt_tokens", None)
    return (n_prompt, getattr(usage, "completion_tokens", None)) if n_prompt else (None, None)


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


def _cost(request: Request, usage: Any) -> float | None:  # noqa: ANN401 (of a module loaded late)
    """Return the price of a call in US dollars, or None where the price or the tokens are unknown.

    What LiteLLM lists is the provider's price: it says nothing about an address of one's own.
    """
    n_prompt, n_completion = _counts(usage)
    if n_prompt is None or n_completion is None:
        return None
    if request.price is not None:
        price = request.price
        return (n_prompt * price["input"] + n_completion * price["output"]) / 1e6
    if request.is_elsewhere or listed_price(request.model) is None:
        return None
    counts = {"prompt_tokens": n_prompt, "completion_tokens": n_completion}
    try:
        cost = litellm().cost_per_token(model=request.model, usage_object=usage, **counts)
    except Exception:  # an answer that was paid for is not lost for want of its price
        return None
    return float(sum(cost))
