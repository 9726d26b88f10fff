"""What an operator sees of the site: lines with ids, and metrics."""

import json
import logging
import os
import subprocess
import sys
from functools import partial

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client, override_settings
from prometheus_client.parser import text_string_to_metric_families

from completions.choices import CallState
from completions.models import System
from completions.writers.emails import MOST_ATTEMPTS
from heart_site.celery import app as celery_app
from heart_site.monitoring.logs import (
    JsonFormatter,
    LineFormatter,
    add_id,
    trace,
    web_formatter,
    working_on,
)
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_generation_call,
    make_study,
    make_system,
    make_writer,
)
from tests.helpers.factories_of_people import make_alert, make_mail

pytestmark = pytest.mark.django_db
TOKEN = "a token of the operator's"
SECRET = "what she told nobody else"


def logged(caplog, name="heart.requests"):
    return [record for record in caplog.records if record.name == name]


def read(formatter, record):
    add_id(record)
    return formatter.format(record)


class TestRequests:
    def test_each_has_an_id_of_its_own(self):
        first, second = (Client().get("/healthz")["X-Request-ID"] for _ in range(2))

        assert first != second
        assert len(first) == 32

    def test_the_id_of_a_proxy_is_kept(self):
        answer = Client().get("/healthz", headers={"X-Request-ID": "abc-12345678"})

        assert answer["X-Request-ID"] == "abc-12345678"

    @pytest.mark.parametrize(
        "given", ["short", "x" * 65, "two words or more", "a\u00e9bcdefgh", "<b>12345678"]
    )
    def test_what_could_be_no_id_is_not(self, given):
        answer = Client().get("/healthz", headers={"X-Request-ID": given})

        assert answer["X-Request-ID"] != given

    def test_one_line_names_the_page_and_not_the_address(self, caplog):
        make_study(slug="kind")
        with caplog.at_level(logging.INFO, logger="heart.requests"):
            Client().get("/s/kind/resume/a-link-that-lets-in/?PROLIFIC_PID=someone")

        (record,) = logged(caplog)
        assert record.facts["page"] == "annotation:resume"
        assert record.facts["status"] in {302, 404}
        assert record.facts["ms"] > 0
        for formatter in (LineFormatter(), JsonFormatter()):
            line = read(formatter, record)
            assert "lets-in" not in line
            assert "someone" not in line

    def test_asking_whether_it_lives_leaves_no_line(self, caplog):
        with caplog.at_level(logging.INFO, logger="heart.requests"):
            Client().get("/healthz")

        assert logged(caplog) == []


class TestLines:
    def record(self, error=None):
        info = (type(error), error, error.__traceback__) if error else None
        return logging.LogRecord("heart.x", logging.ERROR, "x.py", 1, "it %s", ("broke",), info)

    def test_json_has_the_id_of_the_work(self):
        with working_on("request-1"):
            line = json.loads(read(JsonFormatter(), self.record()))

        assert line["id"] == "request-1"
        assert line["message"] == "it broke"
        assert line["level"] == "ERROR"
        assert line["at"].endswith("+00:00")

    def test_outside_of_work_there_is_none(self):
        assert json.loads(read(JsonFormatter(), self.record()))["id"] == "-"

    def test_a_trace_is_one_line_of_json(self):
        with pytest.raises(ValueError, match="base 10") as caught:
            int("no such thing")
        line = read(JsonFormatter(), self.record(caught.value))

        assert "\n" not in line
        assert json.loads(line)["trace"].endswith("base 10: 'no such thing'")

    @pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite quotes no row")
    def test_a_refused_row_is_not_quoted(self):
        system = make_system()
        with pytest.raises(IntegrityError) as caught, transaction.atomic():
            System.objects.filter(pk=system.pk).update(name=SECRET, slug=None)

        assert SECRET in str(caught.value)  # the database does quote it
        assert "IntegrityError" in trace(caught.value)
        assert SECRET not in trace(caught.value)
        assert SECRET not in read(JsonFormatter(), self.record(caught.value))


class TestTasks:
    """What Celery says of a task that failed, through its own tracer."""

    @pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite quotes no row")
    def test_quotes_no_refused_row(self, caplog):
        system = make_system()

        @celery_app.task(name="tests.refused")
        def refused():
            with transaction.atomic():
                System.objects.filter(pk=system.pk).update(name=SECRET, slug=None)

        try:
            with caplog.at_level(logging.ERROR, logger="celery.app.trace"):
                refused.apply()
        finally:
            celery_app.tasks.unregister("tests.refused")

        (record,) = logged(caplog, "celery.app.trace")
        assert SECRET in record.data["exc"]  # Celery does quote it
        for formatter in (LineFormatter(), JsonFormatter()):
            line = read(formatter, record)
            assert "tests.refused" in line
            assert "IntegrityError" in line
            assert SECRET not in line


class TestWebFormatter:
    """The process that watches over those that answer has read no settings."""

    @pytest.mark.parametrize(
        ("given", "kind"), [("", JsonFormatter), ("json", JsonFormatter), ("line", LineFormatter)]
    )
    def test_is_that_of_the_site(self, given, kind, monkeypatch):
        monkeypatch.delenv("HEART_LOG_FORMAT", raising=False)
        if given:
            monkeypatch.setenv("HEART_LOG_FORMAT", given)

        formatter = web_formatter()

        assert type(formatter) is kind
        assert "Started" in formatter.format(logging.makeLogRecord({"msg": "Started"}))


class TestMetrics:
    def ask(self, given=TOKEN):
        return Client().get("/metrics", headers={"Authorization": f"Bearer {given}"})

    def value(self, name, **labels):
        families = text_string_to_metric_families(self.ask().content.decode())
        return [
            sample.value
            for family in families
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        ]

    def test_without_a_token_set_there_are_none(self):
        assert self.ask("").status_code == 404

    @override_settings(HEART_METRICS_TOKEN=TOKEN)
    @pytest.mark.parametrize("given", ["", "another", TOKEN + "x", "\u00e9"])
    def test_another_token_finds_nothing(self, given):
        assert self.ask(given).status_code == 404

    @override_settings(HEART_METRICS_TOKEN=TOKEN)
    def test_slots_of_open_studies(self):
        study = make_study(slug="kind", state="OPEN", locked_at=NOW, protocol_hash="0" * 64)
        make_comparison(study=study, slots_left=3)
        make_comparison(study=study, slots_left=2)
        make_comparison(study=make_study(slug="draft", state="DRAFT"), slots_left=9)

        assert self.value("heart_open_slots") == [5]

    @override_settings(HEART_METRICS_TOKEN=TOKEN)
    def test_waiting_calls_and_their_age(self):
        make_generation_call(created_at=NOW)
        make_generation_call(retry_at=NOW.replace(year=2999), created_at=NOW.replace(year=2000))

        assert self.value("heart_waiting_work", kind="completions", state="pending") == [2]
        (age,) = self.value("heart_oldest_waiting_seconds", kind="completions")
        assert 0 < age < 20 * 365 * 86_400  # the one that may not be asked yet is older

    @pytest.mark.parametrize(
        ("admins", "make", "n"),
        [
            (["ada@example.org"], make_alert, 1),
            ([], make_alert, 0),
            ([], make_mail, 1),
            ([], partial(make_mail, attempts=MOST_ATTEMPTS, error="refused"), 0),
            ([], lambda: make_mail(writer=make_writer(email="")), 0),
        ],
        ids=["a report", "a report for nobody", "to a writer", "given up", "without an address"],
    )
    @override_settings(HEART_METRICS_TOKEN=TOKEN)
    def test_an_email_waits_while_it_is_to_be_sent(self, admins, make, n, settings):
        settings.HEART_ADMINS = admins
        make()

        assert self.value("heart_waiting_work", kind="mails") == [n]
        (age,) = self.value("heart_oldest_waiting_seconds", kind="mails")
        assert (age > 0) == bool(n)

    @override_settings(HEART_METRICS_TOKEN=TOKEN)
    def test_requests_are_counted_by_page(self):
        before = sum(self.value("heart_request_seconds_count", page="home"))
        Client().get("/")

        assert sum(self.value("heart_request_seconds_count", page="home")) == before + 1

    @override_settings(HEART_METRICS_TOKEN=TOKEN)
    def test_takes_a_bounded_number_of_queries(self, django_assert_max_num_queries):
        for _ in range(3):
            make_generation_call(state=CallState.PENDING)
        with django_assert_max_num_queries(35):
            self.ask()


@pytest.mark.full
def test_processes_add_up(tmp_path):
    """Two processes count; the third, which answers, has their sum."""
    environment = os.environ | {
        "PROMETHEUS_MULTIPROC_DIR": str(tmp_path / "made"),
        "DJANGO_SETTINGS_MODULE": "heart_site.settings",
    }

    def run(code):
        words = [sys.executable, "-c", f"import django; django.setup(); {code}"]
        return subprocess.run(words, env=environment, check=True, capture_output=True).stdout

    observe = (
        "from heart_site.monitoring.metrics import seconds_of_requests as s; "
        "s.labels('home', 'GET', '200').observe(.02)"
    )
    run(observe)
    run(observe)
    told = run(
        "from heart_site.monitoring import metrics; "
        "print(metrics.generate_latest(metrics._of_requests()).decode())"
    ).decode()

    assert 'heart_request_seconds_count{method="GET",page="home",status="200"} 2.0' in told
