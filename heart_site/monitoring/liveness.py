"""What the broker holds and who was alive when, as numbers with labels: read by metrics."""

import datetime as dt
import math
from collections.abc import Iterable

import redis
from django.conf import settings

from heart_site.monitoring import heartbeats, queues
from heart_site.monitoring.work_counts import Gauge, Sample


def _messages(_now: dt.datetime) -> Iterable[Sample]:
    """Nothing in the embedded default, nor while Redis does not answer."""
    if settings.IS_EMBEDDED:
        return []
    try:
        return [((name,), float(n)) for name, n in queues.lengths().items()]
    except redis.RedisError:
        return []


def _is_up(_now: dt.datetime) -> Iterable[Sample]:
    if settings.IS_EMBEDDED:
        return []
    try:
        with queues.broker() as client:
            client.ping()
    except redis.RedisError:
        return [((), 0.0)]
    return [((), 1.0)]


def _ages(now: dt.datetime) -> Iterable[Sample]:
    """Infinite for what never gave a sign, and for all while Redis does not answer."""
    if settings.IS_EMBEDDED:
        return []
    names = [*queues.NAMES, heartbeats.BEAT]
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
