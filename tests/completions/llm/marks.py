"""Marks of tests that ask models through the real LiteLLM."""

import pytest

ASKS_LITELLM = [
    pytest.mark.xdist_group("litellm"),  # so that one process alone loads it
    # LiteLLM reads every attribute of a pydantic model, those being given up included.
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]
