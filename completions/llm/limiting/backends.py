"""Where accounts of providers are kept: in a process, or shared and sometimes out of reach."""

import asyncio
import logging
import math
import threading
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from completions.llm.limiting.buckets import Account, BucketOffer, BucketRequest
from completions.llm.limiting.limits import NONE, ProviderLimits

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

    async def close(self) -> None:
        """Let go of connections."""


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

    async def close(self) -> None:
        """Do nothing: there are no connections."""


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

    async def close(self) -> None:
        """Let go of connections."""
        await self._shared.close()
        await self._own.close()

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
