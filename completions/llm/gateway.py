"""Ask a model through LiteLLM, once, and take the answer apart."""

import asyncio
import re
import time
from dataclasses import dataclass, replace
from typing import Any

from completions.llm.exchange import (
    CONFIGURATION,
    CONTENT_FILTERED,
    MOST_CHARACTERS,
    MOST_TOKENS,
    TRUNCATED,
    UNKNOWN,
    UNSTORABLE,
    PermanentError,
    ProviderError,
    Reply,
    Request,
    Token,
    TransientError,
    ending,
    storable,
)
from completions.llm.failures import as_error, lacks_key
from completions.llm.library import listed_price, litellm, missing_keys, noting_reasons, usage_of
from completions.llm.parameters import arguments, conditions, dropped, sent_parameters
from completions.llm.wrapping import ONLY_THOUGHTS, UNCLEAR, is_visible, joined, unwrapped

INVENTED_ID = re.compile(r"chatcmpl-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""What LiteLLM calls an answer whose id it does not pass on."""
LARGEST_LOGPROB = 0.01
"""A logarithm of a probability is not above nothing, but for its rounding."""


_NO_TEXT = {
    ONLY_THOUGHTS: "The model thought, and said nothing.",
    UNCLEAR: "Thoughts or special tokens stand between words: what the message is, is not clear.",
}
_UNFINISHED = {
    CONTENT_FILTERED: "The provider's filter held the answer back",
    TRUNCATED: "The answer stopped at a limit of tokens",
    UNKNOWN: "The answer ended for a reason that is not known here",
}


async def complete(request: Request) -> Reply:
    """Ask a model once and return its whole answer; nothing is retried here.

    Raises
    ------
    TransientError
        If asking again later may help; with the provider's Retry-After where it gave one.
    PermanentError
        If the provider answered, but not with a usable text; for everything else that it refuses;
        and for an answer that nothing here can read.
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
        raise _without_key(error, given) or as_error(error) from error
    reply = replace(
        _reply(request, received, started),
        honoured={**honoured, **conditions(request)},
        dropped=dropped(request, honoured),
    )
    return _checked(reply, received, is_prose=request.response_schema is None)


def _without_key(error: Exception, given: dict[str, Any]) -> PermanentError | None:
    """Return what to raise instead if LiteLLM looked for a key and there is none."""
    if "api_key" in given or not lacks_key(error):
        return None
    missing = " or ".join(missing_keys(given["model"]))
    msg = f"The environment has no {missing}."
    return PermanentError(msg, kind=CONFIGURATION) if missing else None


@dataclass(frozen=True)
class _Received:
    """The parts of an answer, streamed or not, that are kept; of several choices the first."""

    text: str
    provider_id: str
    usage: Any
    refusal: str = ""
    """What the model said in declining, in the field that OpenAI's API has for that."""
    finish_reason: str = ""
    fault: str = ""
    """The kind of failure that the reason of its end means."""
    first_at: float | None = None
    tokens: tuple[Token, ...] = ()


async def _receive(given: dict[str, Any]) -> _Received:
    """Make the call, and take a stream in to its end."""
    with noting_reasons() as reasons:
        answer = await litellm().acompletion(**given)
        received = await _drain(answer) if given.get("stream") else _whole(answer)
    if given.get("stream") and not reasons:
        # LiteLLM makes up a "stop" for a stream that ended without saying so.
        msg = "The stream ended before the provider said that the answer was complete."
        raise TransientError(msg, kind="cut_stream")
    reason, fault = ending(reasons, with_tools="response_format" in given)
    return replace(received, finish_reason=reason, fault=fault)


def _whole(answer: Any) -> _Received:  # noqa: ANN401 (of a module loaded late)
    """Take an answer that came in one piece; some filters leave no choice in it."""
    usage, given_id = getattr(answer, "usage", None), _provider_id(answer.id, answer)
    if not answer.choices:
        return _Received("", given_id, usage)
    choice = answer.choices[0]
    text = choice.message.content or ""
    _refuse_endless(len(text))
    return _Received(
        text=joined([text]),
        provider_id=given_id,
        usage=usage,
        refusal=_refusal(choice.message),
        tokens=_tokens(choice),
    )


def _refuse_endless(n_characters: int) -> None:
    if n_characters > MOST_CHARACTERS:
        msg = f"The answer has over {MOST_CHARACTERS:,} characters, and was read no further."
        raise PermanentError(msg, kind=TRUNCATED)


def _refusal(message: Any) -> str:  # noqa: ANN401 (of a module loaded late)
    """Return what a message, or a piece of one, says in declining."""
    own = getattr(message, "provider_specific_fields", None) or {}
    return str(getattr(message, "refusal", None) or own.get("refusal") or "")


def _tokens(choice: Any) -> tuple[Token, ...]:  # noqa: ANN401 (of a module loaded late)
    """Return the answer in pieces, where the provider said how probable each was.

    Of numbers that are no logarithms of probabilities none is taken: the rest would mean nothing.
    """
    pieces = getattr(getattr(choice, "logprobs", None), "content", None) or ()
    found = tuple(
        Token(
            str(one.token),
            {str(other.token): float(other.logprob) for other in (*(one.top_logprobs or ()), one)},
        )
        for one in pieces
    )
    said = (number for one in found for number in one.alternatives.values())
    return found if all(number <= LARGEST_LOGPROB for number in said) else ()


async def _drain(stream: Any) -> _Received:  # noqa: ANN401 (a type of a module loaded late)
    """Collect a stream; the first text that comes sets the time to first token."""
    texts: list[str] = []
    refusals: list[str] = []
    first_at, given_id, n_characters = None, "", 0
    async for chunk in stream:
        given_id = given_id or str(chunk.id or "")
        for choice in chunk.choices:
            if choice.index:
                continue
            refusals.append(_refusal(choice.delta))
            if choice.delta.content:
                first_at = first_at or time.perf_counter()
                texts.append(choice.delta.content)
                n_characters += len(choice.delta.content)
                _refuse_endless(n_characters)
    return _Received(
        text=joined(texts),
        provider_id=_provider_id(given_id, stream),
        usage=usage_of(stream.chunks),
        refusal=joined(getattr(stream, "refusals", refusals)),
        first_at=first_at,
    )


def _provider_id(given: Any, answer: Any) -> str:  # noqa: ANN401 (of a module loaded late)
    """Return the provider's id of an answer, or of the request where LiteLLM invents the former."""
    if not INVENTED_ID.fullmatch(str(given or "")):
        return storable(str(given or ""))
    headers = (getattr(answer, "_hidden_params", None) or {}).get("additional_headers") or {}
    return storable(str(headers.get("llm_provider-request-id") or ""))


def _reply(request: Request, received: _Received, started: float) -> Reply:
    n_prompt, n_completion = _counts(received)
    first_at = received.first_at
    return Reply(
        text=storable(received.text),
        finish_reason=received.finish_reason,
        provider_id=received.provider_id,
        n_prompt_tokens=n_prompt,
        n_completion_tokens=n_completion,
        cost_usd=_cost(request, received),
        ttft_ms=None if first_at is None else round(1000 * (first_at - started)),
        latency_ms=round(1000 * (time.perf_counter() - started)),
        tokens=received.tokens,
    )


def _counts(received: _Received) -> tuple[int | None, int | None]:
    """Return the tokens of question and answer; none in what was said means that nobody counted."""
    n_prompt = getattr(received.usage, "prompt_tokens", None)
    n_completion = getattr(received.usage, "completion_tokens", 0) or (None if received.text else 0)
    is_counted = n_prompt and all(0 <= n <= MOST_TOKENS for n in (n_prompt, n_completion or 0))
    return (n_prompt, n_completion) if is_counted else (None, None)


def _checked(reply: Reply, received: _Received, *, is_prose: bool) -> Reply:
    """Return the reply if it holds a whole, storable text, with the text alone.

    Raises
    ------
    ProviderError
        If it does not, with what did come.
    """
    if received.fault and not (received.fault == UNKNOWN and not reply.finish_reason):
        raise _unfinished(received.fault, reply)
    if received.refusal and not reply.text.strip():
        msg = "The model declined."
        said = replace(reply, text=storable(received.refusal))
        raise PermanentError(msg, kind="refused", reply=said)
    found = unwrapped(received.text, is_prose=is_prose)
    if found.fault:
        raise PermanentError(_NO_TEXT[found.fault], kind=found.fault, reply=reply)
    if not is_visible(found.text):
        msg = "The provider sent no text."
        raise PermanentError(msg, kind="empty", reply=reply)
    if UNSTORABLE.search(found.text):
        msg = "The text holds NUL or half a surrogate pair."
        raise PermanentError(msg, kind="unstorable", reply=reply)
    if not found.stripped:
        return reply
    return replace(reply, text=found.text, raw_text=reply.text, stripped=found.stripped)


def _unfinished(fault: str, reply: Reply) -> ProviderError:
    """Return what failed where an answer ended before the model had said all."""
    reason = reply.finish_reason
    if fault not in _UNFINISHED:
        return TransientError(f"The provider broke the answer off ({reason}).", kind=fault)
    return PermanentError(f"{_UNFINISHED[fault]} ({reason}).", kind=fault, reply=reply)


def _cost(request: Request, received: _Received) -> float | None:
    """Return the price of a call in US dollars, or None where the price or the tokens are unknown.

    What LiteLLM lists is the provider's price: it says nothing about an address of one's own.
    """
    n_prompt, n_completion = _counts(received)
    if n_prompt is None or n_completion is None:
        return None
    if request.price is not None:
        price = request.price
        return (n_prompt * price["input"] + n_completion * price["output"]) / 1e6
    if request.is_elsewhere or listed_price(request.model) is None:
        return None
    counts = {"prompt_tokens": n_prompt, "completion_tokens": n_completion}
    try:
        cost = litellm().cost_per_token(model=request.model, usage_object=received.usage, **counts)
    except Exception:  # an answer that was paid for is not lost for want of its price
        return None
    return float(sum(cost))
