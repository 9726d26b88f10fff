"""Accounts of providers in Redis, for all workers; a module of its own as Redis loads slowly."""

from pathlib import Path
from typing import Any

import redis
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from completions.llm.limiter import OutOfReachError, Seconds, Unused
from completions.llm.limits import NONE, BucketOffer, BucketRequest, ProviderLimits

SCRIPT = Path(__file__).with_name("redis_accounts.lua").read_text(encoding="utf-8")
ANSWER_S = 2.0
"""How long Redis may take to answer."""
CONNECTIONS = 4


class InRedis:
    """Accounts that all processes share; each act is one script, in the time of the server.

    Nothing is lost with the keys but what was used in the last seconds: accounts begin anew.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str,
        clock: Seconds | None = None,
        answer_s: float = ANSWER_S,
    ) -> None:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=CONNECTIONS,
            timeout=answer_s,
            socket_timeout=answer_s,
            socket_connect_timeout=answer_s,
            retry=Retry(NoBackoff(), 0),  # who waits for Redis, and how long, is decided above
            decode_responses=True,
        )
        self._redis = Redis.from_pool(pool)
        self._script = self._redis.register_script(SCRIPT)
        self._prefix = prefix
        self._clock = clock

    async def take(self, request: BucketRequest, limits: ProviderLimits) -> BucketOffer:
        """Take the next turn if it comes soon enough."""
        given = (request.place, request.n_tokens, request.lease_s, request.patience_s)
        outcome, wait_s = await self._act("take", request.provider, limits, *given)
        return BucketOffer(outcome == "taken", float(wait_s) if wait_s else None)

    async def settle(self, request: BucketRequest, limits: ProviderLimits, unused: Unused) -> None:
        """Free the place and give back what was not used."""
        given = (request.place, unused.n_requests, unused.n_tokens)
        await self._act("settle", request.provider, limits, *given)

    async def block(self, provider: str, seconds: float) -> None:
        """Let nobody ask the provider for some time."""
        await self._act("block", provider, NONE, seconds)

    async def blocked_s(self, provider: str) -> float:
        """Return for how long nobody may ask the provider."""
        return float(await self._act("blocked", provider, NONE))

    async def close(self) -> None:
        """Let go of connections."""
        await self._redis.aclose()

    async def _act(
        self, act: str, provider: str, limits: ProviderLimits, *given: float | str
    ) -> Any:  # noqa: ANN401 (as Redis answers)
        now = "" if self._clock is None else self._clock()
        account = f"{self._prefix}llm:{provider}"
        rates = (limits.requests_per_minute, limits.tokens_per_minute, limits.concurrency)
        numbers = [act, now, *(rate or 0 for rate in rates), *given]
        try:
            return await self._script(keys=[account, f"{account}:places"], args=numbers)
        except (redis.RedisError, OSError) as error:
            raise OutOfReachError(str(error) or type(error).__name__) from error
