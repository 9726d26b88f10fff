"""Signs of life, what waits in the broker, whether a process is ready, and spans.

Spans for OpenTelemetry: what they say, what they never say, and that they are off by default.
"""

import datetime as dt
import importlib
import os
import signal
import subprocess
import sys
from unittest.mock import MagicMock

import pytest
import redis
from billiard import Event, Process
from celery import Celery, signals
from django.conf import settings
from django.core.cache import caches
from django.db import OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client, override_settings
from django.utils import timezone
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from access import nudges
from access.nudges import KEPT_S, Work
from completions.runs import pulling
from heart_site import schedule
from heart_site.celery import app as site
from heart_site.celery import heed_shutdown, nudge_for
from heart_site.monitoring import heartbeats, tracing
from tests.helpers.factories import NOW, make_study
from tests.helpers.threads import TIMEOUT_S


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
        worker = MagicMock()
        worker.app.amqp.queues.consume_from = {"llm": None, "outgoing": None}

        heartbeats.Heart(worker).start(worker)
        seconds, do, given = worker.timer.call_repeatedly.call_args.args
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

    def test_that_shuts_down_tells_its_children_who_do_the_work(self):
        before, has_begun = signal.getsignal(signal.SIGUSR2), Event()
        heed_shutdown()

        def work():
            has_begun.set()
            sys.exit(not pulling.STOPPING.wait(TIMEOUT_S))

        child = Process(target=work)
        try:
            child.start()
            assert has_begun.wait(TIMEOUT_S)
            signals.worker_shutting_down.send(sender="worker")
            child.join()
        finally:
            signal.signal(signal.SIGUSR2, before)

        assert child.exitcode == 0
        assert heed_shutdown in [one() for _, one in signals.worker_init.receivers]


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


SECRET = "what she told nobody else"


@pytest.fixture
def spans(settings, monkeypatch):
    """Return what this process would have sent by now."""
    settings.HEART_TRACES_URL = "http://collector.invalid:4318"
    kept = InMemorySpanExporter()
    module = importlib.import_module(tracing.EXPORTER)
    monkeypatch.setattr(module, "OTLPSpanExporter", lambda endpoint: kept)
    tracing.provider_of.cache_clear()

    def sent():
        tracing.provider_of(os.getpid()).force_flush()
        return kept.get_finished_spans()

    yield sent
    tracing.provider_of(os.getpid()).shutdown()
    tracing.provider_of.cache_clear()


@pytest.fixture
def breaking():
    @site.task(name="tests.breaking")
    def breaking(is_broken):
        if is_broken:
            raise ValueError(SECRET)

    yield breaking
    site.tasks.unregister("tests.breaking")


@pytest.mark.django_db
class TestSpansOfRequests:
    def test_has_page_status_and_id_and_nothing_of_the_person(self, spans):
        make_study(slug="kind")
        answer = Client().get(
            "/s/kind/resume/a-link-that-lets-in/?PROLIFIC_PID=someone",
            headers={"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"},
        )

        (span,) = spans()
        assert span.name == "annotation:resume"
        assert span.kind is SpanKind.SERVER
        assert span.parent is None
        assert span.attributes == {
            "http.request.method": "GET",
            "http.response.status_code": answer.status_code,
            "heart.id": answer["X-Request-ID"],
        }
        assert span.end_time > span.start_time
        for secret in ("lets-in", "someone", "/s/", "a" * 32):
            assert secret not in span.to_json()

    def test_an_error_is_marked_without_its_message(self, spans, monkeypatch):
        def break_down(*_args, **_options):
            raise ValueError(SECRET)

        monkeypatch.setattr("heart_site.views.render", break_down)
        answer = Client(raise_request_exception=False).get("/")

        assert answer.status_code == 500
        (span,) = spans()
        assert span.status.status_code is StatusCode.ERROR
        assert SECRET not in span.to_json()

    def test_asking_whether_it_lives_leaves_none(self, spans):
        Client().get("/healthz")

        assert spans() == ()


@pytest.mark.parametrize(
    ("is_broken", "state", "error"),
    [(False, "SUCCESS", None), (True, "FAILURE", "ValueError")],
    ids=["done", "broken"],
)
def test_the_span_of_a_task_has_name_state_and_id_and_of_its_error_the_kind_alone(
    spans, breaking, is_broken, state, error
):
    done = breaking.apply([is_broken])

    (span,) = spans()
    wanted = {"celery.state": state, "heart.id": done.id, "error.type": error}
    assert span.name == "tests.breaking"
    assert span.kind is SpanKind.CONSUMER
    assert span.attributes == {name: value for name, value in wanted.items() if value}
    assert span.status.status_code is (StatusCode.ERROR if is_broken else StatusCode.UNSET)
    assert SECRET not in span.to_json()


def started(code, **variables):
    words = [sys.executable, "-c", f"import django; django.setup(); {code}"]
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "heart_site.settings"} | variables
    return subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout


@pytest.mark.full
@pytest.mark.parametrize(("url", "is_loaded"), [("", False), ("http://127.0.0.1:9", True)])
def test_tracing_is_loaded_for_the_first_span_when_an_address_is_given_alone(url, is_loaded):
    code = (
        "import os, sys, heart_site.urls; from heart_site.monitoring import tracing;"
        f"before = {tracing.EXPORTER!r} in sys.modules;"
        "tracing.of_request('home', 'GET', 200, seconds=0.1);"
        f"print(before, {tracing.EXPORTER!r} in sys.modules, flush=True);"
        "os._exit(0)"  # nobody is there to send it to
    )

    assert started(code, OTEL_EXPORTER_OTLP_ENDPOINT=url).split() == ["False", str(is_loaded)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system that does not fork")
def test_each_process_after_a_fork_has_its_own_spans(spans):
    mine = tracing.provider_of(os.getpid())
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        is_own = tracing.provider_of(os.getpid()) is not mine
        os.write(write, b"own" if is_own else b"shared")
        os._exit(0)
    os.waitpid(child, 0)

    assert os.read(read, 10) == b"own"
