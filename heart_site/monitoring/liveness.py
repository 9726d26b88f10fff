"""What the broker holds and who was alive when, as numbers with labels: read by metrics."""

import datetime as dt
import json
import math
from collections.abc import Iterable
from contextlib import suppress

import redis
from django.conf import settings

from heart_site import schedule
from heart_site.monitoring import heartbeats
from heart_site.monitoring.metrics import Gauge, Sample

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
        return {name: int(client.llen(_key(name))) for name in NAMES}


def drop_expired(*, now: dt.datetime) -> int:
    """Take the messages that expired out of every queue, and return how many.

    Workers drop what has expired when they take it; Redis keeps it until then. Safe beside
    workers: what one has taken meanwhile is not there to be taken out.
    """
    n = 0
    if settings.IS_EMBEDDED:
        return n
    with suppress(redis.RedisError), broker() as client:
        for key in map(_key, NAMES):
            oldest = client.lrange(key, -AT_ONCE, -1)
            n += sum(client.lrem(key, -1, one) for one in oldest if _is_expired(one, now))
    return n


def _is_expired(message: bytes, now: dt.datetime) -> bool:
    expires = json.loads(message)["headers"].get("expires")
    return expires is not None and dt.datetime.fromisoformat(expires) <= now


def _key(name: str) -> str:
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
    names = [*NAMES, heartbeats.BEAT]
    try:
        newest = heartbeats.newest(names)
    except redis.RedisError:
        newest = {}
    return [((name,), now.timestamp() - newest.get(name, -math.inf)) for name in names]


GAUGES = {
    "broker_up": Gauge("Whether Redis answers.", (), _is_up),
    "queue_messages": Gauge(
        "Messages in Redis that no worker has taken yet.", ("queue",), _messages
    ),
    "heartbeat_age_seconds": Gauge(
        "Since the newest sign of life of a worker of each queue, and of beat.", ("of",), _ages
    ),
}
