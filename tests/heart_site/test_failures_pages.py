"""What goes wrong is told without secrets and what people wrote; outages by a calm word, no 500."""

import io
import logging
import sqlite3
from typing import Any

import psycopg
import pytest
import redis
from django.core import mail
from django.db import IntegrityError, InterfaceError, OperationalError, ProgrammingError
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.urls import reverse
from kombu.exceptions import LimitExceeded
from kombu.exceptions import OperationalError as NoBrokerError
from redis._parsers.base import BaseParser

from access.choices import Scope
from annotation.judging.services import judging
from annotation.models import Lease
from annotation.session import http
from annotation.studies import queries as study_queries
from completions.writers.credentials import invitation_link
from heart_site import middleware, views
from heart_site.celery import app
from heart_site.monitoring import logs
from tests.helpers.factories import make_writer
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.factories_written_once import make_member
from tests.helpers.processes import settings_with
from tests.helpers.visits import ANSWERS, HTMX, enrol, open_study, read_forms, url

pytestmark = pytest.mark.django_db

RATIONALE = "Planted rationale: she hears the kettle sing."
PASSWORD = "planted-password-of-the-database"
KEY = "sk-planted-key-of-a-provider"
SITE_KEY = "planted-secret-key-of-the-site"


@pytest.fixture
def log():
    """Everything that is logged, as a deployment writes it."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.JsonFormatter())
    handler.addFilter(logs.add_id)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.fixture(autouse=True)
def planted(monkeypatch, settings):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    settings.SECRET_KEY = SITE_KEY


def leaks(log, *answers, also=()):
    """Name each planted word that stands in the log, in an answer or in a mail."""
    told = log.getvalue() + "".join(answer.content.decode() for answer in answers)
    told += "".join(one.message().as_string() for one in mail.outbox)
    return [word for word in (RATIONALE, PASSWORD, KEY, SITE_KEY, *also) if word in told]


class TestFaultsOfOurs:
    @pytest.fixture
    def submit(self):
        study, client = open_study(), Client(raise_request_exception=False)
        enrol(client, study, pid="planted-platform-id")
        client.get(url(study, "judge"))
        address = url(study, "submit", Lease.objects.get().token)
        return lambda: client.post(address, ANSWERS["preference"] | {"rationale": RATIONALE})

    @pytest.mark.parametrize(
        "error",
        [
            RuntimeError("broken"),
            IntegrityError(f"broken rule\nDETAIL:  Failing row contains (1, {RATIONALE})."),
        ],
        ids=["code", "database"],
    )
    def test_in_the_middle_of_an_answer(self, log, submit, monkeypatch, error):
        def broken(**_given):
            raise error

        monkeypatch.setattr(judging, "submit_and_assign_next", broken)

        answer = submit()

        assert answer.status_code >= 500
        assert "Traceback" in log.getvalue()
        assert "Traceback" not in answer.content.decode()
        assert leaks(log, answer, also=["planted-platform-id"]) == []

    def test_in_a_task(self, log):
        @app.task(name="tests.broken", shared=False)
        def broken():
            row = f"broken rule\nDETAIL:  Failing row contains (1, {RATIONALE})."
            raise IntegrityError(row)

        try:
            broken.apply()
        finally:
            app.tasks.unregister("tests.broken")

        assert "broken rule" in log.getvalue()
        assert leaks(log) == []


class TestVisitors:
    def test_links_and_tokens_are_in_no_line(self, log):
        study = open_study()
        link = http.credential(enrol(Client(), study), use="link")
        written = invitation_link(make_writer())
        secret = make_secret(Scope.READ_STUDIES)
        answers = [
            Client().get(url(study, "resume", link)),
            Client().get(url(study, "resume", link) + "no/such/page"),
            Client().get(written),
            Client().get("/api/v1/studies/", headers=bearing(secret)),
            Client().get("/api/v1/studies/no-such/", headers=bearing(secret)),
            Client().get("/api/v1/studies/", headers=bearing(secret + "x")),
            Client().post(f"/hooks/prolific/{study.slug}/", {"text": RATIONALE}),
        ]

        assert log.getvalue().count("heart.requests") >= len(answers)
        assert leaks(log, also=[link, written.rsplit("/", 2)[-2], secret]) == []

    def test_a_password_that_is_typed_is_in_no_line(self, log):
        member = make_member("ada")
        answer = Client().post("/accounts/login/", {"login": member.username, "password": PASSWORD})

        assert leaks(log, answer) == []

    @pytest.mark.parametrize("to", ["//evil.example/", "https://evil.example/", "javascript:xq()"])
    def test_signing_in_leads_to_no_other_site(self, to):
        member = make_member("ada")
        member.set_password(PASSWORD)
        member.save()
        typed = {"login": "ada", "password": PASSWORD, "next": to}

        answer = Client().post("/accounts/login/", typed)

        assert answer.status_code == 302
        assert answer["Location"].startswith(("/console/", "/accounts/"))

    def test_another_host_than_ours_is_refused_and_not_repeated(self, log):
        answer = Client().get("/", headers={"Host": "evil.example"})

        assert answer.status_code == 400
        assert "evil.example" not in answer.content.decode()
        assert leaks(log, answer) == []


def test_nobody_is_mailed_what_went_wrong():
    """Django would mail an admin the whole request, with what was typed."""
    assert settings_with().get("ADMINS", []) == []


AWAY = OperationalError("the database system is shutting down")
SAFE = "Your answer is safe; try again"


REDIS_TAKES_NOTHING = (
    "OOM command not allowed when used memory > 'maxmemory'.",
    "READONLY You can't write against a read only replica.",
    "MISCONF Redis is configured to save RDB snapshots, but it's unable to persist to disk.",
    "NOREPLICAS Not enough good replicas to write.",
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    "LOADING Redis is loading the dataset in memory",
    "CLUSTERDOWN The cluster is down",
    "BUSY Redis is busy running a script.",
)
"""What it answers, as it comes over the wire, where waiting helps."""


def redis_error(words: str) -> Exception:
    """The error that the client makes of an answer."""
    return BaseParser.parse_error(words)


def raised(error: Exception, cause: BaseException | None = None) -> Exception:
    """An error as a library raises it from another."""
    error.__cause__ = cause
    return error


def sqlite_error(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("told by SQLite")
    error.sqlite_errorcode = code
    return error


def fails(*_arguments: object, **_named: object) -> Any:
    raise AWAY


@pytest.fixture
def gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The database does not answer what the home page asks."""
    monkeypatch.setattr(study_queries, "public_studies", fails)


class TestPages:
    def test_a_page_that_was_only_looked_at_comes_back_by_itself(self, client: Client, gone: None):
        answer = client.get(reverse("home"))

        page = answer.content.decode()
        assert answer.status_code == 503
        assert answer["Retry-After"] == "5"
        assert "no-store" in answer["Cache-Control"]
        assert "what you sent before is kept" in page
        assert "js/returning.js" in page
        assert f'data-ready="{reverse("ready")}"' in page

    def test_a_posted_answer_may_be_sent_again(self, client: Client, monkeypatch):
        study = open_study(n_pairs=1)
        enrol(client, study)
        (form,) = (one for one in read_forms(client.get(url(study, "judge"))) if one.id == "answer")
        monkeypatch.setattr("annotation.judging.services.judging.submit_and_assign_next", fails)

        answer = client.post(form.action, form.fields | ANSWERS["preference"])

        assert answer.status_code == 503
        assert SAFE in answer.content.decode()
        assert "js/returning.js" not in answer.content.decode()

    def test_a_fragment_is_one_sentence(self, client: Client, gone: None):
        answer = client.get(reverse("home"), headers=HTMX)

        assert answer.status_code == 503
        assert answer["Retry-After"] == "5"
        assert SAFE in answer.content.decode()
        assert "<html" not in answer.content.decode()

    def test_the_database_is_told_of_in_one_line_of_the_log_alone(self, client, gone, caplog):
        page = client.get(reverse("home")).content.decode()

        (line,) = (one for one in caplog.records if one.name == "heart.outages")
        assert "shutting down" not in page
        assert line.getMessage() == "OperationalError: the database system is shutting down"
        assert line.exc_info is None


def test_a_program_gets_a_problem(client: Client, monkeypatch):
    monkeypatch.setattr("access.api.permissions.ScopeThrottle.allow_request", fails)

    answer = client.get("/api/v1/studies/")

    assert answer.status_code == 503
    assert answer["Content-Type"] == "application/problem+json"
    assert answer["Retry-After"] == "5"
    assert answer.json()["code"] == "unavailable"
    assert "send the same again" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("error", "is_outage"),
    [
        (OperationalError("refused"), True),
        (raised(OperationalError("ended"), psycopg.errors.AdminShutdown()), True),
        (InterfaceError("the connection is closed"), True),
        (raised(ValueError("in a template"), OperationalError("refused")), True),
        (redis.ConnectionError(), True),
        (redis.TimeoutError(), True),
        (NoBrokerError(), True),
        (LimitExceeded(), True),
        (raised(OperationalError("locked"), sqlite_error(sqlite3.SQLITE_BUSY)), True),
        (raised(OperationalError("no disk"), sqlite_error(sqlite3.SQLITE_FULL)), True),
        (raised(OperationalError("no such table"), sqlite_error(sqlite3.SQLITE_ERROR)), False),
        (ProgrammingError("no such column"), False),
        *((redis_error(words), True) for words in REDIS_TAKES_NOTHING),
        (redis_error("WRONGTYPE Operation against a key holding the wrong kind of value"), False),
        (redis_error("ERR unknown command"), False),
        (ValueError("ours"), False),
        (None, False),
    ],
    ids=repr,
)
def test_what_is_away_is_told_from_what_is_wrong(error, is_outage):
    assert middleware.is_outage(error) is is_outage


def answered(error: Exception) -> Any:
    """What a fault outside the views is answered with."""
    request: HttpRequest = RequestFactory().get("/")
    try:
        raise error
    except type(error):
        return views.server_error(request)


def test_an_outage_in_front_of_the_views_is_no_fault_of_ours():
    assert answered(AWAY).status_code == 503


def test_a_fault_of_ours_stays_one(client: Client, monkeypatch):
    client.raise_request_exception = False
    monkeypatch.setattr(study_queries, "public_studies", lambda: 1 / 0)

    assert answered(ValueError()).status_code == 500
    assert client.get(reverse("home")).status_code == 500


def test_a_form_sent_to_a_page_that_takes_none_is_answered_in_words(client):
    answer = client.post(reverse("home"))

    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")
    assert "There is nothing at this address" in answer.content.decode()
    assert client.post("/api/v1/studies/").headers["Content-Type"] == "application/problem+json"
