"""Wait for one's turn at a provider, or learn when to come again."""

import asyncio
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from completions.llm.limiting.backends import Backend, Seconds, Sleep, Unused
from completions.llm.limiting.buckets import BucketOffer, BucketRequest
from completions.llm.limiting.limits import Pace, ProviderLimits, limits_of

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

    async def close(self) -> None:
        """Let go of connections."""
        await self._backend.close()

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
