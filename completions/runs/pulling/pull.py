"""Keep a number of calls in flight on one event loop, fed from a queue that lives elsewhere."""

import asyncio
import math
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Kept_contra = TypeVar("Kept_contra", contravariant=True)

STOP_CHECK_S = 0.5
"""How soon a request to stop, or the end of the time, is noticed while nothing happens."""


@dataclass(frozen=True)
class Claimed(Generic[Item]):
    """Items taken from the queue; with none, ``wait_s`` says when there may be some again."""

    items: Sequence[Item]
    wait_s: float | None = None
    """``None``: not in the near future."""


class ItemSource(Protocol[Item, Kept_contra]):
    """Where the items come from and where the results go."""

    async def claim(self, limit: int) -> Claimed[Item]:
        """Take up to ``limit`` items."""

    async def store(self, results: Sequence[Kept_contra]) -> None:
        """Keep a batch of results."""

    async def release(self, items: Sequence[Item]) -> None:
        """Give back items that were not asked about."""


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
    _ends_at: float = field(init=False)
    _interrupted: asyncio.Future[None] = field(init=False)

    def __post_init__(self) -> None:
        """Start the clock."""
        self._ends_at = self._now + self.limits.duration_s
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
        if self._chore is None and self._wants_more():
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
        claimed = await self.source.claim(room)
        self.waiting.extend(claimed.items)
        if len(claimed.items) < room:  # nothing more to get just now
            wait_s = math.inf if claimed.wait_s is None else claimed.wait_s
            self._claim_at = self._now + wait_s

    def _start(self) -> None:
        while self.waiting and len(self.asking) < self.limits.concurrency:
            item = self.waiting.popleft()
            self.asking[asyncio.ensure_future(self.ask(item))] = item

    def _patience(self) -> float:
        """Return how long to wait for the next result at most, in seconds."""
        due = (self._oldest_at + self.limits.linger_s, self._claim_at)
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
