"""Fixtures of the API's tests."""

import datetime as dt

import pytest
from django.utils import timezone

from tests.factories import NOW


class Clock:
    """The time as the site reads it, until it is shifted."""

    def __init__(self, at: dt.datetime) -> None:
        self.at = at

    def shift(self, seconds: float) -> None:
        self.at += dt.timedelta(seconds=seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Stop the clock at `NOW`."""
    stopped = Clock(NOW)
    monkeypatch.setattr(timezone, "now", lambda: stopped.at)
    return stopped
