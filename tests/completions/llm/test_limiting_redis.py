"""Limits in Redis: kept together by several workers, like those in memory, and lost harmlessly."""

import asyncio
import itertools
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from completions.llm.limiter import InProcess, OutOfReachError, Unused
from completions.llm.limits import LONGEST_BLOCK_S, ProviderLimits
from completions.llm.redis_accounts import InRedis
from tests.completions.llm.conftest import wanted
from tests.helpers.processes import flush

ROOT = Path(__file__).resolve().parents[3]
SIXTY = ProviderLimits(requests_per_minute=60 * 60)  # sixty may begin at once
NOW = 1_800_000_000.0
PATIENCE_S = 60.0
"""A busy machine must not look like a server that is away."""


@asynccontextmanager
async def accounts(url: str, prefix: str, at: float | None = NOW) -> AsyncIterator[InRedis]:
    """Accounts at a time that stands still; ``None``: in the time of the server."""
    clock = None if at is None else lambda: at
    backend = InRedis(url, prefix=prefix, clock=clock, answer_s=PATIENCE_S)
    try:
        yield backend
    finally:
        await backend.close()


async def take_many(url: str, prefix: str, limits: ProviderLimits, n: int = 60) -> int:
    """Return how many of ``n`` questions may be asked at once."""
    async with accounts(url, prefix) as backend:
        places = [wanted(uuid.uuid4().hex, patience_s=0) for _ in range(n)]
        offers = await asyncio.gather(*(backend.take(place, limits) for place in places))
        return sum(offer.is_taken for offer in offers)


class TestTogether:
    @pytest.mark.parametrize(
        ("limits", "n"),
        [(SIXTY, 60), (ProviderLimits(concurrency=25), 25), (ProviderLimits(), 120)],
    )
    def test_two_threads_take_no_more_than_the_limit(self, redis_url, prefix, limits, n):
        def work(_: int) -> int:
            return asyncio.run(take_many(redis_url, prefix, limits))

        with ThreadPoolExecutor(2) as pool:
            taken = list(pool.map(work, range(2)))

        assert sum(taken) == n

    @pytest.mark.full
    def test_two_processes_take_no_more_than_the_limit(self, redis_url, prefix):
        code = (
            "import asyncio; from tests.completions.llm import test_limiting_redis as it;"
            f"print(asyncio.run(it.take_many({redis_url!r}, {prefix!r}, it.SIXTY)))"
        )
        command = [sys.executable, "-c", code]
        workers = [
            subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)
        ]

        taken = [int(worker.communicate()[0]) for worker in workers]
        assert sum(taken) == 60

    def test_a_block_from_a_clock_since_set_back_is_none(self, redis_url, prefix):
        async def main():
            async with (
                accounts(redis_url, prefix) as one,
                accounts(redis_url, prefix, NOW - 1) as other,
            ):
                await one.block("p", 1e9)
                return await one.blocked_s("p"), await other.blocked_s("p")

        assert asyncio.run(main()) == (LONGEST_BLOCK_S, 0)

    def test_sites_with_another_prefix_are_not_in_the_way(self, redis_url, prefix):
        async def main():
            async with accounts(redis_url, prefix) as one, accounts(redis_url, prefix + "b") as two:
                await one.block("p", 30)
                return await two.take(wanted(), ProviderLimits())

        assert asyncio.run(main()).is_taken


def test_the_time_is_the_servers(redis_url, prefix):
    async def main():
        async with accounts(redis_url, prefix, at=None) as backend:
            await backend.block("p", 3600)
            return await backend.blocked_s("p")

    assert 3500 < asyncio.run(main()) <= 3600


def test_keys_do_not_stay_for_ever(redis_url, prefix):
    limits = ProviderLimits(requests_per_minute=60, concurrency=1)

    async def main():
        async with accounts(redis_url, prefix) as backend:
            await backend.take(wanted(), limits)
            await backend.block("q", 5)

    asyncio.run(main())
    with redis.Redis.from_url(redis_url) as client:
        left = [client.ttl(key) for key in client.scan_iter(f"{prefix}*")]
    assert len(left) == 3
    assert all(seconds > 3600 for seconds in left)


def test_after_everything_is_flushed_accounts_begin_anew(redis_url, prefix):
    limits = ProviderLimits(requests_per_minute=60, tokens_per_minute=600, concurrency=1)

    async def main():
        async with accounts(redis_url, prefix) as backend:
            await backend.take(wanted("a", n_tokens=100), limits)
            await backend.block("p", 3000)
            flush(redis_url, prefix)
            await backend.settle(wanted("a"), limits, Unused(n_tokens=-5))
            first = await backend.take(wanted("b"), limits)
            second = await backend.take(wanted("c"), limits)
            return first, second

    first, second = asyncio.run(main())
    assert (first.is_taken, first.wait_s) == (True, 0)
    assert second.wait_s is None


def test_a_server_that_is_not_there_is_out_of_reach():
    async def main():
        async with accounts("redis://127.0.0.1:1/0", "heart-test:") as backend:
            await backend.take(wanted(), ProviderLimits())

    with pytest.raises(OutOfReachError):
        asyncio.run(main())


@pytest.mark.parametrize("passed", [0.0, 2.344, 7.0000004])
def test_a_block_of_no_time_is_none(redis_url, prefix, passed):
    """Times are kept to the millionth, which may be a little later than now."""

    async def main():
        twins = Twins(redis_url, prefix, ProviderLimits())
        try:
            await twins.do("pass", passed)
            await twins.do("block", 0.0)
            return await twins.do("take", 0, 0.0, 0.0)
        finally:
            await twins.backends[1].close()

    assert asyncio.run(main()) == [(True, 0), (True, 0)]


limits = st.builds(
    ProviderLimits,
    requests_per_minute=st.none() | st.integers(1, 300),
    tokens_per_minute=st.none() | st.integers(1, 5000),
    concurrency=st.none() | st.integers(1, 3),
)
seconds = st.floats(0, 60).map(lambda value: round(value, 3))
acts = st.one_of(
    st.tuples(st.just("take"), st.integers(0, 300), seconds, seconds),
    st.tuples(st.just("settle"), st.integers(0, 5), st.integers(0, 1), st.integers(-200, 200)),
    st.tuples(st.just("block"), seconds),
    st.tuples(st.just("blocked_s")),
    st.tuples(st.just("pass"), seconds),
)


class Twins:
    """The same acts in memory and in Redis, at the same times."""

    def __init__(self, url: str, prefix: str, limits: ProviderLimits) -> None:
        self.now, self.limits = NOW, limits
        self.backends = (
            InProcess(lambda: self.now),
            InRedis(url, prefix=prefix, clock=lambda: self.now, answer_s=PATIENCE_S),
        )
        self.names = map(str, itertools.count())

    async def do(self, act: str, *given: Any) -> list[Any]:
        if act == "pass":
            self.now += given[0]
            return [None, None]
        if act == "take":
            n_tokens, lease_s, patience_s = given
            timed = {"lease_s": lease_s, "patience_s": patience_s}
            place = wanted(next(self.names), n_tokens=n_tokens, **timed)
            offers = [await one.take(place, self.limits) for one in self.backends]
            return [(offer.is_taken, offer.wait_s) for offer in offers]
        if act == "settle":
            place, unused = wanted(str(given[0])), Unused(given[1], given[2])
            for one in self.backends:
                await one.settle(place, self.limits, unused)
            return [None, None]
        return [await getattr(one, act)("p", *given) for one in self.backends]


def like(value: Any) -> Any:
    """Compare times to the thousandth: Redis keeps the millionth."""
    if isinstance(value, tuple):
        return value[0], like(value[1])
    return None if value is None else pytest.approx(value, abs=1e-3)


def fall_apart_by_a_grain(in_memory: Any, in_redis: Any) -> bool:
    """Say whether one is taken now and the other a moment later: what follows differs rightly."""
    if not isinstance(in_memory, tuple) or in_memory[0] == in_redis[0]:
        return False
    waits = (in_memory[1], in_redis[1])
    return None not in waits and max(waits) < 1e-3


PLACES = [
    *(("take", 0, 60.0, 0.0), ("take", 0, 60.0, 0.0)),  # the second finds none
    *(("settle", 0, 0, 0), ("take", 0, 5.0, 2.0)),  # freed; its turn comes after a second
    *(("pass", 5.5), ("take", 0, 5.0, 2.0)),  # so does the end of its lease
    *(("pass", 0.5), ("take", 0, 5.0, 2.0)),  # the holder is dead
]


@settings(
    max_examples=80, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@example(ProviderLimits(requests_per_minute=60, concurrency=1), PLACES)
@given(given_limits=limits, given_acts=st.lists(acts, max_size=15))
def test_redis_counts_as_the_memory_does(redis_url, prefix, given_limits, given_acts):
    async def main() -> None:
        twins = Twins(redis_url, f"{prefix}{uuid.uuid4()}", given_limits)
        try:
            for act in given_acts:
                in_memory, in_redis = await twins.do(*act)
                if fall_apart_by_a_grain(in_memory, in_redis):
                    return
                assert in_redis == like(in_memory)
        finally:
            await twins.backends[1].close()

    asyncio.run(main())
