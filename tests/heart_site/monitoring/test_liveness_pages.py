"""Signs of life, what waits in the broker, and whether a process is ready."""

import datetime as dt
import os
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from celery import Celery
from django.conf import settings
from django.core.cache import caches
from django.db import OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client, override_settings
from django.utils import timezone

from access import nudges
from access.nudges import KEPT_S, Work
from heart_site import schedule
from heart_site.celery import app as site
from heart_site.celery import nudge_for
from heart_site.monitoring import heartbeats
from tests.helpers.factories import NOW


@pytest.fixture
def deployed(settings, redis_url, prefix):
    """The settings of a deployment, on a real Redis."""
    settings.IS_EMBEDDED = False
    settings.CELERY_BROKER_URL = redis_url
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"global_keyprefix": prefix}
    with redis.Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
def lost(settings):
    """A deployment whose Redis is away."""
    settings.IS_EMBEDDED = False
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"global_keyprefix": "lost:"}
    settings.CACHES = settings.CACHES | {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": settings.CELERY_BROKER_URL,
        }
    }


def newest():
    """The last migration of the results."""
    (node,) = MigrationLoader(connection).graph.leaf_nodes("ranking")
    return node


def told(name):
    return dict(heartbeats.GAUGES[name].read(NOW))


class TestHeartbeats:
    def test_a_worker_speaks_for_its_queues(self, settings, tmp_path):
        settings.HEART_HEARTBEAT_FILE = str(tmp_path / "alive")
        calls = []
        timer = SimpleNamespace(
            call_repeatedly=lambda seconds, do, given: calls.append((seconds, do, given))
        )
        queues = SimpleNamespace(consume_from={"llm": None, "outgoing": None})
        worker: Any = SimpleNamespace(
            timer=timer, app=SimpleNamespace(amqp=SimpleNamespace(queues=queues))
        )

        heartbeats.Heart(worker).start(worker)
        ((seconds, do, given),) = calls
        assert not (tmp_path / "alive").exists()
        do(*given)

        assert seconds < 60
        assert (tmp_path / "alive").exists()
        assert set(heartbeats.newest(["llm", "outgoing", "beat"])) == {"llm", "outgoing"}

    def test_an_old_file_is_young_again_also_without_redis(self, lost, settings, tmp_path):
        file = tmp_path / "alive"
        settings.HEART_HEARTBEAT_FILE = str(file)
        file.touch()
        os.utime(file, (0, 0))

        heartbeats.give(["beat"], now=NOW.timestamp())

        assert file.stat().st_mtime > 0


class TestExpiredMessages:
    """Those of a queue without workers: Redis itself keeps a message for ever."""

    def test_are_taken_out_and_others_stay(self, deployed):
        app = Celery(set_as_current=False)
        app.conf.update(
            broker_url=settings.CELERY_BROKER_URL,
            broker_transport_options=settings.CELERY_BROKER_TRANSPORT_OPTIONS,
            task_queues=schedule.QUEUES,
            task_routes=schedule.ROUTES,
        )
        now = timezone.now()
        for seconds in (3_000, 9_000, 6_000):
            nudges.publish(Work.REFIT, seconds - KEPT_S, app=app)
        app.send_task("ranking.tasks.run_fit", queue="analysis")

        dropped = [
            heartbeats.drop_expired(now=now + dt.timedelta(seconds=s))
            for s in (2_000, 7_500, 7_500)
        ]

        assert dropped == [0, 2, 0]
        assert heartbeats.lengths()["analysis"] == 2

    def test_are_looked_for_by_beat(self, monkeypatch, tmp_path):
        looked = []
        monkeypatch.setattr(heartbeats, "drop_expired", lambda *, now: looked.append(now))
        beat = heartbeats.Scheduler(app=site, schedule_filename=str(tmp_path / "schedule"))

        for _ in range(3):
            beat.tick()

        beat.close()
        assert len(looked) == 1

    def test_are_nobodys_concern_without_redis_or_in_one_process(self, request):
        assert heartbeats.drop_expired(now=NOW) == 0
        request.getfixturevalue("lost")
        assert heartbeats.drop_expired(now=NOW) == 0


class TestWorkersThatStart:
    def test_look_for_all_that_their_queues_may_hold(self, monkeypatch):
        told = []
        monkeypatch.setattr(nudges, "publish", lambda work, _within_s: told.append(work))

        nudge_for({"analysis", "outgoing"})

        assert told == [Work.DELIVER_HOOKS, Work.REFIT, Work.ANALYSE]


class TestNumbers:
    def test_the_embedded_default_has_none(self):
        assert [told(name) for name in heartbeats.GAUGES] == [{}, {}, {}]

    def test_messages_that_wait(self, deployed, prefix):
        deployed.rpush(f"{prefix}llm", "a nudge", "another")

        assert told("queue_messages") == {
            ("maintenance",): 0,
            ("llm",): 2,
            ("analysis",): 0,
            ("outgoing",): 0,
        }
        assert told("broker_up") == {(): 1}

    def test_the_age_of_signs_and_no_sign_at_all(self, deployed):
        heartbeats.give(["beat", "llm"], now=NOW.timestamp() - 30)

        ages = told("heartbeat_age_seconds")

        assert ages[("beat",)] == ages[("llm",)] == 30
        assert ages[("analysis",)] == float("inf")

    def test_a_lost_redis_is_told_and_breaks_nothing(self, lost):
        assert told("broker_up") == {(): 0}
        assert told("queue_messages") == {}
        assert set(told("heartbeat_age_seconds").values()) == {float("inf")}


@pytest.mark.django_db
class TestReady:
    def test_not_while_a_migration_is_missing_which_is_asked_until_none_is(
        self, django_assert_num_queries
    ):
        assert Client().get("/readyz").content == b"ready\n"
        with django_assert_num_queries(1):
            Client().get("/readyz")

        caches["own"].clear()
        MigrationRecorder(connection).record_unapplied(*newest())
        answer = Client().get("/readyz")
        assert (answer.status_code, answer.content) == (503, b"migrations are missing\n")
        MigrationRecorder(connection).record_applied(*newest())
        assert Client().get("/readyz").status_code == 200

    def test_with_migrations_of_later_code(self):
        MigrationRecorder(connection).record_applied("ranking", "9999_of_later_code")

        assert Client().get("/readyz").status_code == 200

    def test_not_without_a_database(self, monkeypatch):
        def refuse():
            raise OperationalError

        monkeypatch.setattr(connection, "cursor", refuse)

        assert Client().get("/readyz").content == b"the database does not answer\n"

    @override_settings(HEART_METRICS_TOKEN="t")
    def test_without_redis_which_metrics_tell(self, lost):
        assert Client().get("/readyz").status_code == 200
        answer = Client().get("/metrics", headers={"Authorization": "Bearer t"})

        assert b"heart_broker_up 0.0" in answer.content
        assert b'heart_heartbeat_age_seconds{of="beat"} +Inf' in answer.content
