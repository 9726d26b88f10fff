"""PostgreSQL: what is kept on a connection, how one that is gone is noticed, and replicas."""

import datetime as dt
import select
import uuid

import psycopg
import pytest
from django.contrib.admin import site
from django.db import (
    DatabaseError,
    InternalError,
    ProgrammingError,
    connection,
    connections,
    transaction,
)
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from completions.models import System
from ranking.fits import services
from tests.conftest import rolled_back
from tests.helpers.factories import NOW, make_study, make_system
from tests.helpers.factories_written_once import make_member
from tests.helpers.judged import make_judged_study
from tests.helpers.rated import close

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no connections"),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def other():
    """Return a connection of our own, as the next request finds it."""
    other = connections.create_connection("default")
    other.ensure_connection()
    yield other
    other.close()


def run(other, *statements):
    """Run statements; return the rows of the last if it reads any."""
    with other.cursor() as cursor:
        for one in statements:
            cursor.execute(one)
        return cursor.fetchall() if cursor.description else []


def run_prepared(other, statement, *values):
    with other.prepared_cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def kept(other):
    """Return the statements that the server keeps, with the types of their values."""
    return run(other, "SELECT statement, parameter_types::text[] FROM pg_prepared_statements")


def asked_of(other):
    """Begin a request; return what is asked of the server for one statement."""
    other.health_check_enabled, other.health_check_done = True, False
    with CaptureQueriesContext(other) as captured, other.cursor() as cursor:
        cursor.execute("SELECT 7")
        assert cursor.fetchone() == (7,)
    return [query["sql"] for query in captured]


def test_a_connection_that_lives_is_not_asked_whether_it_does(other):
    first = other.connection.info.backend_pid

    assert asked_of(other) == ["SELECT 7"]
    assert other.connection.info.backend_pid == first
    assert other.is_usable()


def test_a_connection_that_the_server_ended_is_replaced_before_it_is_used(other):
    gone = other.connection.info.backend_pid
    run(connection, f"SELECT pg_terminate_backend({gone}, 10000)")

    assert not other.is_usable()
    asked_of(other)
    assert other.connection.info.backend_pid != gone


def test_a_connection_on_which_the_server_said_something_is_asked(other):
    heard: list[psycopg.Notify] = []
    other.connection.add_notify_handler(heard.append)
    run(other, "LISTEN news")
    run(connection, "NOTIFY news")
    assert select.select([other.connection.fileno()], [], [], 30)[0]

    assert other.is_usable()
    assert len(heard) == 1


def test_a_connection_that_was_closed_is_not_usable(other):
    other.connection.close()

    assert not other.is_usable()


def test_a_statement_is_kept_once_for_numbers_of_any_size(other):
    for number in (1, 40_000, 3_000_000_000, 2**62):
        assert run_prepared(other, "SELECT %s, 'a'", number) == [(number, "a")]

    assert kept(other) == [("SELECT $1, 'a'", ["bigint"])]


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -3,
        2.5,
        "it's 100 % \u2019 %s",
        "",
        uuid.UUID(int=2**127),
        dt.datetime(2026, 11, 28, 12, 29, 30, 7, tzinfo=dt.UTC),
    ],
    ids=repr,
)
def test_a_value_comes_back_as_it_was_given(other, value):
    kinds = {float: "float8", uuid.UUID: "uuid", dt.datetime: "timestamptz", str: "text"}
    kind = kinds.get(type(value), "text" if value is None else type(value).__name__)
    for _ in range(2):
        with other.prepared_cursor() as cursor:
            cursor.execute(f"SELECT %s::{kind}, '%%' FROM generate_series(1, 2)", [value])  # noqa: S608 (a kind of ours)
            assert cursor.fetchone() == (value, "%")
            assert cursor.fetchall() == [(value, "%")]
            assert cursor.fetchone() is None
            assert cursor.rowcount == 2


def test_a_statement_is_part_of_the_transaction_that_it_is_run_in(other):
    run(other, "CREATE TEMPORARY TABLE kept (n int)")
    other.set_autocommit(False)
    with other.prepared_cursor() as cursor:
        cursor.execute("INSERT INTO kept SELECT generate_series(1, %s)", [3])
        assert cursor.rowcount == 3
    other.rollback()
    other.set_autocommit(True)

    assert run_prepared(other, "SELECT count(*) FROM kept") == [(0,)]


def test_a_transaction_begins_at_the_isolation_level_of_the_connection(other):
    other.connection.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
    other.set_autocommit(False)

    assert run_prepared(other, "SHOW transaction_isolation") == [("serializable",)]
    other.rollback()


@pytest.mark.parametrize(
    "change", ["ALTER TABLE kept ADD COLUMN other int", "DEALLOCATE ALL"], ids=["table", "server"]
)
def test_a_statement_that_the_server_cannot_run_any_more_is_prepared_anew(other, change):
    run(other, "CREATE TEMPORARY TABLE kept (n int)")
    assert run_prepared(other, "SELECT * FROM kept") == []
    run(other, change)

    with pytest.raises(DatabaseError):
        run_prepared(other, "SELECT * FROM kept")
    assert run_prepared(other, "SELECT * FROM kept") == []


@pytest.mark.parametrize("change", ["DROP TABLE gone", "ROLLBACK TO SAVEPOINT here"])
def test_a_statement_outlives_a_rollback_and_a_table_that_is_dropped(other, change):
    other.set_autocommit(False)
    for _ in range(2):
        assert run_prepared(other, "SELECT %s", 1) == [(1,)]
        with psycopg.Cursor(other.connection) as raw:  # as whole columns are read
            for _ in range(9):
                raw.execute("SELECT %s", [7])
        run(other, "CREATE TABLE gone (n int)", "SAVEPOINT here", change)
        other.rollback()
    other.set_autocommit(True)


def test_what_django_asks_itself_is_not_kept(other):
    for _ in range(20):
        with other.cursor() as cursor:
            cursor.execute("SELECT %s", [1])

    assert kept(other) == []


@pytest.mark.parametrize(
    "moment",
    [
        dt.datetime(2026, 11, 28, 12, 29, 30, tzinfo=dt.UTC),
        dt.datetime(2026, 11, 28, 12, 29, 30, 120_000, tzinfo=dt.UTC),
        dt.datetime(2026, 11, 28, 12, 29, 30, 7, tzinfo=dt.UTC),
        dt.datetime(2026, 11, 28, 1, 29, 30, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=45))),
        dt.datetime.min.replace(tzinfo=dt.UTC),
        dt.datetime.max.replace(tzinfo=dt.UTC),
    ],
    ids=str,
)
def test_an_instant_is_read_as_it_was_stored(other, moment):
    with other.cursor() as cursor:
        cursor.execute("SELECT %s::timestamptz, ARRAY[%s::timestamptz]", [moment, moment])
        read, (in_an_array,) = cursor.fetchone()

    assert (read, in_an_array) == (moment, moment)
    assert read.tzinfo is dt.UTC


def test_a_mistake_in_a_prepared_statement_is_djangos_error(other):
    with pytest.raises(ProgrammingError) as raised:
        run_prepared(other, "SELECT nothing FROM nowhere")
    assert isinstance(raised.value.__cause__, psycopg.errors.UndefinedTable)


@pytest.fixture(scope="class")
def results(django_db_setup, django_db_blocker):
    """The study of results that are stored once for a class."""
    with django_db_blocker.unblock(), rolled_back():
        study = make_judged_study(systems=[make_system(name=name) for name in ("Ash", "Beech")])
        services.refit_study(study=study, clock=lambda: NOW)
        close(study)
        connection.check_constraints()  # what waits for the end would lock rows
        yield study


@pytest.mark.django_db
class TestAReplica:
    """What a web server on it can show: here a transaction that may not write."""

    @pytest.fixture
    def study(self, results):
        """A study with results, after which nothing may be written."""
        run(connection, "SET TRANSACTION READ ONLY")
        return results

    def test_refuses_to_write(self, study):
        with pytest.raises(InternalError, match="read-only"), transaction.atomic():
            System.objects.update(name="Other")

    @pytest.mark.parametrize(
        "page", ["leaderboard", "fits", "history", "history_csv", "verdicts", "verdicts_csv"]
    )
    def test_shows_results_without_writing(self, page, study, client):
        assert client.get(reverse(f"ranking:{page}", args=[study.slug])).status_code == 200

    @pytest.mark.parametrize("page", ["alive", "ready", "home"])
    def test_is_healthy(self, page, study, client):
        assert client.get(reverse(page)).status_code in {200, 302}


NUL = "a\0b"


def of_admin():
    """Yield the list of every table of Django's admin, asked by each of its filters."""
    for model, options in site._registry.items():
        fields = [one for one in options.list_filter if isinstance(one, str)]
        address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        lookups = [f"{name}__exact" for name in fields] + ["q", "o", "p", "e", "nothing"]
        yield from ((address, {lookup: NUL}) for lookup in lookups)


@pytest.fixture
def owner(client):
    client.force_login(make_member())
    return client


def test_a_nul_in_any_filter_of_the_admin_is_no_fault_of_ours(owner):
    answers = {(at, *query): owner.get(at, query).status_code for at, query in of_admin()}

    assert len(answers) > 100
    assert {at: code for at, code in answers.items() if code not in {200, 302, 400}} == {}
    assert 400 in answers.values()


@pytest.mark.parametrize(
    ("name", "sent"),
    [("console:mark_gold", {"key": NUL, "expected": "first", "reason": "x"})],
    ids=str,
)
def test_a_nul_that_reaches_the_database_is_answered_by_400(owner, name, sent):
    study = make_study()

    answer = owner.post(reverse(name, args=[study.slug]), sent)

    assert answer.status_code == 400
    assert "couldn’t read that" in answer.content.decode()


@pytest.mark.parametrize("spelled", ["text", "JSON"])
def test_a_nul_in_a_query_is_a_problem_to_a_program(client, monkeypatch, spelled):
    def lost(*_arguments):
        if spelled == "text":
            return System.objects.filter(slug=NUL).exists()
        return System.objects.filter(parameters={"a": NUL}).exists()

    monkeypatch.setattr("ranking.results.http.read_filters", lambda *_args, **_more: lost())
    study = make_study()

    answer = client.get(f"/api/v1/studies/{study.slug}/ratings/")

    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert "the character NUL" in answer.json()["detail"]
