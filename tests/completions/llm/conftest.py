"""Providers that answer as told to, questions to them through the gateway, and their turns."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from completions import llm, offline
from completions.llm.limits import BucketRequest
from completions.runs import pulling
from tests.helpers.providers import Answer, Provider, providing

MODELS = ("openai", "hosted_vllm", "anthropic", "gemini")
CLAUDE, GEMINI = "anthropic/claude-fake", "gemini/gemini-fake"
way = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "k")


@pytest.fixture(scope="module")
def _server() -> Iterator[offline.OfflineServer]:
    with offline.running() as server:
        yield server


@pytest.fixture
def server(_server: offline.OfflineServer) -> offline.OfflineServer:
    """The offline provider, which nobody has asked and told anything."""
    _server.calls.clear()
    _server.script.clear()
    _server.behaviour = offline.Behaviour()
    return _server


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with providing() as provider:
        yield provider


def make_request(server: offline.OfflineServer | None = None, **fields: Any) -> llm.Request:
    """Return a question to the server, at the address under which its model's client looks."""
    defaults: dict[str, Any] = {
        "model": "openai/offline-alder",
        "messages": (
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "I feel lonely since the move."},
        ),
        "timeout_s": 20.0,
    }
    request = llm.Request(**defaults | fields)
    if server is None:
        return request
    has_version = not request.model.startswith(("anthropic/", "gemini/"))
    base = server.base_url if has_version else server.base_url.removesuffix("/v1")
    return replace(request, api_base=base)


def wanted(
    place: str = "a", *, n_tokens: int = 0, lease_s: float = 60.0, patience_s: float = 20.0
) -> BucketRequest:
    """Return what a call asks of the accounts of its provider."""
    return BucketRequest(
        place=place, provider="p", n_tokens=n_tokens, lease_s=lease_s, patience_s=patience_s
    )


def ask(request: llm.Request) -> llm.Reply:
    return pulling.run_on_loop(lambda _executor: llm.complete(request))


def asked(
    provider: Provider, answer: Answer, model: str = "openai/fake", **fields: Any
) -> llm.Reply:
    """Return what the gateway makes of an answer."""
    provider.script.clear()
    provider.script.append(answer)
    base = provider.base_url if model.startswith(("openai/", "hosted_vllm/")) else provider.root
    usual: dict[str, Any] = {
        "messages": ({"role": "user", "content": "I feel lonely."},),
        "timeout_s": 20.0,
    }
    request = llm.Request(model=model, api_base=base, **usual | fields)
    return pulling.run_on_loop(lambda _executor: llm.complete(request))


def failure(provider: Provider, answer: Answer, **fields: Any) -> llm.ProviderError:
    n_asked = len(provider.requests)
    with pytest.raises(llm.ProviderError) as raised:
        asked(provider, answer, **fields)
    assert len(provider.requests) == n_asked + 1
    return raised.value
