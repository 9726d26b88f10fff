"""Log probabilities: asked for where wanted, told token by token, or recorded as dropped."""

import math
from collections.abc import Iterator

import pytest

from completions import llm, offline
from completions.llm.parameters import N_ALTERNATIVES
from completions.runs import pulling

pytestmark = [
    pytest.mark.xdist_group("litellm"),  # so that one process alone loads it
    # LiteLLM reads every attribute of a pydantic model, those being given up included.
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]
MESSAGES = ({"role": "user", "content": "I feel alone."},)


@pytest.fixture(scope="module")
def provider() -> Iterator[offline.OfflineServer]:
    with offline.running() as server:
        yield server


def ask(provider: offline.OfflineServer, way: str = "hosted_vllm", **fields) -> llm.Reply:
    base = provider.base_url.removesuffix("" if way == "hosted_vllm" else "/v1")
    provider.calls.clear()
    request = llm.Request(
        model=f"{way}/offline-alder", messages=MESSAGES, api_base=base, timeout_s=20.0, **fields
    )
    return pulling.run_on_loop(lambda _executor: llm.complete(request))


def test_who_does_not_ask_sends_nothing_and_gets_none(provider):
    reply = ask(provider)

    assert {"logprobs", "top_logprobs"}.isdisjoint(provider.calls[0].request)
    assert reply.tokens == ()
    assert "logprobs" not in reply.dropped


def test_who_asks_gets_the_answer_in_pieces_with_their_alternatives(provider):
    reply = ask(provider, logprobs=True)

    sent = provider.calls[0].request
    assert (sent["logprobs"], sent["top_logprobs"]) == (True, N_ALTERNATIVES)
    assert "".join(token.text for token in reply.tokens) == reply.text
    assert all(token.text in token.alternatives for token in reply.tokens)
    shares = [sum(map(math.exp, token.alternatives.values())) for token in reply.tokens]
    assert shares == pytest.approx([1.0] * len(shares))
    assert reply.honoured["logprobs"] is True


def test_a_provider_that_has_none_is_not_asked_and_the_drop_is_recorded(provider):
    reply = ask(provider, way="anthropic", logprobs=True, leave_out=("top_p",))

    assert "logprobs" not in provider.calls[0].request
    assert "logprobs" in reply.dropped
    assert reply.tokens == ()


@pytest.mark.parametrize(("wanted", "kept"), [(True, {"logprobs": True}), (False, {})])
def test_the_wish_is_on_record(wanted, kept):
    asked = llm.Request(model="openai/x", messages=MESSAGES, logprobs=wanted).asked()

    assert {name: value for name, value in asked.items() if name == "logprobs"} == kept
