"""What tests of the database share."""

from contextlib import contextmanager

import pytest
from django.db import connection

from tests.conftest import rolled_back
from tests.threads import database_in_a_file


@pytest.fixture
def shared_database(transactional_db, tmp_path):
    """Let other connections see what a test stores; in memory, SQLite has but one."""
    if connection.vendor != "sqlite":
        yield
        return
    with database_in_a_file(tmp_path):
        yield


@pytest.fixture
def each(subtests):
    """Return what runs one case of a table under its name, and takes its rows back."""

    @contextmanager
    def one(*names):
        with subtests.test(" ".join(map(str, names))), rolled_back():
            yield

    return one
