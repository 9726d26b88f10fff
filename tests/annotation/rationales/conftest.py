"""Fixtures of tests in which an assistant finds themes in rationales."""

from functools import partial

import pytest

from annotation.rationales.services import labelling
from completions.systems.services.registering import assistant_for
from tests.helpers.factories import make_study
from tests.helpers.providers import let_assistants_say


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
        return labelling.start_rationale_run(**wanted | fields)

    return _start


@pytest.fixture
def ask(provider, clock, start):
    def _ask():
        start()
        return labelling.find_themes(clock=clock)

    return _ask


@pytest.fixture
def say(monkeypatch):
    """Let the coder say these, one per call."""
    return partial(let_assistants_say, monkeypatch)
