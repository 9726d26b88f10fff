"""Fixtures for calls to providers: a running offline provider, and a clock to turn."""

import datetime as dt
import uuid
from collections.abc import Iterator

import pytest

from completions import offline
from tests.flushing import flush


class Clock:
    """A clock that stands still until it is turned."""

    def __init__(self, at: dt.datetime) -> None:
        self.at = at

    def __call__(self) -> dt.datetime:
        return self.at

    def turn(self, **by: float) -> None:
        self.at += dt.timedelta(**by)


@pytest.fixture
def clock(now: dt.datetime) -> Clock:
    return Clock(now)


@pytest.fixture
def provider(settings) -> Iterator[offline.OfflineServer]:
    with offline.running() as server:
        settings.HEART_OFFLINE_LLM_URL = server.base_url
        yield server


@pytest.fixture
def prefix(redis_url: str) -> Iterator[str]:
    """What the keys of one test in Redis begin with."""
    name = f"heart-test-{uuid.uuid4()}:"
    yield name
    flush(redis_url, name)
