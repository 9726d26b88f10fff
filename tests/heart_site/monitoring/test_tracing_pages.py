"""Spans for OpenTelemetry: what they say, what they never say, and that they are off by default."""

import importlib
import os
import subprocess
import sys

import pytest
from django.test import Client
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from heart_site.celery import app as celery_app
from heart_site.monitoring import tracing
from tests.helpers.factories import make_study

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
    @celery_app.task(name="tests.breaking")
    def breaking(is_broken):
        if is_broken:
            raise ValueError(SECRET)

    yield breaking
    celery_app.tasks.unregister("tests.breaking")


@pytest.mark.django_db
class TestRequests:
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
def test_a_task_has_name_state_and_id_and_of_its_error_the_kind_alone(
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
def test_is_loaded_for_the_first_span_when_an_address_is_given_alone(url, is_loaded):
    code = (
        "import os, sys, heart_site.urls; from heart_site.monitoring import tracing;"
        f"before = {tracing.EXPORTER!r} in sys.modules;"
        "tracing.of_request('home', 'GET', 200, seconds=0.1);"
        f"print(before, {tracing.EXPORTER!r} in sys.modules, flush=True);"
        "os._exit(0)"  # nobody is there to send it to
    )

    assert started(code, OTEL_EXPORTER_OTLP_ENDPOINT=url).split() == ["False", str(is_loaded)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system that does not fork")
def test_each_process_after_a_fork_has_its_own(spans):
    mine = tracing.provider_of(os.getpid())
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        is_own = tracing.provider_of(os.getpid()) is not mine
        os.write(write, b"own" if is_own else b"shared")
        os._exit(0)
    os.waitpid(child, 0)

    assert os.read(read, 10) == b"own"
