"""Signs of life of workers and of beat: a file for health checks, and a time for the metrics.

Both come from the loop that takes messages or sends ticks, so a process that hangs gives none.
Asking workers by ``celery inspect ping`` would start a Python each time, and go through the broker.
"""

import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from celery import beat, bootsteps
from celery.worker import WorkController
from django.conf import settings
from django.core.cache import cache
from django.utils import timezone
from redis.exceptions import RedisError

from heart_site import schedule
from heart_site.monitoring import liveness

EVERY_S = schedule.BEAT_SLEEPS_S
KEPT_S = 24 * 3600
BEAT = "beat"


def give(names: Iterable[str], *, now: float) -> None:
    """Note that what serves these queues, or beat, was alive at ``now`` (seconds of the epoch)."""
    if settings.HEART_HEARTBEAT_FILE:
        Path(settings.HEART_HEARTBEAT_FILE).touch()
    with suppress(RedisError):  # without Redis no sign arrives, which is the truth
        cache.set_many({_key(name): now for name in names}, KEPT_S)


def newest(names: Iterable[str]) -> dict[str, float]:
    """Return when each of them was alive last, of those that ever were."""
    keys = {_key(name): name for name in names}
    return {keys[key]: at for key, at in cache.get_many(keys).items()}


class Heart(bootsteps.StartStopStep):
    """The step of a worker that gives a sign every few seconds."""

    requires = ("celery.worker.components:Timer",)

    def start(self, worker: WorkController) -> None:
        """Begin; the timer runs in the loop that takes messages."""
        timer: Any = worker.timer  # there by now, and of a kind that its types do not know
        self.entry = timer.call_repeatedly(EVERY_S, self._give, (worker,))

    def stop(self, _worker: WorkController) -> None:
        """End with the worker."""
        self.entry.cancel()

    def _give(self, worker: WorkController) -> None:
        give(worker.app.amqp.queues.consume_from, now=time.time())


class Scheduler(beat.PersistentScheduler):
    """The scheduler of beat, with a sign at its ticks."""

    given_at = dropped_at = float("-inf")

    def tick(self, *args: Any, **options: Any) -> float:  # noqa: ANN401 (Celery's own)
        """Send what is due, give a sign, and now and then clear away what nobody took."""
        self._forget_the_future()
        wait: float = super().tick(*args, **options)
        if time.monotonic() - self.given_at >= EVERY_S:
            give([BEAT], now=time.time())
            self.given_at = time.monotonic()
        if time.monotonic() - self.dropped_at >= schedule.SWEEP_S:
            liveness.drop_expired(now=timezone.now())
            self.dropped_at = time.monotonic()
        return wait

    def _forget_the_future(self) -> None:
        """Begin anew with ticks that a clock set back has put into the future.

        Celery would send none of them again before that time has come.
        """
        now = self.app.now()
        entries = self.schedule.values()
        ahead = [one for one in entries if one.last_run_at and one.last_run_at > now]
        for entry in ahead:
            entry.last_run_at = now
        if ahead:
            self._heap = None  # in the order of times that are no more


def _key(name: str) -> str:
    return f"alive:{name}"
