"""Work through a queue of slow calls: many in flight on one event loop, stored in small batches."""

import asyncio
import math
import os
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any, Generic, ParamSpec, Protocol, TypeAlias, TypeVar

from asgiref.current_thread_executor import CurrentThreadExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")
Kept_contra = TypeVar("Kept_contra", contravariant=True)
Given = ParamSpec("Given")
Returned = TypeVar("Returned")

STOP_CHECK_S = 0.5
"""How soon a request to stop, or the end of the time, is noticed while nothing happens."""


Claimed: TypeAlias = tuple[Sequence[Item], float | None]
"""Items taken from the queue, and in how many seconds there may be some again where they are fewer
than could be taken; None: not in the near future."""


class ItemSource(Protocol[Item, Kept_contra]):
    """Where the items come from and where the results go."""

    async def claim(self, limit: int) -> Claimed[Item]:
        """Take up to ``limit`` items."""

    async def store(self, results: Sequence[Kept_contra]) -> None:
        """Keep a batch of results."""

    async def release(self, items: Sequence[Item]) -> None:
        """Give back items that were not asked about."""

    async def renew(self, items: Sequence[Item]) -> None:
        """Say that these are still worked on."""


@dataclass(frozen=True)
class PullLimits:
    """How much at once, how long, and how results are grouped."""

    concurrency: int = 32
    batch: int = 16
    """Results stored together, and items claimed ahead."""
    linger_s: float = 0.1
    """How long a finished result waits for others to be stored with."""
    duration_s: float = 60.0
    """After this nothing more is claimed; what is in flight ends in its own time."""
    renew_s: float = 30.0
    """How often claims are renewed, so that those of killed processes are soon known."""


async def pull(
    source: ItemSource[Item, Result],
    ask: Callable[[Item], Awaitable[Result]],
    *,
    limits: PullLimits,
    stopping: threading.Event | None = None,
) -> int:
    """Ask about every item the source gives, several at a time, and return how many were stored.

    Ends when the source has nothing left, when the time is over, or soon after ``stopping`` is
    set. A cancelled pull stores what has finished, gives the rest back, and stays cancelled.

    Raises
    ------
    ExceptionGroup
        At the end, if ``ask`` raised: it is expected to return failures as results. Items at
        fault are not given back, so that their claim runs out; nothing new is claimed.
    """
    run = _Pull(source, ask, limits, stopping or threading.Event())
    task = asyncio.ensure_future(run.run())
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        # The queue is never left in the middle of a claim or of storing.
        run.interrupt()
        await task
        raise
    if run.errors:
        msg = "Asking failed in a way that is no result"
        raise ExceptionGroup(msg, run.errors)
    return run.n_stored


@dataclass
class _Pull(Generic[Item, Result]):
    """The state of one pull."""

    source: ItemSource[Item, Result]
    ask: Callable[[Item], Awaitable[Result]]
    limits: PullLimits
    stopping: threading.Event
    waiting: deque[Item] = field(default_factory=deque)
    asking: dict[asyncio.Future[Result], Item] = field(default_factory=dict)
    finished: list[Result] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    n_stored: int = 0
    _chore: asyncio.Future[None] | None = None
    """Claiming or storing, one at a time; calls go on beside it."""
    _is_done: bool = False
    _claim_at: float = 0.0
    _oldest_at: float = math.inf
    _renew_at: float = field(init=False)
    _ends_at: float = field(init=False)
    _interrupted: asyncio.Future[None] = field(init=False)

    def __post_init__(self) -> None:
        """Start the clock."""
        self._ends_at = self._now + self.limits.duration_s
        self._renew_at = self._now + self.limits.renew_s
        self._interrupted = asyncio.get_running_loop().create_future()

    @property
    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    @property
    def _is_over(self) -> bool:
        return bool(self.errors) or self.stopping.is_set() or self._now >= self._ends_at

    async def run(self) -> None:
        """Go on until there is nothing left to do."""
        try:
            while not (self._is_done or self._interrupted.done()):
                await self._step()
        finally:
            await self._wind_up()

    def interrupt(self) -> None:
        """Break off: what is in flight is cancelled."""
        self._interrupted.set_result(None)

    async def _step(self) -> None:
        """Take in what has ended, start what can be, and wait for something to end."""
        self._collect()
        self._begin_chore()
        if not self._is_over:
            self._start()
        if self.asking or self._chore is not None:
            await self._wait(self._patience())
        else:
            await self._idle()

    def _begin_chore(self) -> None:
        """Refill or store, whichever is due: without new items, soon nothing would be in flight."""
        if self._chore is not None and self._chore.done():
            ended, self._chore = self._chore, None
            ended.result()
        if self._chore is None and self._is_to_renew():
            self._chore = asyncio.ensure_future(self._renew())
        elif self._chore is None and self._wants_more():
            self._chore = asyncio.ensure_future(self._refill())
        elif self._chore is None and self._is_due():
            self._chore = asyncio.ensure_future(self._flush())

    async def _wait(self, seconds: float) -> None:
        """Wait until a call or a chore ends, the pull is interrupted, or the time has passed."""
        events: set[asyncio.Future[Any]] = {*self.asking, self._interrupted}
        if self._chore is not None:
            events.add(self._chore)
        await asyncio.wait(events, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)

    async def _wind_up(self) -> None:
        """End the chore, stop what is in flight, store what has finished, give the rest back."""
        try:
            if self._chore is not None:
                await self._chore
        finally:
            await self._stop_asking()
            await self._flush()
            if self.waiting:
                await self.source.release(tuple(self.waiting))

    async def _stop_asking(self) -> None:
        self._collect()
        for task in self.asking:
            task.cancel()
        if self.asking:
            await asyncio.wait(self.asking)
            self._collect()

    def _wants_more(self) -> bool:
        return (
            not self._is_over
            and len(self.waiting) <= self.limits.batch // 2
            and self._now >= self._claim_at
        )

    async def _refill(self) -> None:
        """Claim as many as can be in flight, and a batch ahead."""
        room = self.limits.concurrency + self.limits.batch - len(self.asking) - len(self.waiting)
        items, wait_s = await self.source.claim(room)
        self.waiting.extend(items)
        if len(items) < room:  # nothing more to get just now
            self._claim_at = self._now + (math.inf if wait_s is None else wait_s)

    def _is_to_renew(self) -> bool:
        return self._now >= self._renew_at and bool(self.waiting or self.asking)

    async def _renew(self) -> None:
        """Keep the claims on all that is not finished."""
        self._renew_at = self._now + self.limits.renew_s
        await self.source.renew((*self.waiting, *self.asking.values()))

    def _start(self) -> None:
        while self.waiting and len(self.asking) < self.limits.concurrency:
            item = self.waiting.popleft()
            self.asking[asyncio.ensure_future(self.ask(item))] = item

    def _patience(self) -> float:
        """Return how long to wait for the next result at most, in seconds."""
        due = (self._oldest_at + self.limits.linger_s, self._claim_at, self._renew_at)
        return min([STOP_CHECK_S, *(at - self._now for at in due if at > self._now)])

    def _collect(self) -> None:
        """Take the results of what has ended."""
        for task in [task for task in self.asking if task.done()]:
            item = self.asking.pop(task)
            if task.cancelled():
                self.waiting.append(item)
            elif isinstance(error := task.exception(), Exception):
                self.errors.append(error)
            else:
                self.finished.append(task.result())
                self._oldest_at = min(self._oldest_at, self._now)

    def _is_due(self) -> bool:
        return bool(self.finished) and (
            len(self.finished) >= self.limits.batch
            or self._now >= self._oldest_at + self.limits.linger_s
            or not self.asking
        )

    async def _flush(self) -> None:
        """Store the finished results; a failed one may have become claimable again."""
        if not self.finished:
            return
        results, self.finished, self._oldest_at = self.finished, [], math.inf
        try:
            await self.source.store(tuple(results))
        except BaseException:
            self.finished = [*results, *self.finished]  # tried once more at the end
            raise
        self.n_stored += len(results)
        self._claim_at = min(self._claim_at, self._now)

    async def _idle(self) -> None:
        """With nothing in flight: end, or wait until there may be something again."""
        if self._is_over or (not self.waiting and math.isinf(self._claim_at)):
            self._is_done = True
        elif not self.waiting:
            await self._wait(min(max(0.0, self._claim_at - self._now), STOP_CHECK_S))


STOPPING = threading.Event()
"""Set by a process that shuts down: its pulls claim no more and end with what is in flight."""

_loops: dict[int, asyncio.AbstractEventLoop] = {}
_starting = threading.Lock()


class BlockingQueue(Protocol[Item, Kept_contra]):
    """A source of items whose methods block, as the database's do."""

    def claim(self, limit: int) -> Claimed[Item]:
        """Take up to ``limit`` items."""

    def store(self, results: Sequence[Kept_contra]) -> None:
        """Keep a batch of results."""

    def release(self, items: Sequence[Item]) -> None:
        """Give back items that were not asked about."""

    def renew(self, items: Sequence[Item]) -> None:
        """Say that these are still worked on."""


@dataclass(frozen=True)
class _Handed(Generic[Item, Result]):
    """A blocking queue, used from the loop through an executor."""

    queue: BlockingQueue[Item, Result]
    executor: Executor

    async def claim(self, limit: int) -> Claimed[Item]:
        return await self._run(self.queue.claim, limit)

    async def store(self, results: Sequence[Result]) -> None:
        await self._run(self.queue.store, results)

    async def release(self, items: Sequence[Item]) -> None:
        await self._run(self.queue.release, items)

    async def renew(self, items: Sequence[Item]) -> None:
        await self._run(self.queue.renew, items)

    async def _run(self, work: Callable[..., Returned], *given: object) -> Returned:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.executor, work, *given)


def pull_here(
    queue: BlockingQueue[Item, Result],
    ask: Callable[[Item], Awaitable[Result]],
    *,
    limits: PullLimits,
    turn: threading.Lock,
) -> int:
    """Pull from a blocking queue, which is used in the calling thread alone; see ``pull``.

    While another thread of the process has the ``turn``, there is nothing to add: return 0.
    """

    async def main(executor: Executor) -> int:
        return await pull(_Handed(queue, executor), ask, limits=limits, stopping=STOPPING)

    if not turn.acquire(blocking=False):
        return 0
    try:
        return run_on_loop(main)
    finally:
        turn.release()


def run_on_loop(main: Callable[[Executor], Coroutine[Any, Any, Returned]]) -> Returned:
    """Run a coroutine on the process's event loop and wait for it.

    What the coroutine hands to the executor runs in the calling thread, so that database work
    uses the caller's connection and transaction. If the caller is interrupted (Ctrl-C, a time
    limit), the coroutine is cancelled and may still use the executor to tidy up.

    There is one loop because LiteLLM ties its clients and its log queue to the first loop it
    sees; it is known by process, so that a forked worker starts its own.
    """
    loop, waiting = _shared_loop(), CurrentThreadExecutor(None)
    executor = _CallerThread(waiting)
    done: Future[Returned] = Future()
    started: list[asyncio.Task[Returned]] = []

    def start() -> None:
        task = loop.create_task(main(executor))
        task.add_done_callback(lambda ended: _hand_over(ended, done))
        started.append(task)

    def cancel() -> None:
        if started:
            started[0].cancel()
        else:  # interrupted before it could begin
            done.set_exception(asyncio.CancelledError())

    try:
        loop.call_soon_threadsafe(start)
        waiting.run_until_future(done)
    except BaseException:
        loop.call_soon_threadsafe(cancel)
        waiting.run_until_future(done)
        raise
    if executor.interrupt is not None:
        raise executor.interrupt
    return done.result()


class CallerInterruptedError(Exception):
    """The calling thread was told to end while it did a piece of work for the coroutine."""


class _CallerThread(Executor):
    """Hand work to the calling thread, and keep its interrupts away from the loop.

    A KeyboardInterrupt or SystemExit that reached a task would end the whole loop.
    """

    def __init__(self, waiting: CurrentThreadExecutor) -> None:
        self._waiting = waiting
        self.interrupt: BaseException | None = None

    def submit(
        self, fn: Callable[Given, Returned], /, *args: Given.args, **kwargs: Given.kwargs
    ) -> Future[Returned]:
        """Have the calling thread do the work."""

        def guarded() -> Returned:
            try:
                return fn(*args, **kwargs)
            except (KeyboardInterrupt, SystemExit) as interrupt:
                self.interrupt = interrupt
                raise CallerInterruptedError from interrupt

        return self._waiting.submit(guarded)


def _hand_over(task: asyncio.Task[Returned], done: Future[Returned]) -> None:
    """Copy how a task ended to a future that a thread can wait for."""
    if task.cancelled():
        done.set_exception(asyncio.CancelledError())
    elif (error := task.exception()) is not None:
        done.set_exception(error)
    else:
        done.set_result(task.result())


def _shared_loop() -> asyncio.AbstractEventLoop:
    with _starting:
        if (loop := _loops.get(os.getpid())) is None:
            loop = _loops[os.getpid()] = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="pulling", daemon=True).start()
        return loop
