"""What tests of the database share."""

import pytest
from django.db import connection

from tests.threads import database_in_a_file


@pytest.fixture
def shared_database(transactional_db, tmp_path):
    """Let other connections see what a test stores; in memory, SQLite has but one."""
    if connection.vendor != "sqlite":
        yield
        return
    with database_in_a_file(tmp_path):
        yield
