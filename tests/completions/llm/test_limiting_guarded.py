"""Limits while Redis is out of reach: careful, patient for a moment, and never in the way."""

import asyncio
import logging

import pytest

from completions.llm.limiting import (
    BucketOffer,
    BucketRequest,
    Guarded,
    InProcess,
    OutOfReachError,
    ProviderLimits,
    Unused,
)
from completions.llm.limiting.backends import AWAY_S, FREE_S, RETRY_WAITS_S
from tests.helpers.observed import now, run

FOUR = ProviderLimits(concurrency=4)


class Shared(InProcess):
    """Accounts that others keep, and that may be out of reach."""

    def __init__(self) -> None:
        super().__init__(now)
        self.is_there = True
        self.n_asked = 0

    async def take(self, wanted: BucketRequest, limits: ProviderLimits) -> BucketOffer:
        self._reach()
        return await super().take(wanted, limits)

    async def settle(self, wanted: BucketRequest, limits: ProviderLimits, unused: Unused) -> None:
        self._reach()
        await super().settle(wanted, limits, unused)

    async def block(self, provider: str, seconds: float) -> None:
        self._reach()
        await super().block(provider, seconds)

    async def blocked_s(self, provider: str) -> float:
        self._reach()
        return await super().blocked_s(provider)

    def _reach(self) -> None:
        self.n_asked += 1
        if not self.is_there:
            msg = "Connection refused."
            raise OutOfReachError(msg)


class Worker:
    """A process with its guarded accounts, whose sleep passes virtual time."""

    def __init__(self) -> None:
        self.shared = Shared()
        self.accounts = Guarded(self.shared, InProcess(now), clock=now, sleep=self._sleep)
        self.slept: list[float] = []
        self.comes_back_after: int | None = None

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if len(self.slept) == self.comes_back_after:
            self.shared.is_there = True
        await asyncio.sleep(seconds)

    async def take(self, place: str) -> bool:
        return (await self.accounts.take(wanted(place), FOUR)).is_taken


def wanted(place: str) -> BucketRequest:
    return BucketRequest(place=place, provider="p", n_tokens=0, lease_s=600, patience_s=20)


def test_with_redis_the_whole_limits_are_shared():
    async def main():
        worker = Worker()
        return [await worker.take(place) for place in "abcde"]

    assert run(main()) == [True] * 4 + [False]


def test_a_short_outage_is_waited_out(caplog):
    async def main():
        worker = Worker()
        worker.shared.is_there = False
        worker.comes_back_after = 2
        return [await worker.take(place) for place in "abcd"], worker.slept

    with caplog.at_level(logging.WARNING):
        assert run(main()) == ([True] * 4, list(RETRY_WAITS_S[:2]))
    assert not caplog.records


def test_without_redis_a_process_keeps_to_a_quarter_by_itself_and_says_so_once(caplog):
    async def main():
        worker = Worker()
        worker.shared.is_there = False
        taken = [await worker.take(place) for place in "ab"]
        await worker.accounts.settle(wanted("a"), FOUR, Unused())
        return [*taken, await worker.take("c")], worker.slept, now()

    with caplog.at_level(logging.WARNING):
        taken, slept, took_s = run(main())
    assert taken == [True, False, True]
    assert slept == list(RETRY_WAITS_S)  # once, and not for each question
    assert took_s == pytest.approx(sum(RETRY_WAITS_S))
    (record,) = caplog.records
    assert "quarter of the limits" in record.message
    assert "Connection refused." in record.message


def test_many_questions_at_once_wait_for_redis_together(caplog):
    async def main():
        worker = Worker()
        worker.shared.is_there = False
        await asyncio.gather(*(worker.take(str(n)) for n in range(8)))
        return now()

    with caplog.at_level(logging.WARNING):
        assert run(main()) == pytest.approx(sum(RETRY_WAITS_S))
    assert len(caplog.records) == 1


def test_redis_is_tried_again_after_a_while_and_taken_up_when_it_is_back(caplog):
    async def main():
        worker = Worker()
        worker.shared.is_there = False
        await worker.take("a")
        n_asked = worker.shared.n_asked
        await worker.take("b")
        assert worker.shared.n_asked == n_asked  # not yet
        await asyncio.sleep(AWAY_S)
        await worker.take("b")
        assert worker.shared.n_asked == n_asked + 1  # in vain, and without waiting
        worker.shared.is_there = True
        await asyncio.sleep(AWAY_S)
        return [await worker.take(place) for place in "cdef"]

    with caplog.at_level(logging.WARNING):
        assert run(main()) == [True] * 4
    assert ["out of reach" in one.message for one in caplog.records] == [True, False]


def test_a_provider_without_limits_is_not_asked_about_for_each_call():
    async def main():
        worker = Worker()
        for _ in range(100):
            assert (await worker.accounts.take(wanted("a"), ProviderLimits())).is_taken
        assert worker.shared.n_asked == 1
        await Shared.block(worker.shared, "p", 60)  # by another worker
        await asyncio.sleep(FREE_S)
        return await worker.accounts.take(wanted("a"), ProviderLimits())

    offer = run(main())
    assert (offer.is_taken, offer.wait_s) == (False, 60 - FREE_S)


def test_a_pause_asked_of_oneself_holds_at_once():
    async def main():
        worker = Worker()
        await worker.accounts.take(wanted("a"), ProviderLimits())
        await worker.accounts.block("p", 60)
        return await worker.accounts.take(wanted("a"), ProviderLimits())

    assert not run(main()).is_taken


def test_a_provider_that_asked_to_be_left_alone_is_left_alone_without_redis():
    async def main():
        worker = Worker()
        await worker.accounts.block("p", 3000)
        worker.shared.is_there = False
        return await worker.accounts.blocked_s("p"), await worker.take("a")

    blocked_s, is_taken = run(main())
    assert 2900 < blocked_s <= 3000
    assert not is_taken


def test_a_place_that_cannot_be_given_back_fails_no_call():
    async def main():
        worker = Worker()
        await worker.take("a")
        worker.shared.is_there = False
        await worker.accounts.settle(wanted("a"), FOUR, Unused())
        await worker.take("b")
        await worker.accounts.settle(wanted("a"), FOUR, Unused())
        return worker.slept

    assert run(main()) == list(RETRY_WAITS_S)
