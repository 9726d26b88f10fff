"""Only a simulation inside the process can say when a visit happens."""

import datetime as dt

import pytest
from django.test import RequestFactory
from django.utils import timezone

from annotation.raters.visit_time import IMAGINED, is_simulated_visit, visit_time

THEN = dt.datetime(2026, 1, 5, 9, 0, tzinfo=dt.UTC)


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: THEN + dt.timedelta(days=300))
    return timezone.now()


def test_a_simulation_imagines_the_time(clock):
    request = RequestFactory().get("/")
    request.META[IMAGINED] = THEN

    assert visit_time(request) == THEN
    assert is_simulated_visit(request)


def test_a_visitor_comes_now(clock):
    request = RequestFactory().get("/")

    assert visit_time(request) == clock
    assert not is_simulated_visit(request)


@pytest.mark.parametrize(
    "headers",
    [
        {"heart.now": THEN.isoformat()},
        {"Heart.Now": THEN.isoformat()},
        {"heart-now": THEN.isoformat()},
        {"HTTP_HEART.NOW": THEN.isoformat()},
    ],
)
def test_no_header_can_pretend_to_be_a_simulation(clock, headers):
    request = RequestFactory().get("/", headers=headers)

    assert visit_time(request) == clock
    assert not is_simulated_visit(request)
