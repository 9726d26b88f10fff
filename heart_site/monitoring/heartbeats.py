"""Signs of life of workers and of beat, and what the broker holds: numbers with labels for metrics.

Signs are a file for health checks, and a time for the metrics. Both come from the loop that takes
messages or sends ticks, so a process that hangs gives none. Asking workers by ``celery inspect
ping`` would start a Python each time, and go through the broker.
"""

import datetime as dt
import json
import math
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import redis
from celery import beat, bootsteps
from celery.worker import WorkController
from django.conf import settings
from django.core.cache import cache
from django.utils import timezone

from heart_site import schedule
from heart_site.monitoring.metrics import Gauge, Sample

EVERY_S = schedule.BEAT_SLEEPS_S
KEPT_S = 24 * 3600
BEAT = "beat"


def give(names: Iterable[str], *, now: float) -> None:
    """Note that what serves these queues, or beat, was alive at ``now`` (seconds of the epoch)."""
    if settings.HEART_HEARTBEAT_FILE:
        Path(settings.HEART_HEARTBEAT_FILE).touch()
    with suppress(redis.RedisError):  # without Redis no sign arrives, which is the truth
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
            drop_expired(now=timezone.now())
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


NAMES = list(schedule.QUEUES)
PATIENCE_S = 2.0
AT_ONCE = 200
"""How many of a queue are looked at for ones that expired; the oldest are first."""


def broker() -> redis.Redis:
    """Return a client that does not wait for a broker that is away."""
    url = settings.CELERY_BROKER_URL
    return redis.Redis.from_url(url, socket_timeout=PATIENCE_S, socket_connect_timeout=PATIENCE_S)


def lengths() -> dict[str, int]:
    """Return how many messages of each queue no worker has taken yet."""
    with broker() as client:
        return {name: int(client.llen(_queue_key(name))) for name in NAMES}


def drop_expired(*, now: dt.datetime) -> int:
    """Take the messages that expired out of every queue, and return how many.

    Workers drop what has expired when they take it; Redis keeps it until then. Safe beside
    workers: what one has taken meanwhile is not there to be taken out.
    """
    n = 0
    if settings.IS_EMBEDDED:
        return n
    with suppress(redis.RedisError), broker() as client:
        for key in map(_queue_key, NAMES):
            oldest = client.lrange(key, -AT_ONCE, -1)
            n += sum(client.lrem(key, -1, one) for one in oldest if _is_expired(one, now))
    return n


def _is_expired(message: bytes, now: dt.datetime) -> bool:
    expires = json.loads(message)["headers"].get("expires")
    return expires is not None and dt.datetime.fromisoformat(expires) <= now


def _queue_key(name: str) -> str:
    return f"{settings.CELERY_BROKER_TRANSPORT_OPTIONS['global_keyprefix']}{name}"


def _messages(_now: dt.datetime) -> Iterable[Sample]:
    """Nothing in the embedded default, nor while Redis does not answer."""
    if settings.IS_EMBEDDED:
        return []
    try:
        return [((name,), float(n)) for name, n in lengths().items()]
    except redis.RedisError:
        return []


def _is_up(_now: dt.datetime) -> Iterable[Sample]:
    if settings.IS_EMBEDDED:
        return []
    try:
        with broker() as client:
            client.ping()
    except redis.RedisError:
        return [((), 0.0)]
    return [((), 1.0)]


def _ages(now: dt.datetime) -> Iterable[Sample]:
    """Infinite for what never gave a sign, and for all while Redis does not answer."""
    if settings.IS_EMBEDDED:
        return []
    names = [*NAMES, BEAT]
    try:
        alive_at = newest(names)
    except redis.RedisError:
        alive_at = {}
    return [((name,), now.timestamp() - alive_at.get(name, -math.inf)) for name in names]


GAUGES = {
    "broker_up": Gauge("Whether Redis answers.", (), _is_up),
    "queue_messages": Gauge(
        "Messages in Redis that no worker has taken yet.", ("queue",), _messages
    ),
    "heartbeat_age_seconds": Gauge(
        "Since the newest sign of life of a worker of each queue, and of beat.", ("of",), _ages
    ),
}
