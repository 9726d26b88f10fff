"""A crowd for each database: SQLite, with one writer at a time, gets a smaller one."""

from dataclasses import dataclass

import pytest
from django.db import connection

from tests.threads import database_in_a_file


@dataclass(frozen=True)
class Crowd:
    """How many people act at once, and how often a race is repeated."""

    people: int
    contexts: int
    rounds: int


@pytest.fixture
def shared_database(transactional_db, tmp_path):
    if connection.vendor != "sqlite":
        yield
        return
    with database_in_a_file(tmp_path):
        yield


@pytest.fixture
def crowd():
    if connection.vendor == "sqlite":
        return Crowd(people=5, contexts=4, rounds=2)
    return Crowd(people=12, contexts=30, rounds=3)
