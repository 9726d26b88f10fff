"""What workers do with claimed calls, a dataset to ask about, and a provider that is told what."""

import datetime as dt
from collections.abc import Iterator

import pytest

from completions import llm
from completions.generation.services import CompletionCalls
from completions.models import Dataset, GenerationRun
from completions.runs import queries
from completions.runs.services import asking, calling
from tests.helpers.factories import NOW, make_context, make_dataset
from tests.helpers.providers import Provider, providing

REPLY = llm.Reply(
    text="That sounds hard.",
    finish_reason="stop",
    provider_id="p-1",
    n_prompt_tokens=10,
    n_completion_tokens=4,
    cost_usd=0.0005,
    ttft_ms=12,
    latency_ms=34,
)


@pytest.fixture
def fake(settings) -> Iterator[Provider]:
    """A provider that simulated models ask, and that answers as it is told to."""
    with providing() as provider:
        settings.HEART_OFFLINE_LLM_URL = provider.base_url
        yield provider


def make_talks(n: int) -> Dataset:
    """Return a dataset with so many contexts."""
    dataset = make_dataset(slug="talks", name="Talks")
    for _ in range(n):
        make_context(dataset=dataset)
    return dataset


def queue(at: dt.datetime = NOW) -> asking.CallQueue:
    return asking.CallQueue(CompletionCalls(), queries.calls_to_make(GenerationRun), lambda: at)


def answered(question, reply=REPLY):
    return asking.ModelAnswer(question, NOW, reply, reply.text, {})


def failed(question, kind="empty"):
    return calling.Failed(question.claim, NOW, llm.PermanentError("no", kind=kind), question)


def changed(row):
    row.refresh_from_db()
    return row
