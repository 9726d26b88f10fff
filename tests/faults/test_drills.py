"""Everything is broken under load and comes back: web, database, Redis, workers, and a line.

What a rater sees of it all is looked at in a browser.
"""

import time
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from threading import Event

import psycopg
import pytest
import redis
from playwright.sync_api import Page, expect

from tests.browser.conftest import PATIENCE_MS, chromium
from tests.browser.test_rater_pages import REASON, enrol, wait_for_pair
from tests.faults.conftest import ROUNDS
from tests.faults.crowd import Crowd, Rater, balance, judging
from tests.faults.services import Broker, Cluster, Stack, Web
from tests.helpers.processes import Process, wait_until

CRASH_LOOP_S = 6
"""A process that is killed again so soon is not replaced: the server ends, to be started anew."""
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


def kill_in_the_middle(web: Web, crowd: Crowd, cluster: Cluster) -> float:
    """Kill all workers while answers are in transactions that are not committed.

    Not all raters need be in one: a connection that no worker has taken yet outlives them.
    """
    crowd.wait_for_each(3)
    with psycopg.connect(cluster.url) as link:
        link.execute("LOCK TABLE annotation_judgment IN SHARE ROW EXCLUSIVE MODE")
        wait_until(lambda: cluster.rows(WAITING)[0][0] >= 2, web.process)
        web.kill_workers()
        killed = time.monotonic()
        crowd.wait_for_trouble(n=2)
    healed_s = crowd.wait_for_each(5)
    wait_until(lambda: time.monotonic() - killed > CRASH_LOOP_S, web.process)
    return healed_s


def test_workers_killed_in_the_middle_of_answers(stack, web, settle):
    with judging("worker-killed", web.process, addresses=[web.address]) as crowd:
        healed_s = max(kill_in_the_middle(web, crowd, stack.cluster) for _ in range(ROUNDS))

    settle("worker-killed", "SIGKILL of all web workers", crowd, healed_s=healed_s)


def test_two_servers_on_one_database_serve_one_rater_in_turn(stack, web, settle):
    with stack.web("other") as other:
        addresses = [web.address, other.address]
        with judging("two-webs", web.process, other.process, addresses=addresses) as crowd:
            crowd.wait_for_each(10)
            assert not crowd.troubles
            other.process.kill()
            healed_s = Crowd(crowd.raters, [web.process]).wait_for_each(5)

    settle("two-webs", "two servers in turn, one killed", crowd, healed_s=healed_s)
    assert set(crowd.troubles) == {"no answer"}


def crash(cluster: Cluster, crowd: Crowd) -> float:
    """End the server while everybody judges, and start it when everybody has met that."""
    crowd.wait_for_each(3)
    cluster.crash()
    crowd.wait_for_trouble()
    cluster.start()
    return crowd.wait_for_each(5)


def test_the_database_crashes_under_load_and_comes_back(stack, web, settle):
    with judging("database-restarted", web.process, addresses=[web.address]) as crowd:
        healed_s = max(crash(stack.cluster, crowd) for _ in range(ROUNDS))

    settle("database-restarted", "crash and start under load", crowd, healed_s=healed_s)
    assert crowd.troubles["503"] >= len(crowd.raters)


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


SAFE = "Your answer is safe"
MINUTE_MS = 60_000


@pytest.fixture
def page() -> Iterator[Page]:
    with chromium() as browser:
        page = browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        yield page


def answer(page: Page) -> None:
    page.keyboard.press("2")
    page.get_by_role("textbox").fill(REASON)
    page.keyboard.press("Control+Enter")


def test_answers_outlive_a_lost_line_and_a_lost_database(stack, web, page, record_property):
    page.clock.install()
    enrol(page, f"{web.address}/s/browser/")

    page.context.set_offline(True)
    answer(page)
    expect(page.get_by_text(SAFE)).to_be_visible()
    page.clock.fast_forward(MINUTE_MS)
    expect(page.get_by_text(SAFE)).to_be_visible()
    page.context.set_offline(False)
    wait_for_pair(page, 2)
    expect(page.get_by_text(SAFE)).not_to_be_visible()

    stack.cluster.crash()
    answer(page)
    expect(page.get_by_text(SAFE)).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_value(REASON)
    stack.cluster.start()
    wait_for_pair(page, 3)

    stack.cluster.crash()
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("One moment, please")
    expect(page.get_by_text("It loads by itself")).to_be_visible()
    stack.cluster.start()
    wait_for_pair(page, 3)

    found = balance(stack.cluster, "browser", [])
    done, seen = "offline a minute, database gone twice", "a calm notice, a calm page"
    record_property("drill", ("browser", done, 2, 2 - found.stored, len(found.twice), seen, ""))
    assert (found.stored, found.twice, found.out_of_order) == (2, [], [])
