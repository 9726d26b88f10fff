"""The pull: many in flight, small batches, nothing lost at the end or on the way out."""

import asyncio
import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace

import pytest

from completions.runs import pulling
from completions.runs.pulling import Claimed, PullLimits, pull, pull_here, run_on_loop


class ListSource:
    """A queue in memory that logs what happens to it."""

    def __init__(self, items: Sequence[int], *, waits: Sequence[float] = ()) -> None:
        self.items = list(items)
        self.waits = list(waits)
        self.claims: list[int] = []
        self.stored: list[tuple[int, ...]] = []
        self.released: list[int] = []
        self.renewed: list[tuple[int, ...]] = []

    async def claim(self, limit: int) -> Claimed[int]:
        await asyncio.sleep(0)
        self.claims.append(limit)
        taken, self.items = self.items[:limit], self.items[limit:]
        return taken, self.waits.pop(0) if self.waits else None

    async def store(self, results: Sequence[int]) -> None:
        await asyncio.sleep(0)
        self.stored.append(tuple(results))
        if len(self.stored) == 1:
            self.after_first()

    def after_first(self) -> None:
        """Do what a test wants done once the first results were stored."""

    async def release(self, items: Sequence[int]) -> None:
        self.released.extend(items)

    async def renew(self, items: Sequence[int]) -> None:
        self.renewed.append(tuple(items))

    @property
    def all_stored(self) -> list[int]:
        return sorted(result for batch in self.stored for result in batch)


class Gauge:
    """An ``ask`` that takes a moment and remembers how many ran at once."""

    def __init__(self, seconds: float = 0.005) -> None:
        self.seconds = seconds
        self.running = 0
        self.most = 0
        self.asked: list[int] = []

    async def __call__(self, item: int) -> int:
        self.running += 1
        self.most = max(self.most, self.running)
        self.asked.append(item)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.running -= 1
        return item


LIMITS = PullLimits(concurrency=4, batch=3, linger_s=0.01, duration_s=30)


def run(source: ListSource, ask, limits: PullLimits = LIMITS, stopping=None) -> int:
    return asyncio.run(pull(source, ask, limits=limits, stopping=stopping))


class TestPull:
    def test_every_item_is_asked_and_stored_once_in_a_flight_that_is_full_and_never_fuller(self):
        source, gauge = ListSource(range(60)), Gauge()

        n_stored = run(source, gauge)

        assert n_stored == 60
        assert sorted(gauge.asked) == source.all_stored == list(range(60))
        assert source.released == []
        assert gauge.most == LIMITS.concurrency
        assert max(source.claims) <= LIMITS.concurrency + LIMITS.batch  # what flies or waits next
        assert len(source.stored) < 40  # in batches

    def test_a_lone_result_does_not_wait_for_a_batch(self):
        source = ListSource([1, 2])
        late = asyncio.Event()

        async def ask(item: int) -> int:
            if item == 2:
                await late.wait()
            return item

        async def main() -> None:
            task = asyncio.ensure_future(pull(source, ask, limits=LIMITS))
            while not source.stored:
                await asyncio.sleep(0.001)
            late.set()
            await task

        asyncio.run(asyncio.wait_for(main(), 20))

        assert source.stored[0] == (1,)

    def test_calls_go_on_while_results_are_stored(self):
        """Storing that waits for a new call to begin can end only if one does."""
        began: list[int] = []
        stored: list[int] = []

        class SlowToStore(ListSource):
            async def store(self, results):
                seen = len(began)
                async with asyncio.timeout(30):
                    while len(began) == seen and len(began) < 40:
                        await asyncio.sleep(0)
                stored.append(len(began) - seen)
                await super().store(results)

        async def ask(item: int) -> int:
            began.append(item)
            await asyncio.sleep(0)
            return item

        source = SlowToStore(range(40))
        run(source, ask)

        assert source.all_stored == list(range(40))
        assert stored[0] > 0

    @pytest.mark.parametrize("is_ending", [False, True])
    def test_what_is_not_finished_is_claimed_anew_again_and_again(self, is_ending):
        source, stopping = ListSource(range(6)), threading.Event()

        async def ask(item: int) -> int:
            if is_ending:
                stopping.set()  # calls in flight may still take long
            while item > 0 and len(source.renewed) < 2:
                await asyncio.sleep(0)
            return item

        limits = replace(LIMITS, renew_s=0.01, linger_s=0)
        n_stored = run(source, ask, limits, stopping)

        assert n_stored == 4 if is_ending else 6
        assert {1, 2, 3, 4, 5} <= set(source.renewed[1]) <= set(range(6))

    def test_calls_end_while_more_are_claimed(self):
        """A claim that waits for calls in flight to end can end only if they do."""
        gauge, claimed_in_flight = Gauge(), []

        class SlowToClaim(ListSource):
            async def claim(self, limit):
                if gauge.running:
                    async with asyncio.timeout(30):
                        while gauge.running:
                            await asyncio.sleep(0)
                    claimed_in_flight.append(limit)
                return await super().claim(limit)

        source = SlowToClaim(range(40))
        run(source, gauge)

        assert source.all_stored == list(range(40))
        assert claimed_in_flight

    def test_a_claim_that_fails_ends_the_pull_after_what_has_finished_is_stored(self):
        class Failing(ListSource):
            async def claim(self, limit):
                if self.claims:
                    msg = "the database is gone"
                    raise OSError(msg)
                return await super().claim(limit)

        source = Failing(range(20))
        with pytest.raises(OSError, match="gone"):
            run(source, Gauge())

        assert sorted([*source.all_stored, *source.released]) == list(range(7))

    @pytest.mark.parametrize(("waits", "n_claims"), [([], 1), ([0.01], 2)])
    def test_an_empty_queue_is_asked_again_only_if_it_promises_more_soon(self, waits, n_claims):
        source = ListSource([], waits=waits)

        assert run(source, Gauge()) == 0
        assert source.claims == [LIMITS.concurrency + LIMITS.batch] * n_claims

    def test_what_storing_made_claimable_again_is_claimed(self):
        class Retrying(ListSource):
            def after_first(self):
                self.items.append(2)

        assert run(Retrying([1]), Gauge()) == 2

    @pytest.mark.parametrize("ended_by", ["the time", "a request to stop"])
    def test_after_its_end_nothing_is_claimed_and_the_flight_lands(self, monkeypatch, ended_by):
        source, stopping = ListSource(range(1000)), threading.Event()

        def end() -> None:
            loop = asyncio.get_running_loop()
            ends_at = loop.time() + LIMITS.duration_s
            if ended_by == "the time":
                monkeypatch.setattr(loop, "time", lambda: ends_at)
            else:
                stopping.set()

        async def ask(item: int) -> int:
            if item == 0:
                end()
            await asyncio.sleep(0)
            return item

        run(source, ask, stopping=stopping)

        assert source.all_stored == [0, 1, 2, 3]
        assert source.released == [4, 5, 6]

    def test_cancelled_it_stores_what_has_finished_and_gives_the_rest_back(self):
        source, has_finished = ListSource(range(5)), asyncio.Event()

        async def ask(item: int) -> int:
            if item > 0:
                await asyncio.Event().wait()
            has_finished.set()
            return item

        async def main() -> None:
            task = asyncio.ensure_future(
                pull(source, ask, limits=PullLimits(concurrency=4, batch=3, linger_s=60))
            )
            await has_finished.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(asyncio.wait_for(main(), 20))

        assert source.all_stored == [0]
        assert sorted(source.released) == [1, 2, 3, 4]

    def test_a_bug_in_asking_is_raised_after_the_others_are_stored(self):
        source = ListSource(range(100))

        async def ask(item: int) -> int:
            await asyncio.sleep(0.002)
            if item == 2:
                msg = "a bug"
                raise KeyError(msg)
            return item

        with pytest.raises(ExceptionGroup) as raised:
            run(source, ask)

        assert isinstance(raised.value.exceptions[0], KeyError)
        assert 2 not in source.released
        handled = source.all_stored + source.released + source.items
        assert sorted(handled) == [item for item in range(100) if item != 2]

    def test_results_that_could_not_be_stored_are_tried_again_on_the_way_out(self):
        class LosingTheDatabase(ListSource):
            def after_first(self):
                raise ConnectionError

        source = LosingTheDatabase([1])

        with pytest.raises(ConnectionError):
            run(source, Gauge())

        assert source.stored == [(1,), (1,)]


class BlockingQueue:
    """A queue whose methods remember the thread they ran in."""

    def __init__(self, items: Sequence[int]) -> None:
        self.items = list(items)
        self.threads: set[int] = set()
        self.stored: list[int] = []
        self.released: list[int] = []

    def claim(self, limit: int) -> Claimed[int]:
        self.threads.add(threading.get_ident())
        taken, self.items = self.items[:limit], self.items[limit:]
        return taken, None

    def store(self, results: Sequence[int]) -> None:
        self.threads.add(threading.get_ident())
        self.stored.extend(results)

    def release(self, items: Sequence[int]) -> None:
        self.threads.add(threading.get_ident())
        self.released.extend(items)

    def renew(self, items: Sequence[int]) -> None:
        self.threads.add(threading.get_ident())


class TestPullHere:
    def test_the_queue_is_used_in_the_calling_thread_alone(self):
        queue, asked_in = BlockingQueue(range(9)), set()

        async def ask(item: int) -> int:
            asked_in.add(threading.get_ident())
            return item

        limits = replace(LIMITS, renew_s=0)
        assert pull_here(queue, ask, limits=limits, turn=threading.Lock()) == 9
        assert queue.threads == {threading.get_ident()}
        assert asked_in.isdisjoint(queue.threads)

    def test_a_second_pull_in_the_process_leaves_the_turn_to_the_first(self):
        queue, turn = BlockingQueue([1]), threading.Lock()

        with turn:
            assert pull_here(queue, Gauge(), limits=LIMITS, turn=turn) == 0
        assert queue.items == [1]
        assert pull_here(queue, Gauge(), limits=LIMITS, turn=turn) == 1

    def test_the_turn_is_given_back_after_an_error(self):
        turn = threading.Lock()

        async def ask(item: int) -> int:
            raise KeyError(item)

        with pytest.raises(ExceptionGroup):
            pull_here(BlockingQueue([1]), ask, limits=LIMITS, turn=turn)

        assert not turn.locked()

    def test_an_interrupted_caller_still_stores_and_releases(self):
        class InterruptedQueue(BlockingQueue):
            def store(self, results: Sequence[int]) -> None:
                first = not self.stored
                super().store(results)
                if first:
                    raise KeyboardInterrupt

        queue = InterruptedQueue(range(100))

        with pytest.raises(KeyboardInterrupt):
            pull_here(queue, Gauge(), limits=LIMITS, turn=threading.Lock())

        assert set(queue.stored) | set(queue.released) | set(queue.items) == set(range(100))


class TestRunOnLoop:
    def test_returns_what_the_coroutine_returns_on_one_loop_for_all_threads(self):
        async def main(_executor: Executor) -> int:
            return id(asyncio.get_running_loop())

        found: list[int] = []
        other = threading.Thread(target=lambda: found.append(run_on_loop(main)))
        other.start()
        other.join()

        assert found == [run_on_loop(main)]

    def test_raises_what_the_coroutine_raises(self):
        async def main(_executor: Executor) -> None:
            msg = "broken"
            raise ValueError(msg)

        with pytest.raises(ValueError, match="broken"):
            run_on_loop(main)

    def test_an_interrupt_of_the_waiting_caller_cancels_the_coroutine(self):
        ended = threading.Event()

        async def main(_executor: Executor) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        with pytest.raises(KeyboardInterrupt):
            run_on_loop(main)

        assert ended.is_set()

    def test_an_interrupt_during_the_callers_work_leaves_the_loop_alive(self):
        async def main(executor: Executor) -> None:
            await asyncio.get_running_loop().run_in_executor(executor, interrupt)

        def interrupt() -> None:
            raise KeyboardInterrupt

        async def after(_executor: Executor) -> str:
            return "alive"

        with pytest.raises(KeyboardInterrupt):
            run_on_loop(main)

        assert run_on_loop(after) == "alive"

    def test_a_caller_interrupted_before_the_start_does_not_hang(self, monkeypatch):
        loop = pulling._shared_loop()
        schedule, interrupts = loop.call_soon_threadsafe, [KeyboardInterrupt]

        def interrupted(callback, *given):
            if interrupts:
                raise interrupts.pop()
            return schedule(callback, *given)

        async def main(_executor: Executor) -> None:
            pytest.fail("it was never started")

        monkeypatch.setattr(loop, "call_soon_threadsafe", interrupted)

        with pytest.raises(KeyboardInterrupt):
            run_on_loop(main)
