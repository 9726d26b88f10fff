"""Wait until a provider's limits allow a call; accounts are in this process or shared in Redis."""

import asyncio
import logging
import math
import threading
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from completions.llm.limits import (
    NONE,
    Account,
    BucketOffer,
    BucketRequest,
    Pace,
    ProviderLimits,
    limits_of,
)

Seconds = Callable[[], float]
"""A clock."""


class OutOfReachError(RuntimeError):
    """The accounts cannot be reached just now."""


@dataclass(frozen=True)
class Unused:
    """What a question was charged and did not use; tokens below zero: it used more."""

    n_requests: int = 0
    n_tokens: int = 0


class Backend(Protocol):
    """Keeper of the accounts; each method is one act that nobody else can come between.

    A keeper elsewhere raises OutOfReachError when it does not answer.
    """

    async def take(self, request: BucketRequest, limits: ProviderLimits) -> BucketOffer:
        """Take the next turn if it comes soon enough."""

    async def settle(self, request: BucketRequest, limits: ProviderLimits, unused: Unused) -> None:
        """Free the place and give back what was not used."""

    async def block(self, provider: str, seconds: float) -> None:
        """Let nobody ask the provider for some time."""

    async def blocked_s(self, provider: str) -> float:
        """Return for how long nobody may ask the provider."""


@dataclass
class InProcess:
    """Accounts in the memory of this process."""

    clock: Seconds
    _accounts: defaultdict[str, Account] = field(default_factory=lambda: defaultdict(Account))
    _turn: threading.Lock = field(default_factory=threading.Lock)

    async def take(self, request: BucketRequest, limits: ProviderLimits) -> BucketOffer:
        """Take the next turn if it comes soon enough."""
        with self._turn:
            return self._accounts[request.provider].take(request, limits, self.clock())

    async def settle(self, request: BucketRequest, limits: ProviderLimits, unused: Unused) -> None:
        """Free the place and give back what was not used."""
        back = {"n_requests": unused.n_requests, "n_tokens": unused.n_tokens}
        with self._turn:
            account = self._accounts[request.provider]
            account.settle(request.place, limits, self.clock(), **back)

    async def block(self, provider: str, seconds: float) -> None:
        """Let nobody ask the provider for some time."""
        with self._turn:
            self._accounts[provider].block(seconds, self.clock())

    async def blocked_s(self, provider: str) -> float:
        """Return for how long nobody may ask the provider."""
        with self._turn:
            return self._accounts[provider].blocked_s(self.clock())


RETRY_WAITS_S = (0.1, 0.4, 1.0, 2.0)
"""How long Redis is waited for before a process goes on without it."""
AWAY_S = 30.0
"""After this time without it, one question asks it again."""
FREE_S = 0.5
"""For so long a provider without limits counts as not blocked once that was seen."""
SHARE = 4
"""Alone, a process uses a quarter of each limit: it does not know how many others there are."""

Sleep = Callable[[float], Awaitable[None]]
Returned = TypeVar("Returned")
_log = logging.getLogger(__name__)


class Guarded:
    """Accounts shared by all, with one's own to fall back on; never fails for want of Redis."""

    def __init__(
        self, shared: Backend, own: Backend, *, clock: Seconds, sleep: Sleep = asyncio.sleep
    ) -> None:
        self._shared, self._own = shared, own
        self._clock, self._sleep = clock, sleep
        self._away_until: float | None = None
        self._own_places: set[str] = set()
        self._free_until: dict[str, float] = {}

    async def take(self, request: BucketRequest, limits: ProviderLimits) -> BucketOffer:
        """Take the next turn if it comes soon enough."""
        if limits == NONE and self._clock() < self._free_until.get(request.provider, -math.inf):
            return await self._own.take(request, limits)  # spares Redis a question for each call
        offer = await self._patiently(lambda: self._shared.take(request, limits))
        if offer is not None and offer.is_taken:
            self._free_until[request.provider] = self._clock() + FREE_S
        if offer is None:
            offer = await self._own.take(request, limits.part(SHARE))
            if offer.is_taken:
                self._own_places.add(request.place)
        return offer

    async def settle(self, request: BucketRequest, limits: ProviderLimits, unused: Unused) -> None:
        """Free the place and give back what was not used; out of reach, it frees itself."""
        if request.place in self._own_places:
            self._own_places.discard(request.place)
            await self._own.settle(request, limits.part(SHARE), unused)
        elif not self._is_away:
            await self._once(lambda: self._shared.settle(request, limits, unused))

    async def block(self, provider: str, seconds: float) -> None:
        """Let nobody ask the provider for some time; oneself in any case."""
        await self._own.block(provider, seconds)
        await self._patiently(lambda: self._shared.block(provider, seconds))

    async def blocked_s(self, provider: str) -> float:
        """Return for how long nobody may ask the provider."""
        shared = await self._patiently(lambda: self._shared.blocked_s(provider))
        return await self._own.blocked_s(provider) if shared is None else shared

    @property
    def _is_away(self) -> bool:
        return self._away_until is not None and self._clock() < self._away_until

    async def _patiently(self, act: Callable[[], Awaitable[Returned]]) -> Returned | None:
        """Do something with the shared accounts, or return None while they are out of reach."""
        waits = RETRY_WAITS_S if self._away_until is None else ()
        for wait_s in (*waits, None):
            if self._is_away:
                return None
            try:
                done = await act()
            except OutOfReachError as error:
                if wait_s is None:
                    self._leave(error)
                else:
                    await self._sleep(wait_s)
            else:
                self._come_back()
                return done
        return None

    async def _once(self, act: Callable[[], Awaitable[None]]) -> None:
        try:
            await act()
        except OutOfReachError as error:
            _log.debug("Limits not settled: %s", error)

    def _leave(self, error: OutOfReachError) -> None:
        if self._away_until is None:
            _log.warning(
                "Redis is out of reach (%s). This process keeps to a quarter of the limits of "
                "model providers by itself until Redis is back.",
                error,
            )
        self._away_until = self._clock() + AWAY_S

    def _come_back(self) -> None:
        if self._away_until is not None:
            _log.warning("Redis is back: limits of model providers are shared again.")
        self._away_until = None


POLL_S = 0.5
"""How often those who wait for a place look for one that another process has freed."""
FULL_S = 2.0
"""Who found no place comes again after this time at the soonest."""


class NoTurnError(RuntimeError):
    """A provider cannot be asked within the time that one would wait for it."""

    def __init__(self, provider: str, wait_s: float) -> None:
        super().__init__(f"{provider} takes no more questions for {wait_s:.0f} s.")
        self.wait_s = wait_s


@dataclass
class ProviderTurn:
    """A turn at a provider."""

    n_tokens_used: int | None = None
    """As the provider counted; ``None``: nobody knows, and the estimate stands."""


class Limiter:
    """Lets questions through as fast as the limits of their providers allow."""

    def __init__(
        self,
        backend: Backend,
        limits: Mapping[str, ProviderLimits],
        *,
        clock: Seconds,
        sleep: Sleep = asyncio.sleep,
        at_once: int = 32,
    ) -> None:
        self._backend, self._limits = backend, limits
        self._clock, self._sleep, self._at_once = clock, sleep, at_once
        self._waiting: defaultdict[str, list[asyncio.Future[None]]] = defaultdict(list)
        self._paces: dict[str, Pace] = {}

    @asynccontextmanager
    async def place(
        self, provider: str, *, n_tokens: int, lease_s: float, patience_s: float
    ) -> AsyncIterator[ProviderTurn]:
        """Wait for a turn, and hold a place until the block ends.

        Raises
        ------
        NoTurnError
            If that would take longer than ``patience_s``; it says when to come again.
        """
        request = BucketRequest(
            place=uuid.uuid4().hex,
            provider=provider,
            n_tokens=n_tokens,
            lease_s=lease_s,
            patience_s=patience_s,
        )
        await self._come_in(request)
        held, since = ProviderTurn(), self._clock()
        try:
            yield held
            self._pace(provider).held(self._clock() - since)
        finally:
            used = n_tokens if held.n_tokens_used is None else held.n_tokens_used
            await self._settle(request, Unused(n_tokens=n_tokens - used))

    async def block(self, provider: str, seconds: float) -> None:
        """Have all workers leave a provider alone, as it asked."""
        await self._backend.block(provider, seconds)

    async def _come_in(self, request: BucketRequest) -> None:
        """Take a turn and wait for it."""
        limits, waited = limits_of(request.provider, self._limits), 0.0
        while True:
            left = replace(request, patience_s=request.patience_s - waited)
            offer = await self._backend.take(left, limits)
            if not offer.is_taken:
                self._check_patience(left, offer, limits)
                waited += await self._wait(request.provider, offer.wait_s)
            elif await self._waited_out(request, offer.wait_s or 0.0):
                return
            else:
                waited += offer.wait_s or 0.0

    def _check_patience(
        self, request: BucketRequest, offer: BucketOffer, limits: ProviderLimits
    ) -> None:
        """Give up on a turn that comes too late, or on a place that many others wait for.

        More of one process than there are places would only keep it from asking other providers.
        """
        wait_s = POLL_S if offer.wait_s is None else offer.wait_s
        n_waiting = len(self._waiting[request.provider])
        is_crowded = offer.wait_s is None and n_waiting >= (limits.concurrency or 0)
        if wait_s > request.patience_s or is_crowded:
            wait_s = FULL_S if offer.wait_s is None else offer.wait_s
            pace = self._pace(request.provider)
            turn_s = pace.next_turn_s(wait_s, limits, request.n_tokens, self._clock())
            raise NoTurnError(request.provider, turn_s)

    async def _waited_out(self, request: BucketRequest, wait_s: float) -> bool:
        """Wait for the turn; a provider that was blocked meanwhile has taken it away."""
        if wait_s == 0:
            return True
        came_through = False
        try:
            await self._sleep(wait_s)
            came_through = not await self._backend.blocked_s(request.provider)
        finally:
            if not came_through:
                await self._settle(request, Unused(n_requests=1, n_tokens=request.n_tokens))
        return came_through

    async def _wait(self, provider: str, wait_s: float | None) -> float:
        """Wait, for no known time until this process frees a place; return what was in vain."""
        if wait_s is not None:
            await self._sleep(wait_s)
            return wait_s
        freed = asyncio.get_running_loop().create_future()
        self._waiting[provider].append(freed)
        nap = asyncio.ensure_future(self._sleep(POLL_S))
        try:
            await asyncio.wait({freed, nap}, return_when=asyncio.FIRST_COMPLETED)
            return 0.0 if freed.done() else POLL_S
        finally:
            nap.cancel()
            if not freed.done():
                self._waiting[provider].remove(freed)

    async def _settle(self, request: BucketRequest, unused: Unused) -> None:
        limits = limits_of(request.provider, self._limits)
        has_changed = unused.n_requests or (unused.n_tokens and limits.tokens_per_minute)
        if limits.concurrency is not None or has_changed:
            await self._backend.settle(request, limits, unused)
        if self._waiting[request.provider]:
            self._waiting[request.provider].pop(0).set_result(None)

    def _pace(self, provider: str) -> Pace:
        return self._paces.setdefault(provider, Pace(self._at_once))
