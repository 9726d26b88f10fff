"""Waiting for a turn: in order, not too long or in vain, and carefully while Redis is away."""

import asyncio
from typing import Any

import pytest

from completions.llm.limiter import (
    AWAY_S,
    FREE_S,
    FULL_S,
    RETRY_WAITS_S,
    Guarded,
    InProcess,
    Limiter,
    NoTurnError,
    OutOfReachError,
    Unused,
)
from completions.llm.limits import HURRY, BucketOffer, BucketRequest, ProviderLimits
from tests.completions.llm.conftest import wanted
from tests.helpers.observed import now, run

ONE_A_SECOND = ProviderLimits(requests_per_minute=60)


class Office:
    """A provider behind a limiter, that notes when each call began."""

    def __init__(self, limits: ProviderLimits, *, takes_s: float = 1.0) -> None:
        self.limiter = Limiter(InProcess(now), {"p": limits}, clock=now)
        self.takes_s = takes_s
        self.begun: list[float] = []
        self.sent_away: list[float] = []
        self.running = self.most = 0

    async def call(self, *, n_tokens: int = 0, used: int | None = None, patience_s: float = 20):
        place = self.limiter.place("p", n_tokens=n_tokens, lease_s=60, patience_s=patience_s)
        try:
            async with place as held:
                self.begun.append(round(now(), 6))
                await self._answer()
                held.n_tokens_used = used
        except NoTurnError as error:
            self.sent_away.append(round(error.wait_s, 6))

    async def _answer(self) -> None:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(self.takes_s)
        finally:
            self.running -= 1

    async def calls(self, n: int, **how: Any) -> None:
        await asyncio.gather(*(self.call(**how) for _ in range(n)))


def called(n: int, limits: ProviderLimits, *, takes_s: float = 1.0) -> Office:
    """Return the office after so many have called at the same moment."""

    async def main() -> Office:
        office = Office(limits, takes_s=takes_s)
        await office.calls(n)
        return office

    return run(main())


def test_a_provider_without_limits_is_asked_at_once():
    assert called(200, ProviderLimits()).begun == [0] * 200


def test_who_would_wait_for_too_long_is_told_when_to_come_one_after_the_other():
    office = called(26, ONE_A_SECOND)

    assert office.begun == list(range(21))
    assert office.sent_away == [21, 21.8, 22.6, 23.4, 24.2]


def test_those_sent_away_find_their_turn_when_they_come_as_told():
    async def main():
        office = Office(ONE_A_SECOND)
        await office.calls(60)
        tasks: list[asyncio.Task[None]] = []
        for due in list(office.sent_away):
            asyncio.get_running_loop().call_at(
                due, lambda: tasks.append(asyncio.ensure_future(office.call()))
            )
        await asyncio.sleep(100)
        await asyncio.gather(*tasks)
        return office.begun

    assert run(main()) == list(range(60))  # not a second lost


def test_tokens_that_were_not_used_let_the_next_call_begin_sooner():
    async def main(used):
        office = Office(ProviderLimits(tokens_per_minute=600), takes_s=0)
        await office.call(n_tokens=100, used=used)
        await office.call(n_tokens=10)
        return office.begun

    assert run(main(used=None)) == [0, 10]
    assert run(main(used=40)) == [0, 4]


def test_no_more_are_asked_at_once_than_there_are_places():
    office = called(6, ProviderLimits(concurrency=3))

    assert office.begun == [0, 0, 0, 1, 1, 1]  # a freed place is taken at once
    assert office.most == 3


def test_more_than_wait_for_a_place_sensibly_are_sent_to_other_providers():
    office = called(7, ProviderLimits(concurrency=3))

    assert len(office.begun) == 6
    assert office.sent_away == [FULL_S]


def test_who_finds_no_place_in_time_is_sent_away():
    office = called(2, ProviderLimits(concurrency=1), takes_s=30)

    assert office.begun == [0]
    assert office.sent_away == [FULL_S]


@pytest.mark.parametrize("error", [RuntimeError, asyncio.CancelledError])
def test_a_place_is_free_after_a_call_that_failed(error):
    async def main():
        office = Office(ProviderLimits(concurrency=1))
        with pytest.raises(error):
            async with office.limiter.place("p", n_tokens=0, lease_s=60, patience_s=20):
                raise error
        await office.call()
        return office.begun

    assert run(main()) == [0]


def test_who_gives_up_waiting_leaves_the_turn_to_others():
    async def main():
        office = Office(ProviderLimits(requests_per_minute=6, tokens_per_minute=600, concurrency=9))
        await office.call(n_tokens=1)
        waiting = asyncio.ensure_future(office.call(n_tokens=1))
        await asyncio.sleep(1)
        waiting.cancel()
        await asyncio.wait([waiting])
        await office.call(n_tokens=1)
        return office.begun

    assert run(main()) == [0, 10]


def test_who_gives_up_waiting_for_a_place_is_not_counted_any_more():
    async def main():
        office = Office(ProviderLimits(concurrency=1), takes_s=5)
        first = asyncio.ensure_future(office.call())
        waiting = asyncio.ensure_future(office.call())
        await asyncio.sleep(1)
        waiting.cancel()
        await asyncio.wait([waiting])
        await office.call()
        await first
        return office

    office = run(main())
    assert office.begun == [0, 5]
    assert not office.sent_away


def test_a_short_block_is_waited_for_and_a_long_one_is_not():
    async def main():
        office = Office(ProviderLimits())
        await office.limiter.block("p", 15)
        await office.calls(2)
        await office.limiter.block("p", 45)
        await office.calls(2)
        return office

    office = run(main())
    assert office.begun == [15, 15]
    assert office.sent_away == [45, 45 + HURRY / 32]  # at the speed of 32 at once, a second each


def test_a_block_takes_away_turns_that_were_promised():
    async def main():
        office = Office(ONE_A_SECOND)
        running = asyncio.ensure_future(office.calls(4))
        await asyncio.sleep(0.5)
        await office.limiter.block("p", 10)
        await running
        return office

    office = run(main())
    assert office.begun == [0, 10.5, 11.5, 12.5]
    assert not office.sent_away


def test_providers_do_not_wait_for_each_other():
    async def main():
        office = Office(ONE_A_SECOND)
        await office.limiter.block("p", 3600)
        async with office.limiter.place("q", n_tokens=0, lease_s=60, patience_s=20):
            return now()

    assert run(main()) == 0


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

    def __init__(self, *, is_there: bool = True) -> None:
        self.shared = Shared()
        self.shared.is_there = is_there
        self.accounts = Guarded(self.shared, InProcess(now), clock=now, sleep=self._sleep)
        self.slept: list[float] = []
        self.comes_back_after: int | None = None

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if len(self.slept) == self.comes_back_after:
            self.shared.is_there = True
        await asyncio.sleep(seconds)

    async def take(self, place: str) -> bool:
        return (await self.accounts.take(wanted(place, lease_s=600), FOUR)).is_taken


def test_with_redis_the_whole_limits_are_shared():
    async def main():
        worker = Worker()
        return [await worker.take(place) for place in "abcde"]

    assert run(main()) == [True] * 4 + [False]


def test_a_short_outage_is_waited_out(caplog):
    async def main():
        worker = Worker(is_there=False)
        worker.comes_back_after = 2
        return [await worker.take(place) for place in "abcd"], worker.slept

    assert run(main()) == ([True] * 4, list(RETRY_WAITS_S[:2]))
    assert not caplog.records


def test_without_redis_a_process_keeps_to_a_quarter_by_itself_and_says_so_once(caplog):
    async def main():
        worker = Worker(is_there=False)
        taken = [await worker.take(place) for place in "ab"]
        await worker.accounts.settle(wanted("a"), FOUR, Unused())
        return [*taken, await worker.take("c")], worker.slept, now()

    taken, slept, took_s = run(main())
    assert taken == [True, False, True]
    assert slept == list(RETRY_WAITS_S)  # once, and not for each question
    assert took_s == pytest.approx(sum(RETRY_WAITS_S))
    (record,) = caplog.records
    assert "quarter of the limits" in record.message
    assert "Connection refused." in record.message


def test_many_questions_at_once_wait_for_redis_together(caplog):
    async def main():
        worker = Worker(is_there=False)
        await asyncio.gather(*(worker.take(str(n)) for n in range(8)))
        return now()

    assert run(main()) == pytest.approx(sum(RETRY_WAITS_S))
    assert len(caplog.records) == 1


def test_redis_is_tried_again_after_a_while_and_taken_up_when_it_is_back(caplog):
    async def main():
        worker = Worker(is_there=False)
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
