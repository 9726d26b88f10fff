"""Redis forgets everything and ends, workers are killed, ticks come many times over."""

import time
import urllib.request
from http import HTTPStatus
from threading import Event

import psycopg
import redis

from tests.faults.conftest import ROUNDS
from tests.faults.crowd import Crowd, Rater, judging
from tests.faults.services import Broker
from tests.faults.stack import Stack, Web
from tests.faults.test_web import WAITING
from tests.helpers.processes import Process, wait_until

N_HOLDERS = 6
HELD = """
    SELECT count(*) FROM annotation_lease l JOIN annotation_comparison c ON c.id = l.comparison_id
    JOIN annotation_study s ON s.id = c.study_id
    WHERE s.slug = %s AND l.closed_at IS NULL AND l.expires_at < now()"""
LONG_AGO = """
    UPDATE annotation_lease l SET issued_at = l.issued_at - interval '1 day',
        expires_at = now() - interval '1 hour'
    FROM annotation_comparison c, annotation_study s
    WHERE c.id = l.comparison_id AND s.id = c.study_id AND s.slug = %s AND l.closed_at IS NULL
    RETURNING l.id"""
TICK_OFTEN = """
import django; django.setup()
from annotation.tasks import release_expired_leases
for _ in range(10): release_expired_leases.delay()
"""


def give_up(stack: Stack, web: Web, study: str) -> None:
    """Have people open a pair each and go away, a day ago."""
    holders = [Rater([web.address], study, Event()) for _ in range(N_HOLDERS)]
    for one in holders:
        one.open_first_pair()
    assert len(stack.cluster.rows(LONG_AGO, study)) >= N_HOLDERS


def asked(web: Web) -> int:
    """Return how the API answers, which counts requests in Redis."""
    with urllib.request.urlopen(f"{web.address}/api/v1/studies/", timeout=60) as answer:
        return int(answer.status)


def wait_for_ticks(stack: Stack, beat: Process) -> None:
    """Wait until beat sends ticks, of which none is left from before and no worker takes any."""
    stack.broker.flush()
    with redis.Redis.from_url(stack.broker.url) as client:
        wait_until(lambda: any(client.type(key) == b"list" for key in client.scan_iter()), beat)


def break_redis(broker: Broker, web: Web, crowd: Crowd) -> float:
    """Let Redis forget everything and end; judging and the API go on, and nothing is counted."""
    crowd.wait_for_each(3)
    broker.flush()
    broker.crash()
    try:
        assert asked(web) == HTTPStatus.OK
        crowd.wait_for_each(3)
    finally:
        broker.start()
    return crowd.wait_for_each(3)


def test_redis_forgets_everything_and_comes_back(stack, web, settle):
    study = "redis-restarted"
    give_up(stack, web, study)
    with stack.beat() as beat:
        wait_for_ticks(stack, beat)
        with stack.worker("worker") as worker:
            with judging(study, web.process, addresses=[web.address]) as crowd:
                healed_s = max(break_redis(stack.broker, web, crowd) for _ in range(ROUNDS))
            assert asked(web) == HTTPStatus.OK
            stack.run("-c", TICK_OFTEN)
            wait_until(lambda: stack.cluster.rows(HELD, study) == [(0,)], worker)
        wait_for_ticks(stack, beat)

    settle(study, "flushed, killed, started", crowd, healed_s=healed_s)
    assert not crowd.troubles


def test_workers_killed_in_the_middle_and_ticks_many_times_over(stack, web, settle):
    study, cluster = "celery-killed", stack.cluster
    give_up(stack, web, study)
    with stack.worker("first") as first, stack.worker("second") as second:
        with psycopg.connect(cluster.url) as link:
            link.execute("LOCK TABLE annotation_comparison IN SHARE ROW EXCLUSIVE MODE")
            stack.run("-c", TICK_OFTEN)
            wait_until(lambda: cluster.rows(WAITING)[0][0] > 0, first, second)
            first.kill()
            second.kill()
        assert cluster.rows(HELD, study) == [(N_HOLDERS,)]
    begun = time.monotonic()
    with stack.worker("third") as third, stack.worker("fourth") as fourth:
        stack.run("-c", TICK_OFTEN)
        wait_until(lambda: cluster.rows(HELD, study) == [(0,)], third, fourth)
        healed_s = time.monotonic() - begun

    settle(study, "two workers killed, ticks tenfold", Crowd([], []), healed_s=healed_s)
