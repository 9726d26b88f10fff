"""While the database or the broker is away: a calm word, and when to come again; never a 500."""

import sqlite3
from typing import Any

import psycopg
import pytest
import redis
from django.db import InterfaceError, OperationalError, ProgrammingError
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.urls import reverse
from kombu.exceptions import LimitExceeded
from kombu.exceptions import OperationalError as NoBrokerError
from redis._parsers.base import BaseParser

from annotation.studies import selectors
from heart_site import middleware, views
from tests.helpers.visits import ANSWERS, HTMX, enrol, open_study, read_forms, url

pytestmark = pytest.mark.django_db
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
    monkeypatch.setattr(selectors, "public_studies", fails)


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
    monkeypatch.setattr(selectors, "public_studies", lambda: 1 / 0)

    assert answered(ValueError()).status_code == 500
    assert client.get(reverse("home")).status_code == 500
