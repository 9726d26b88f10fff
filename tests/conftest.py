"""Fixtures shared by every layer of tests."""

import datetime as dt
import os
import secrets
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import NoReturn

import numpy as np
import pytest
import redis
from django.contrib.auth.models import User
from django.core.cache import cache, caches
from django.db import connection, transaction
from django.test import Client, TransactionTestCase, override_settings
from django.utils import timezone
from hypothesis import settings

from access import nudges
from annotation.session import blinded
from annotation.studies import queries as study_queries
from completions import llm, offline
from completions.runs.services import speaking
from ranking.fits.services import inputs
from tests.databases import begin_migrated, copied_database, delete_all_rows
from tests.helpers.factories import NOW, numbers
from tests.helpers.factories_written_once import make_member
from tests.helpers.processes import flush
from tests.helpers.threads import database_in_a_file

REDIS_URL = os.environ.get("HEART_TEST_REDIS_URL", "redis://127.0.0.1:6379/15")

TESTS = Path(__file__).parent
BY_PROCESSES = {"browser", "deploy", "faults", "load"}
"""Folders of tests that start real processes, and belong to `make test-all`."""
OF_DATABASE = {"db", "transactional_db", "django_db_setup"}

# No deadline: a busy machine must not fail a test.
settings.register_profile("quick", deadline=None, max_examples=25)
settings.register_profile("full", deadline=None)
settings.load_profile("quick")


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.relative_to(TESTS).parts[0] in BY_PROCESSES:
            item.add_marker(pytest.mark.full)
        if item.get_closest_marker("django_db") or not OF_DATABASE.isdisjoint(_fixtures(item)):
            item.add_marker(pytest.mark.database)


def _fixtures(item: pytest.Item) -> list[str]:
    return item.fixturenames if isinstance(item, pytest.Function) else []


def missing(what: str, how: str) -> NoReturn:
    """Skip, or fail where the environment promises that nothing is missing."""
    message = f"{what} is not here: {how}"
    if os.environ.get("HEART_REQUIRE_SERVICES") == "1":
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def django_db_setup(
    request, django_test_environment, django_db_blocker, django_db_modify_db_settings
) -> Iterator[None]:
    """Take the place of pytest-django's, which migrates in every process."""
    with (
        pytest.MonkeyPatch.context() as patch,
        django_db_blocker.unblock(),
        copied_database(request.config.cache.mkdir("heart-databases")),
    ):
        patch.setattr(TransactionTestCase, "_fixture_teardown", delete_all_rows)
        yield


@pytest.fixture(scope="session")
def migrated(request, django_db_setup) -> Callable[[Path], None]:
    """Let a site that is started in a folder find its tables made."""
    return partial(begin_migrated, request.config.cache.mkdir("heart-databases"))


@contextmanager
def rolled_back() -> Iterator[None]:
    """Take back what is stored inside, so that it is there for a class, or a parameter, alone."""
    with transaction.atomic():
        forget_rows()
        yield
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def module_rows(django_db_setup, django_db_blocker) -> Iterator[None]:
    """Let fixtures of a module store rows once; each test works on them, and takes its own back.

    A fixture that asks for this has the scope of the module, and returns keys or what is only
    read: an object that one test changes would reach the next.
    """
    with django_db_blocker.unblock(), rolled_back():
        yield


@pytest.fixture(scope="session", autouse=True)
def _services_loaded(django_test_environment) -> None:
    """Load all services before any test changes one.

    They are loaded when they are first asked for. One that first came while a test had changed
    another would keep what it took from that one, for all tests after it.
    """
    for app in ("access", "completions", "annotation", "ranking"):
        root = Path(str(import_module(app).__file__)).parents[1]
        for folder in (root / app).rglob("services"):
            package = ".".join(folder.relative_to(root).parts)
            for module in iter_modules([str(folder)]):
                import_module(f"{package}.{module.name}")


@pytest.fixture
def shared_database(transactional_db, tmp_path) -> Iterator[None]:
    """Let other connections see what a test stores; in memory, SQLite has but one."""
    if connection.vendor != "sqlite":
        yield
        return
    with database_in_a_file(tmp_path):
        yield


@pytest.fixture
def each(subtests) -> Callable[..., AbstractContextManager[None]]:
    """Return what runs one case of a table under its name, and takes its rows back."""

    @contextmanager
    def one(*names: object) -> Iterator[None]:
        with subtests.test(" ".join(map(str, names))), rolled_back():
            yield

    return one


@dataclass(frozen=True)
class Crowd:
    """How many people act at once, and how often a race is repeated."""

    people: int
    contexts: int
    rounds: int


@pytest.fixture
def crowd() -> Crowd:
    """Return a crowd for each database: SQLite, with one writer at a time, gets a smaller one."""
    if connection.vendor == "sqlite":
        return Crowd(people=5, contexts=4, rounds=2)
    return Crowd(people=12, contexts=30, rounds=3)


class Clock:
    """A clock that stands still until it is turned."""

    def __init__(self, at: dt.datetime) -> None:
        self.at = at

    def __call__(self) -> dt.datetime:
        return self.at

    def turn(self, **by: float) -> None:
        self.at += dt.timedelta(**by)


@pytest.fixture
def rng() -> np.random.Generator:
    """Return the chance of numerical tests, the same in each."""
    return np.random.default_rng(20260105)


@pytest.fixture
def now() -> dt.datetime:
    return dt.datetime(2026, 1, 5, 9, 30, tzinfo=dt.UTC)


@pytest.fixture
def clock(now: dt.datetime) -> Clock:
    return Clock(now)


@pytest.fixture
def site_clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Stop the site's own clock at `NOW`."""
    stopped = Clock(NOW)
    monkeypatch.setattr(timezone, "now", stopped)
    return stopped


def forget_rows() -> None:
    """Forget what was kept of rows that were rolled back; the next have the same keys."""
    study_queries.forget_contents()
    blinded.forget_pages()
    inputs._shelf.put(None)
    cache.clear()
    caches["own"].clear()


@contextmanager
def numbers_from(first: int) -> Iterator[None]:
    """Let the rows that are made inside be numbered from there, whatever was made before."""
    before, numbers.last = numbers.last, first
    yield
    numbers.last = before


@pytest.fixture(scope="module", autouse=True)
def _numbers_of_module() -> Iterator[None]:
    with numbers_from(0):
        yield


@pytest.fixture(autouse=True)
def _numbers_of_test() -> Iterator[None]:
    with numbers_from(10_000):  # beyond what a module shares
        yield


@pytest.fixture(autouse=True)
def _secrets_from_name(request) -> Iterator[None]:
    """Draw what is secret from the test's name: no test passes or fails by chance."""
    chance = np.random.default_rng(list(request.node.nodeid.encode()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "token_bytes", lambda n=None: chance.bytes(n or 32))
        patch.setattr(secrets, "choice", lambda among: among[chance.integers(len(among))])
        yield


@pytest.fixture(autouse=True)
def _forget() -> None:
    """What a test before left in the process is nothing to the next, on another clock.

    That is what was kept of rows, what providers asked for, and what is under way or was away.
    """
    forget_rows()
    speaking._limiters.clear()
    speaking._modes.clear()
    nudges.sender.forget()


@pytest.fixture(scope="session", autouse=True)
def _quick_settings() -> Iterator[None]:
    """Do without what takes long and no test asks for.

    Each test client would list all static files for itself, real passwords are slow to check, and
    LiteLLM's price list takes seconds to load.
    """
    hashers = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    with (
        override_settings(WHITENOISE_AUTOREFRESH=True, PASSWORD_HASHERS=hashers),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(llm, "listed_price", lambda _: None)
        yield


@pytest.fixture
def admin(db) -> User:
    """Return an owner of the site."""
    return make_member("ada")


@pytest.fixture
def staff(client: Client, admin: User) -> Client:
    """Return the browser of an owner of the site."""
    client.force_login(admin)
    return client


@pytest.fixture
def provider(settings) -> Iterator[offline.OfflineServer]:
    """Answer calls to models as the offline provider does."""
    with offline.running(end_within_s=0.01) as server:
        settings.HEART_OFFLINE_LLM_URL = server.base_url
        yield server


@pytest.fixture(scope="session")
def redis_url() -> str:
    try:
        with redis.Redis.from_url(REDIS_URL, socket_connect_timeout=1) as client:
            client.ping()
    except redis.ConnectionError:
        missing("Redis", "start one on 127.0.0.1:6379 (Debian: apt-get install redis-server)")
    return REDIS_URL


@pytest.fixture
def prefix(redis_url: str) -> Iterator[str]:
    """Return what the keys of one test in Redis begin with."""
    name = f"heart-test-{uuid.uuid4()}:"
    yield name
    flush(redis_url, name)
