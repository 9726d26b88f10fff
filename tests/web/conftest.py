"""Fixtures for every test of pages."""

import pytest

from completions import llm


@pytest.fixture(autouse=True)
def _no_price_list(monkeypatch):
    """Stand in for LiteLLM's price list, which takes seconds to load."""
    monkeypatch.setattr(llm, "listed_price", lambda _: None)
