"""A crowd for each database: SQLite, with one writer at a time, gets a smaller one."""

from dataclasses import dataclass

import pytest
from django.db import connection


@dataclass(frozen=True)
class Crowd:
    """How many people act at once, and how often a race is repeated."""

    people: int
    contexts: int
    rounds: int


@pytest.fixture
def crowd():
    if connection.vendor == "sqlite":
        return Crowd(people=5, contexts=4, rounds=2)
    return Crowd(people=12, contexts=30, rounds=3)
