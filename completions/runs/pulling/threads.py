"""One event loop per process, in a thread of its own, for callers that are not asynchronous."""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

from asgiref.current_thread_executor import CurrentThreadExecutor

from completions.runs.pulling.pull import Claimed, PullLimits, pull

Given = ParamSpec("Given")
Returned = TypeVar("Returned")
Item = TypeVar("Item")
Result = TypeVar("Result")
Kept_contra = TypeVar("Kept_contra", contravariant=True)

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
