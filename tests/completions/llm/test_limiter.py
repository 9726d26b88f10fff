"""Waiting for a turn: in order, not too long, not in vain, and never holding what is not used."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from completions.llm.limiting import InProcess, Limiter, NoTurnError, ProviderLimits
from completions.llm.limiting.limiter import FULL_S
from completions.llm.limiting.limits import HURRY
from tests.helpers.observed import now, run

ONE_A_SECOND = ProviderLimits(requests_per_minute=60)
Call = Callable[..., Coroutine[Any, Any, float]]


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


def test_calls_begin_at_the_rate_of_the_provider():
    async def main():
        office = Office(ONE_A_SECOND)
        await office.calls(5)
        return office.begun

    assert run(main()) == [0, 1, 2, 3, 4]


def test_a_provider_without_limits_is_asked_at_once():
    async def main():
        office = Office(ProviderLimits())
        await office.calls(200)
        return office.begun

    assert run(main()) == [0] * 200


def test_who_would_wait_for_too_long_is_told_when_to_come_one_after_the_other():
    async def main():
        office = Office(ONE_A_SECOND)
        await office.calls(26)
        return office

    office = run(main())
    assert office.begun == list(range(21))
    assert office.sent_away == [21, 21.8, 22.6, 23.4, 24.2]


def test_those_sent_away_find_their_turn_when_they_come_as_told():
    async def main():
        office = Office(ONE_A_SECOND)
        await office.calls(60)
        for due in list(office.sent_away):
            asyncio.get_running_loop().call_at(due, lambda: tasks.append(start(office)))
        tasks: list[asyncio.Task[None]] = []
        await asyncio.sleep(100)
        await asyncio.gather(*tasks)
        return office

    def start(office):
        return asyncio.ensure_future(office.call())

    office = run(main())
    assert office.begun == list(range(60))  # not a second lost


def test_nobody_is_sent_away_for_longer_than_ten_minutes():
    async def main():
        office = Office(ProviderLimits(requests_per_minute=1))
        await office.calls(100)
        return office.sent_away

    assert max(run(main())) == 600


def test_tokens_that_were_not_used_let_the_next_call_begin_sooner():
    async def main(used):
        office = Office(ProviderLimits(tokens_per_minute=600), takes_s=0)
        await office.call(n_tokens=100, used=used)
        await office.call(n_tokens=10)
        return office.begun

    assert run(main(used=None)) == [0, 10]
    assert run(main(used=40)) == [0, 4]


def test_no_more_are_asked_at_once_than_there_are_places():
    async def main():
        office = Office(ProviderLimits(concurrency=3))
        await office.calls(6)
        return office

    office = run(main())
    assert office.begun == [0, 0, 0, 1, 1, 1]  # a freed place is taken at once
    assert office.most == 3


def test_more_than_wait_for_a_place_sensibly_are_sent_to_other_providers():
    async def main():
        office = Office(ProviderLimits(concurrency=3))
        await office.calls(7)
        return office

    office = run(main())
    assert len(office.begun) == 6
    assert office.sent_away == [FULL_S]


def test_who_finds_no_place_in_time_is_sent_away():
    async def main():
        office = Office(ProviderLimits(concurrency=1), takes_s=30)
        await office.calls(2)
        return office

    office = run(main())
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
