"""Speak to a provider when it is one's turn, at an address that may be asked."""

import asyncio
import datetime as dt
import importlib
import os
import time
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from django.conf import settings

from access.webhooks import outgoing
from completions import llm
from completions.llm import limits
from completions.llm.exchange import CONFIGURATION
from completions.llm.limiter import Backend, Guarded, InProcess, Limiter, NoTurnError

PATIENCE_S = 20.0
"""A call whose turn comes later gives its claim back, so that others are asked meanwhile."""
LONG_PATIENCE_S = 120.0
"""How long to wait where giving up would lose an answer that is paid for."""
LEASE_SLACK_S = 30.0
"""A place is lent for longer than its call may take, so that only the dead lose theirs."""
CHARACTERS_PER_TOKEN = 3
"""Fewer than texts have, so that what a question takes is not guessed too low."""
NOT_ASKED = "not_asked"
_RATE_LIMITED = "rate_limited"

Clock = Callable[[], dt.datetime]

_modes: dict[tuple[str, str], str] = {}
"""How models that refuse a schema are asked for JSON, by their id and address."""
_limiters: WeakKeyDictionary[asyncio.AbstractEventLoop, Limiter] = WeakKeyDictionary()


class NotAskedError(llm.TransientError):
    """The provider was not asked: its limits would have one wait for too long.

    It says when to come again, costs nothing and is no attempt.
    """


async def ask_provider(
    request: llm.Request, *, clock: Clock, patience_s: float = PATIENCE_S
) -> llm.Reply:
    """Ask a model once, when the limits of its provider have room.

    A provider that says to wait is left alone by all workers for as long.

    Raises
    ------
    NotAskedError
        If there is no room within ``patience_s``.
    ProviderError
        As ``llm.complete`` does.
    """
    limiter, provider = _limiter(clock), provider_of(request)
    place = limiter.place(
        provider,
        n_tokens=requested_tokens(request),
        lease_s=request.timeout_s + LEASE_SLACK_S,
        patience_s=patience_s,
    )
    try:
        async with place as held:
            try:
                await check_address(request)
                reply = await _in_a_way_it_takes(request)
            except llm.ProviderError as error:
                held.n_tokens_used = _tokens_used(error.reply)
                await _leave_alone(limiter, provider, error)
                raise
            held.n_tokens_used = _tokens_used(reply)
            return reply
    except NoTurnError as error:
        raise NotAskedError(str(error), kind=NOT_ASKED, retry_after_s=error.wait_s) from error


async def _in_a_way_it_takes(request: llm.Request) -> llm.Reply:
    """Ask for JSON as the model's entry states, or in the first way that it does not refuse.

    A refusal costs nothing. What the model takes is remembered by this process.
    """
    if request.response_schema is None or request.schema_mode:
        return await llm.complete(request)
    model = (request.model, address_of(request))
    first = llm.SCHEMA_MODES.index(_modes.get(model, llm.SCHEMA_MODES[0]))
    for mode in llm.SCHEMA_MODES[first:-1]:
        try:
            return await llm.complete(replace(request, schema_mode=mode))
        except llm.PermanentError as error:
            if not llm.refuses_schema(error):
                raise
        _modes[model] = llm.SCHEMA_MODES[llm.SCHEMA_MODES.index(mode) + 1]
    return await llm.complete(replace(request, schema_mode=llm.SCHEMA_MODES[-1]))


def provider_of(request: llm.Request) -> str:
    """Name the provider that a question goes to, as the limits do."""
    return limits.provider_of(request.model, address_of(request))


def requested_tokens(request: llm.Request) -> int:
    """Return about how many tokens a question and the longest answer take."""
    n_characters = sum(len(message["content"]) for message in request.messages)
    return n_characters // CHARACTERS_PER_TOKEN + request.max_tokens


def _tokens_used(reply: llm.Reply | None) -> int | None:
    if reply is None or reply.n_prompt_tokens is None or reply.n_completion_tokens is None:
        return None
    return reply.n_prompt_tokens + reply.n_completion_tokens


async def _leave_alone(limiter: Limiter, provider: str, error: llm.ProviderError) -> None:
    """Pass on to all workers that a provider wants to be left alone."""
    wait_s = error.retry_after_s if isinstance(error, llm.TransientError) else None
    if wait_s and error.kind == _RATE_LIMITED:
        await limiter.block(provider, wait_s)


def _limiter(clock: Clock) -> Limiter:
    """Return the limiter of the running loop; a forked worker has a loop, and one, of its own."""
    loop = asyncio.get_running_loop()
    if (found := _limiters.get(loop)) is None:
        found = _limiters[loop] = _new_limiter(clock)
    return found


def _new_limiter(clock: Clock) -> Limiter:
    def seconds() -> float:
        return clock().timestamp()

    backend: Backend = InProcess(seconds)
    url = settings.CELERY_BROKER_URL
    if url.startswith("redis"):
        prefix = settings.CELERY_BROKER_TRANSPORT_OPTIONS.get("global_keyprefix", "")
        shared = importlib.import_module("completions.llm.redis_accounts")  # Redis loads slowly
        backend = Guarded(shared.InRedis(url, prefix=prefix), backend, clock=time.monotonic)
    return Limiter(
        backend,
        settings.HEART_LLM_LIMITS,
        clock=seconds,
        at_once=settings.HEART_LLM_CONCURRENCY,
    )


def trusted_hosts() -> tuple[str, ...]:
    """Return the hosts of closed networks that models may be asked at."""
    offline = urlsplit(settings.HEART_OFFLINE_LLM_URL).hostname
    return (*settings.HEART_LLM_HOSTS, *([offline] if offline else []))


def address_of(request: llm.Request) -> str:
    """Return the address of one's own that a question goes to; empty for the provider's."""
    return request.api_base or os.environ.get(request.api_base_env, "")


async def check_address(request: llm.Request) -> None:
    """Refuse an address of one's own that leads into a network which the site does not name.

    A name that cannot be looked up is left to the call, which fails for the same reason.

    Raises
    ------
    PermanentError
        If a number behind the host is not a public one, and no setting trusts the host; or if
        there is no telling where the call would go.
    """
    host, port = _host_of(request)
    rules = outgoing.Rules(trusted_hosts=trusted_hosts())
    if not host or rules.trusts(host):
        return
    try:
        numbers = await asyncio.to_thread(outgoing.resolve, host, port)
        outgoing.check_ip(host, numbers, rules)
    except outgoing.AddressError as error:
        msg = f"Not asked: {error}. HEART_LLM_HOSTS names the inner hosts that may be."
        raise llm.PermanentError(msg, kind=CONFIGURATION) from error
    except (OSError, UnicodeError):
        return


def _host_of(request: llm.Request) -> tuple[str, int]:
    """Return host and port of an address of one's own; no host for the provider's."""
    try:
        address = urlsplit(address_of(request))
        port = address.port or outgoing.PORTS.get(address.scheme, 443)
    except ValueError as error:
        msg = f"Not asked: the address is none ({error})."
        raise llm.PermanentError(msg, kind=CONFIGURATION) from error
    if "://" in request.model:  # where LiteLLM would follow it past all that is checked here
        msg = "Not asked: an address is no part of a model's id."
        raise llm.PermanentError(msg, kind=CONFIGURATION)
    return address.hostname or "", port
