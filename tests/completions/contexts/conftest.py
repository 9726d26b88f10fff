"""Fixtures of the tests on contexts that models rewrote, or give an opinion on."""

import pytest

from completions.choices import EscalationProfile, Stratum
from completions.runs.services import asking
from tests.helpers.factories import make_context
from tests.helpers.processes import free_port

SOURCE = [
    {"role": "supporter", "text": "Hi, good to see you here. "},
    {"role": "seeker", "text": "Hello. I lost my job on Monday."},
    {"role": "supporter", "text": "I'm sorry. How are you holding up?"},
    {"role": "seeker", "text": "Badly, I cannot sleep."},
    {"role": "supporter", "text": "That sounds exhausting."},
    {"role": "seeker", "text": "It is, and the rent is due."},
    {"role": "supporter", "text": "Is there anyone you can talk to?"},
    {"role": "seeker", "text": "My sister, but she has enough on her plate."},
]
"""A dialogue that is fit to be rewritten."""


@pytest.fixture
def make_hostile():
    """Return what makes the adversarial context that a regular one was rewritten to."""

    def _make(source, **fields):
        usual = {
            "dialogue": source.dialogue,
            "source_context": source,
            "stratum": Stratum.ADVERSARIAL,
            "escalation_profile": EscalationProfile.MID_SPIKE,
            "is_simulated": True,
        }
        return make_context(**usual | fields)

    return _make


@pytest.fixture
def told():
    """Keep what a run tells of how far it is."""
    return []


@pytest.fixture
def told_before(monkeypatch, told):
    """Let nothing be asked the first time round; return how often was told before each round."""
    counts: list[int] = []
    real = asking.ask

    def ask(kind, calls, **options):
        counts.append(len(told))
        return 0 if len(counts) == 1 else real(kind, calls, **options)

    monkeypatch.setattr("completions.runs.services.asking.ask", ask)
    monkeypatch.setattr("completions.contexts.services.opinions.PAUSE_S", 0)
    monkeypatch.setattr("completions.contexts.services.rewriting.PAUSE_S", 0)
    return counts


@pytest.fixture
def nobody(settings):
    """Let nothing answer where the offline provider should be."""
    settings.HEART_OFFLINE_LLM_URL = f"http://127.0.0.1:{free_port()}/v1"
    return settings.HEART_OFFLINE_LLM_URL
