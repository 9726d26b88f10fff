"""How far a job is, kept in its row: seen by its page, and a sign of life of its worker."""

import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import TypeVar

from completions.choices import JobState
from completions.models import Job
from completions.runs.services.calling import Clock

EVERY_S = 1.0

Item = TypeVar("Item")


class JobStoppedError(Exception):
    """Somebody stopped the job, or another worker ended it."""


class JobProgress:
    """Counts what is done, and writes it down once a second."""

    def __init__(self, job: Job, clock: Clock) -> None:
        self._job, self._clock = job, clock
        self._n_before, self._told_at = job.n_done, float("-inf")

    def over(self, items: Iterable[Item], *, of: str) -> Iterator[Item]:
        """Yield the items and count them; ``of`` names them, in the plural.

        Raises
        ------
        JobStoppedError
            When it is noticed that the job is not to go on.
        """
        total, n_done = len(items) if isinstance(items, Sized) else None, 0
        for n_done, item in enumerate(items, start=1):
            yield item
            self._tell(n_done, total, of)
        self._tell(n_done, total, of, at_once=True)

    def towards(self, of: str) -> Callable[[int, int], None]:
        """Return a function that is told how many there are and how many are wanted."""

        def tell(n_done: int, n_wanted: int) -> None:
            self._tell(n_done, n_wanted, of, at_once=n_done == n_wanted)

        return tell

    def _tell(self, n_done: int, total: int | None, of: str, *, at_once: bool = False) -> None:
        if not at_once and time.monotonic() - self._told_at < EVERY_S:
            return
        told = {"n_done": n_done, "n_total": total, "unit": of, "seen_at": self._clock()}
        if n_done > self._n_before:
            told["begun"] = 1  # it gets on: a later loss of the worker is the first again
        running = Job.objects.filter(pk=self._job.pk, state=JobState.RUNNING)
        if not running.update(**told):
            raise JobStoppedError
        self._n_before, self._told_at = n_done, time.monotonic()
