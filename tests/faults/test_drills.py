"""Everything is broken under load and comes back: web, database, Redis, workers, and a line.

What a rater sees of it all is looked at in a browser. A clock is moved while people judge: time is
an argument below the interface, so the steps are given and not waited for. A disk is full in the
middle of an export: a limit on the size of files stands for it, as a full one needs a disk of its
own, and rights.
"""

import datetime as dt
import os
import resource
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from threading import Event

import psycopg
import pytest
import redis
from django.db.models import Count, F
from django.test import Client
from playwright.sync_api import Page, expect

from annotation.judging.services import leasing
from annotation.models import Comparison, Judgment, Lease
from annotation.raters.visit_time import IMAGINED
from heart_site import schedule
from heart_site.celery import app
from heart_site.monitoring.heartbeats import Scheduler
from tests.browser.conftest import PATIENCE_MS, chromium
from tests.browser.test_rater_pages import REASON, enrol, wait_for_pair
from tests.faults.conftest import ROUNDS
from tests.faults.crowd import Crowd, Rater, balance, judging
from tests.faults.services import Broker, Cluster, Stack, Web
from tests.helpers import visits
from tests.helpers.factories import HOUR, NOW, make_rater, make_study
from tests.helpers.judged import lease_next, make_comparisons, submit
from tests.helpers.processes import ROOT, Process, wait_until
from tests.helpers.visits import open_study, url

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


PER_PAIR = 5
SOONEST_S = schedule.BEAT_SLEEPS_S
YEARS = dt.timedelta(days=3650)


def check_books() -> None:
    """Of every pair, free slots, open leases and counted judgments add up to the quota."""
    for pair in Comparison.objects.annotate(n=Count("judgments")):
        held = pair.leases.filter(closed_at=None).count()
        assert pair.slots_left + held + pair.n == PER_PAIR
    assert not Judgment.objects.filter(submitted_at__lt=F("shown_at")).exists()


@pytest.mark.django_db
@pytest.mark.parametrize("step", [HOUR, -HOUR, YEARS, -YEARS], ids=str)
def test_steps_between_pair_and_answer_lose_nothing(step):
    study = make_study(judgments_per_pair=PER_PAIR)
    make_comparisons(study, 3)
    rater = make_rater(study=study)

    for moved in (step, dt.timedelta(), -step):
        lease = lease_next(rater, NOW)
        leasing.release_expired_leases(now=NOW + moved)
        first = submit(lease, now=NOW + moved)
        again = submit(lease, now=NOW)
        assert again == first
        assert not first.is_surplus

    assert Judgment.objects.count() == 3
    assert not Lease.objects.filter(closed_at=None).exists()
    check_books()


@pytest.mark.django_db
@pytest.mark.parametrize("step", [YEARS, -YEARS], ids=str)
def test_raters_stay_who_they_are(client: Client, step: dt.timedelta):
    study = open_study()
    visits.enrol(client, study)
    then = {IMAGINED: NOW + step}

    assert client.get(url(study, "judge"), **then).status_code == 200  # type: ignore[arg-type]


class Silent(Scheduler):
    """A scheduler that sends nothing."""

    def apply_entry(self, *_entry: object, **_producer: object) -> None:
        """Send nothing."""


def test_ticks_go_on_after_the_clock_was_set_back(tmp_path):
    beat = Silent(app=app, schedule_filename=str(tmp_path / "schedule"))
    for entry in beat.schedule.values():
        entry.last_run_at += HOUR

    until_next_s = beat.tick()

    beat.close()
    assert until_next_s <= SOONEST_S


ROOM = 2_000
"""Bytes; the table has more."""


def leave_little_room() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))


def export(stack: Stack, out: Path, *, is_full: bool) -> "subprocess.CompletedProcess[str]":
    command = ["manage.py", "export", "comparisons", "--study", "browser", "--out", str(out)]
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        # What Python compiles would be cut off as well, and be there for every later process.
        env={**os.environ, **stack.env, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=leave_little_room if is_full else None,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_export_on_a_full_disk_leaves_nothing_and_is_whole_when_there_is_room(stack, tmp_path):
    out = tmp_path / "comparisons.csv"

    refused = export(stack, out, is_full=True)

    assert refused.returncode != 0
    assert f"{out}: cannot be written" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert list(tmp_path.iterdir()) == []

    written = export(stack, out, is_full=False)

    assert written.returncode == 0, written.stderr
    assert [one.name for one in tmp_path.iterdir()] == [out.name]
    assert out.stat().st_size > ROOM
