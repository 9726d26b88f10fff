"""Fixtures shared by every layer of tests."""

import datetime as dt
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NoReturn

import pytest
import redis
from django.core.cache import cache, caches
from django.db import transaction
from django.test import TransactionTestCase
from hypothesis import settings

from annotation import blinded, selectors
from completions.services import speaking
from ranking.services import grounds
from tests.databases import begin_migrated, copied_database, delete_all_rows

REDIS_URL = os.environ.get("HEART_TEST_REDIS_URL", "redis://127.0.0.1:6379/15")

TESTS = Path(__file__).parent
BY_PROCESSES = {"browser", "deploy", "faults", "load"}
"""Folders of tests that start real processes, and belong to `make test-all`."""

settings.register_profile("heart", deadline=None)  # a busy machine must not fail a test
settings.load_profile("heart")


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.relative_to(TESTS).parts[0] in BY_PROCESSES:
            item.add_marker(pytest.mark.full)


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


@pytest.fixture(scope="module")
def module_rows(django_db_setup, django_db_blocker) -> Iterator[None]:
    """Let fixtures of a module store rows once; each test works on them, and takes its own back.

    A fixture that asks for this has the scope of the module, and returns keys or what is only
    read: an object that one test changes would reach the next.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture
def now() -> dt.datetime:
    return dt.datetime(2026, 1, 5, 9, 30, tzinfo=dt.UTC)


@pytest.fixture(autouse=True)
def _forget_locked_studies() -> None:
    """Locked studies of one test are not those of the next, though they have the same keys."""
    selectors.forget_contents()
    blinded.forget_pages()


@pytest.fixture(autouse=True)
def _forget_limits() -> None:
    """What a provider of one test has asked for is nothing to the next, on another clock."""
    speaking.forget_limits()


@pytest.fixture(autouse=True)
def _forget_judgments() -> None:
    """A fit of the next test may have the key, and the hash, of one of this test."""
    grounds.forget_judgments()


@pytest.fixture(autouse=True)
def _forget_what_ticks_saw() -> None:
    """A study of the next test may have the key, and the counts, of one of this test."""
    cache.clear()
    caches["own"].clear()


@pytest.fixture(autouse=True)
def _find_static_files_when_asked(settings) -> None:
    """Each test client would list all static files for itself."""
    settings.WHITENOISE_AUTOREFRESH = True


@pytest.fixture(autouse=True)
def _fast_passwords(settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(scope="session")
def redis_url() -> str:
    try:
        with redis.Redis.from_url(REDIS_URL, socket_connect_timeout=1) as client:
            client.ping()
    except redis.ConnectionError:
        missing("Redis", "start one on 127.0.0.1:6379 (Debian: apt-get install redis-server)")
    return REDIS_URL
