"""Fixtures of tests in which an assistant finds themes in rationales."""

import json

import pytest

from annotation.rationales import services
from completions.systems.services.registering import assistant_for
from tests.helpers.factories import make_study


@pytest.fixture
def study():
    return make_study(slug="talks")


@pytest.fixture
def coder():
    return assistant_for("coder", "offline")


@pytest.fixture
def start(study, coder, clock):
    def _start(**fields):
        wanted = {"study": study, "assistant": coder, "now": clock()}
        return services.start_rationale_run(**wanted | fields)

    return _start


@pytest.fixture
def ask(provider, clock, start):
    def _ask():
        start()
        return services.find_themes(clock=clock)

    return _ask


@pytest.fixture
def say(monkeypatch):
    """Let the coder say these, one per call."""

    def _say(*answers):
        said = iter(one if isinstance(one, str) else json.dumps(one) for one in answers)
        monkeypatch.setattr("completions.offline.assistants.answer", lambda *_: next(said))

    return _say
