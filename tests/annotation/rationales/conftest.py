"""Rationales, and the assistant that finds themes in them."""

from functools import partial

import pytest

from annotation.rationales import themes
from annotation.rationales.services import labelling
from completions.systems.services.registering import assistant_for
from tests.helpers.factories import make_comparison, make_judgment, make_study
from tests.helpers.providers import let_assistants_say

TEXT = "**A** is warmer,\n\nand asks what happened."
KEYS = themes.load_codebook().keys


def judge(study, **fields):
    comparison = fields.pop("comparison", None) or make_comparison(study=study)
    return make_judgment(comparison=comparison, **{"rationale": TEXT} | fields)


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
