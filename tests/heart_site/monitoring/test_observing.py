"""What an operator sees of the site: lines with ids, and metrics."""

import json
import logging
import os
import subprocess
import sys
from functools import partial
from unittest import mock

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models import QuerySet
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from completions.choices import CallState
from completions.models import System
from completions.writers.emails import MOST_ATTEMPTS
from heart_site import schedule
from heart_site.celery import app as celery_app
from heart_site.monitoring import metrics
from heart_site.monitoring.logs import (
    IdleTasks,
    JsonFormatter,
    LineFormatter,
    add_id,
    trace,
    web_formatter,
    working_on,
)
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_generation_call,
    make_judge_call,
    make_rewrite_call,
    make_screening_call,
    make_study,
    make_system,
    make_writer,
)
from tests.helpers.factories_of_calls import make_generation_run
from tests.helpers.factories_of_people import make_alert, make_mail
from tests.helpers.factories_of_site import make_job

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

    @pytest.mark.parametrize(
        ("given", "is_kept"),
        [
            ("abc-12345678", True),
            ("short", False),
            ("x" * 65, False),
            ("two words or more", False),
            ("a\u00e9bcdefgh", False),
            ("<b>12345678", False),
        ],
    )
    def test_the_id_of_a_proxy_is_kept_where_it_could_be_one(self, given, is_kept):
        answer = Client().get("/healthz", headers={"X-Request-ID": given})

        assert (answer["X-Request-ID"] == given) is is_kept

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

    @pytest.mark.parametrize(
        ("error", "status"), [(None, 403), (OperationalError("away"), 503), (KeyError("ours"), 500)]
    )
    def test_what_django_says_of_a_refused_or_failed_one_names_the_page(
        self, error, status, caplog, monkeypatch
    ):
        client = Client(enforce_csrf_checks=True, raise_request_exception=False)
        if error is not None:
            monkeypatch.setattr(QuerySet, "_fetch_all", mock.Mock(side_effect=error))
        ask = client.get if error else client.post

        assert ask("/s/kind/resume/a-link-that-lets-in/").status_code == status

        (record,) = (one for one in caplog.records if one.name.startswith("django."))
        line = read(LineFormatter(), record)
        assert "lets-in" not in line
        assert line.partition("\n")[0].endswith(": annotation:resume")

    def test_asking_whether_it_lives_leaves_no_line(self, caplog):
        with caplog.at_level(logging.INFO, logger="heart.requests"):
            Client().get("/healthz")

        assert logged(caplog) == []


class TestLines:
    def record(self, error=None):
        info = (type(error), error, error.__traceback__) if error else None
        return logging.LogRecord("heart.x", logging.ERROR, "x.py", 1, "it %s", ("broke",), info)

    def test_json_is_one_line_with_the_id_of_the_work_and_the_trace(self):
        with pytest.raises(ValueError, match="base 10") as caught:
            int("no such thing")
        with working_on("request-1"):
            line = read(JsonFormatter(), self.record(caught.value))
        outside = json.loads(read(JsonFormatter(), self.record()))

        told = json.loads(line)
        assert "\n" not in line
        assert (told["id"], told["message"], told["level"]) == ("request-1", "it broke", "ERROR")
        assert told["at"].endswith("+00:00")
        assert told["trace"].endswith("base 10: 'no such thing'")
        assert outside["id"] == "-"

    @pytest.mark.postgres
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

    @pytest.mark.postgres
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
    @pytest.fixture(autouse=True)
    def _token(self, settings):
        settings.HEART_METRICS_TOKEN = TOKEN

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

    def test_without_a_token_set_there_are_none(self, settings):
        settings.HEART_METRICS_TOKEN = ""

        assert self.ask("").status_code == 404

    @pytest.mark.parametrize("given", ["", "another", TOKEN + "x", "\u00e9"])
    def test_another_token_finds_nothing(self, given):
        assert self.ask(given).status_code == 404

    def test_a_number_has_a_name_and_labels(self):
        make_generation_call()

        assert self.value("heart_waiting_work", kind="completions", state="pending") == [1]

    def test_requests_are_counted_by_page(self):
        before = sum(self.value("heart_request_seconds_count", page="home"))
        Client().get("/")

        assert sum(self.value("heart_request_seconds_count", page="home")) == before + 1

    def test_takes_a_bounded_number_of_queries(self, django_assert_max_num_queries):
        for _ in range(3):
            make_generation_call(state=CallState.PENDING)
        with django_assert_max_num_queries(35):
            self.ask()


def told(name):
    """Return the values of a gauge an hour later, by their labels."""
    return dict(metrics.GAUGES[name].read(NOW + HOUR))


PAUSED = {"state": "PAUSED", "pause_reason": "ADMIN"}


def of_study(state):
    """Return the comparison of a study in that state, as a call is made of it."""
    return {"comparison": make_comparison(study=make_study(state=state))}


class TestWhatWaits:
    def test_slots_of_open_studies(self):
        study = make_study(slug="kind", state="OPEN")
        for slots_left in (3, 2):
            make_comparison(study=study, slots_left=slots_left)
        make_comparison(study=make_study(slug="draft", state="DRAFT"), slots_left=9)

        assert told("open_slots") == {("kind",): 5}

    def test_calls_wait_and_are_as_old_as_the_first_that_may_be_asked(self):
        make_generation_call(created_at=NOW)
        make_generation_call(retry_at=NOW + 2 * HOUR, created_at=NOW - HOUR)

        assert told("waiting_work")["completions", "pending"] == 2
        assert told("oldest_waiting_seconds")[("completions",)] == 3600

    @pytest.mark.parametrize(
        ("kind", "make", "n"),
        [
            ("completions", lambda: make_generation_call(run=make_generation_run(**PAUSED)), 0),
            ("completions", lambda: make_generation_call(run=make_generation_run()), 1),
            ("judges", lambda: make_judge_call(**of_study("CLOSED")), 0),
            ("judges", lambda: make_judge_call(**of_study("OPEN")), 1),
            ("screening", make_screening_call, 0),
            ("screening", lambda: make_job(kind="SCREEN") and make_screening_call(), 1),
            ("rewrites", lambda: make_job(kind="SCREEN") and make_rewrite_call(), 0),
        ],
    )
    def test_calls_that_nobody_wants_made_now_are_no_delay(self, kind, make, n):
        call = make()
        type(call).objects.update(created_at=NOW)

        assert told("waiting_work")[kind, "pending"] == 1
        assert told("oldest_waiting_seconds")[(kind,)] == 3600 * n

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
    def test_an_email_waits_while_it_is_to_be_sent(self, admins, make, n, settings):
        settings.HEART_ADMINS = admins
        make()

        assert told("waiting_work")["mails", "pending"] == n
        assert told("oldest_waiting_seconds")[("mails",)] == 3600 * n


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


TICK = "completions.tasks.look_after_runs"
IDLE = {
    "sent by beat": ("look-after-runs", TICK),
    "taken": ({"name": TICK, "id": "1"},),
    "ended without anything done": ({"name": TICK, "return_value": "0"},),
}
TELLING = {
    "ended with something done": ({"name": TICK, "return_value": "3"},),
    "work taken": ({"name": "ranking.tasks.run_fit", "id": "1"},),
    "work ended": ({"name": "ranking.tasks.run_fit", "return_value": "None"},),
    "about no task": (),
}


class TestIdleTasks:
    """Lines about tasks that looked for work and did none are details; all others stay."""

    @pytest.mark.parametrize("severity", [logging.INFO, logging.ERROR])
    @pytest.mark.parametrize("level", [logging.DEBUG, logging.INFO])
    @pytest.mark.parametrize("what", [*IDLE, *TELLING])
    def test_a_line_that_tells_nothing_is_left_to_who_looks_for_details(
        self, what, level, severity, caplog
    ):
        logger, idle = logging.getLogger("heart-idle-test"), IdleTasks(schedule.LOOKING)
        told = (IDLE | TELLING)[what]
        logger.addFilter(idle)

        with caplog.at_level(level, logger.name):
            logger.log(severity, "about %s %s" if len(told) > 1 else "about a task", *told)

        logger.removeFilter(idle)
        is_detail = what in IDLE and severity == logging.INFO
        shown = [logging.DEBUG if is_detail else severity]
        wanted = [one for one in shown if one >= level]
        assert [record.levelno for record in caplog.records] == wanted
