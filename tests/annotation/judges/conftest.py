"""Fixtures of tests that ask judges."""

import json

import pytest


@pytest.fixture
def say(provider, monkeypatch):
    """Let the judge say these texts, one per call, of a pair or of one message."""

    def _say(*texts):
        said = iter(text if isinstance(text, str) else json.dumps(text) for text in texts)
        for answer in ("answer", "answer_alone"):
            monkeypatch.setattr(f"completions.offline.judges.{answer}", lambda *_: next(said))

    return _say
