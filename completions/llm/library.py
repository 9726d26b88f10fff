"""LiteLLM itself: the only module that imports it, on the first call, with its switches set."""

import importlib
import logging
import os
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from typing import Any

from completions.llm.exchange import (
    MOST_BYTES,
    MOST_CHARACTERS,
    TRUNCATED,
    PermanentError,
    storable,
)
from completions.llm.wrapping import text_of

SWITCHES = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else the import downloads a price list
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",  # else the import downloads header names
    "LITELLM_MODE": "PRODUCTION",  # else the import reads ./.env into the environment
    "LITELLM_LOG": "ERROR",
}
STREAMS = "litellm.litellm_core_utils.streaming_handler"
LOGS = "litellm.litellm_core_utils.litellm_logging"
PROMPTS = "litellm.litellm_core_utils.prompt_templates.common_utils"
HELPERS = "litellm.litellm_core_utils.core_helpers"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@cache
def litellm() -> Any:  # noqa: ANN401 (a module)
    """Import LiteLLM with everything off that talks, prints or reads files on its own."""
    os.environ.update(SWITCHES)
    _forget_empty_keys()
    _spare_loopback()
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)  # its errors quote the dialogue
    logging.getLogger("httpx").setLevel(logging.WARNING)  # a line per call
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library = importlib.import_module("litellm")
        # Its models are built on first use, with warnings that the caller can do nothing about.
        library.ModelResponse()
        library.ModelResponseStream()
    vars(library).update(suppress_debug_info=True, disable_hf_tokenizer_download=True)
    # Else it breaks off whoever repeats itself, as a fault of the server to be paid for again.
    vars(library).update(REPEATED_STREAMING_CHUNK_LIMIT=MOST_CHARACTERS)
    _spare_work(library)
    _follow_nowhere()
    _read_no_further()
    helpers = importlib.import_module(HELPERS)
    vars(helpers).update(_FINISH_REASON_MAP=_Noted(vars(helpers)["_FINISH_REASON_MAP"]))
    _take_parts()
    return library


def _follow_nowhere() -> None:
    """Have no client go where an answer leads: only the address it was given was checked.

    The class says so, since LiteLLM and the clients in it each ask for the contrary.
    """
    httpx = importlib.import_module("httpx")
    for client in (httpx.Client, httpx.AsyncClient):
        client.follow_redirects = property(lambda _self: False, _nothing)


def _read_no_further() -> None:
    """Have no client take in more of an answer than `MOST_BYTES`, in however many pieces."""
    response = importlib.import_module("httpx").Response
    pieces = response.aiter_bytes

    @wraps(pieces)
    async def some(self: Any, *given: Any, **named: Any) -> AsyncIterator[bytes]:  # noqa: ANN401
        n_bytes = 0
        async for piece in pieces(self, *given, **named):
            n_bytes += len(piece)
            if n_bytes > MOST_BYTES:
                msg = f"The answer has over {MOST_BYTES:,} bytes, and was read no further."
                raise PermanentError(msg, kind=TRUNCATED)
            yield piece

    response.aiter_bytes = some


def _take_parts() -> None:
    """Have messages and pieces of streams take content in parts, which LiteLLM fails at.

    Refusals are kept with the stream: LiteLLM passes no piece on that has no content.
    Thoughts stay in the text, as they do in a stream: what is taken off it is noted by us alone.
    """
    utils = importlib.import_module(PROMPTS)
    vars(utils).update(parse_content_for_reasoning=lambda text: (None, text))  # not of streams
    message = importlib.import_module("litellm.types.utils").Message
    wrapper = importlib.import_module(STREAMS).CustomStreamWrapper
    whole, piece = message.__init__, wrapper.handle_openai_chat_completion_chunk

    @wraps(whole)
    def taken(self: Any, content: object = None, *given: Any, **named: Any) -> None:  # noqa: ANN401
        whole(self, text_of(content), *given, **named)

    @wraps(piece)
    def handled(self: Any, chunk: Any) -> Any:  # noqa: ANN401 (of a module loaded late)
        for choice in getattr(chunk, "choices", None) or ():
            if choice.delta is not None and isinstance(choice.delta.content, list):
                choice.delta.content = text_of(choice.delta.content)
            if not choice.index and (said := getattr(choice.delta, "refusal", None)):
                vars(self).setdefault("refusals", []).append(str(said))
        return piece(self, chunk)

    message.__init__, wrapper.handle_openai_chat_completion_chunk = taken, handled


_reasons: ContextVar[list[str] | None] = ContextVar("reasons", default=None)


@contextmanager
def noting_reasons() -> Iterator[list[str]]:
    """Collect the reasons for which answers end, as providers give them, in their order.

    LiteLLM makes "stop" of every reason that it does not know, some of which mean that the text
    was cut off.
    """
    reasons: list[str] = []
    token = _reasons.set(reasons)
    try:
        yield reasons
    finally:
        _reasons.reset(token)


class _Noted(dict[str, str]):
    """LiteLLM's table of reasons, which notes what is looked up in it."""

    def get(self, reason: str, default: Any = None) -> Any:  # noqa: ANN401 (as a dictionary's)
        """Return the reason as LiteLLM calls it."""
        if (reasons := _reasons.get()) is not None and reason:
            reasons.append(storable(str(reason)))
        return super().get(reason, default)


def _spare_work(library: Any) -> None:  # noqa: ANN401 (a module)
    """Leave out what nobody reads here: two fifths of the processor time of a call.

    At the end of a stream the answer is put together twice, in threads, for logs; and each
    answer is priced for them, though ``usage_of`` and the gateway keep its tokens and its price.
    """
    vars(library).update(stream_chunk_builder=_nothing)
    vars(importlib.import_module(STREAMS)).update(asyncify=_at_once)
    logs = importlib.import_module(LOGS)
    logs.Logging.response_cost_calculator = _nothing


def usage_of(chunks: Sequence[Any]) -> Any:  # noqa: ANN401 (of a module loaded late)
    """Return the tokens that a provider counted in a stream, or None if it counted none."""
    counted = [chunk.usage for chunk in chunks if getattr(chunk, "usage", None)]
    if not counted:
        return None  # else LiteLLM counts by itself, with some tokenizer
    if len(counted) == 1 and counted[0].prompt_tokens and counted[0].completion_tokens:
        return counted[0]
    try:  # some providers count the question at the start and the answer at the end
        return litellm().main.stream_chunk_builder(chunks=[*chunks]).usage
    except litellm().APIError:  # an answer that is paid for is worth more than its count
        return None


def _nothing(*_given: object, **_named: object) -> None:
    """Stand in for what is not wanted."""


def _at_once(function: Callable[..., object]) -> Callable[..., Awaitable[object]]:
    """Stand in for what would start a thread, of which each stream would have one of its own."""

    async def call(*given: object, **named: object) -> object:
        return function(*given, **named)

    return call


def missing_keys(model: str) -> list[str]:
    """Name the variables that LiteLLM would take a key from and that are not set."""
    return [str(name) for name in litellm().validate_environment(model)["missing_keys"]]


def listed_price(model: str) -> dict[str, float] | None:
    """Return what LiteLLM lists for this very model: US dollars for a million tokens each way.

    None if it lists nothing, or nothing above zero. LiteLLM itself calls a call free when it
    lists no price, and prices some unknown models by their size.
    """
    try:
        _, provider, _, _ = litellm().get_llm_provider(model)
    except litellm().BadRequestError:  # a provider that it does not know
        return None
    prices = litellm().model_cost
    for name in (model, model.removeprefix(f"{provider}/")):
        entry = prices.get(name, {})
        each = [entry.get(f"{way}_cost_per_token") for way in ("input", "output")]
        if entry.get("litellm_provider") == provider and all(each):
            return {"input": 1e6 * each[0], "output": 1e6 * each[1]}
    return None


def warm_up() -> None:
    """Load LiteLLM now, which takes seconds, so that the first call need not wait for it."""
    litellm()


def _forget_empty_keys() -> None:
    """Take an empty key for none, as compose files give one that was not set."""
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        if not os.environ[name].strip():
            del os.environ[name]


def _spare_loopback() -> None:
    """Keep calls to this machine out of any proxy that the environment sets."""
    spared = [
        host
        for name in ("NO_PROXY", "no_proxy")
        for host in os.environ.get(name, "").split(",")
        if host.strip()
    ]
    value = ",".join(dict.fromkeys([*spared, *LOOPBACK]))
    os.environ.update(NO_PROXY=value, no_proxy=value)
