"""Every system of the catalogue is asked once, through LiteLLM, and the server says what came."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from completions import llm, offline
from completions.llm import prompts
from completions.models import System
from completions.offline import Behaviour
from completions.runs import pulling
from completions.runs.services import calling
from completions.systems.catalogue import SystemEntry, load_catalogues, shipped
from tests.helpers.providers import ASKS_LITELLM

pytestmark = ASKS_LITELLM

MODELS = {one.slug: one for one in load_catalogues(shipped()).system if one.kind == "model"}
TURNS = [
    {"role": "supporter", "text": "Hello, what brings you here?"},
    {"role": "seeker", "text": "I lost my job 🙂 שלום"},
]
PROMPT = prompts.load_prompt(prompts.SUPPORTER)
OPENING = "(The supporter opens the conversation.)"
REASONING = {"gpt-5", "gpt-o3"}
BY_ADDRESS = "polaris-4-0"


@pytest.fixture(scope="module")
def provider() -> Iterator[offline.OfflineServer]:
    with offline.running(behaviour=Behaviour(stand_ins=True)) as server:
        yield server


@dataclasses.dataclass(frozen=True)
class Exchange:
    """What was asked, what the server received, and what came back."""

    entry: SystemEntry
    path: str
    model: str
    body: Mapping[str, Any]
    reply: llm.Reply

    @property
    def settings(self) -> Mapping[str, Any]:
        return self.body.get("generationConfig", self.body)

    @property
    def chat(self) -> list[tuple[str, str]]:
        """The messages under the names of roles that the API has, instructions first."""
        body = self.body
        system = body.get("system") or body.get("system_instruction", {}).get("parts")
        said = body.get("messages") or body["contents"]
        chat = [("system", system)] if system else []
        chat += [(one["role"], one.get("content") or one["parts"]) for one in said]
        return [(role, plain(content)) for role, content in chat]


def plain(content: str | list[dict[str, str]]) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


@pytest.fixture(scope="module")
def exchanges(provider) -> dict[str, Exchange]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POLARIS_API_BASE", address_of(provider, MODELS[BY_ADDRESS]))
        return {slug: exchange(provider, entry, patch) for slug, entry in MODELS.items()}


def exchange(
    provider: offline.OfflineServer, entry: SystemEntry, patch: pytest.MonkeyPatch
) -> Exchange:
    """Ask a system as a run does: from its row, with the stored prompt, as a stream."""
    patch.setenv(str(entry.parameters.api_key_env), "a-key")
    row = row_of(entry)
    if entry.parameters.api_base_env is None:
        row.api_base = address_of(provider, entry)
    request = calling.request_to(
        row, messages=prompts.supporter_messages(TURNS, PROMPT), max_tokens=300, stream=True
    )
    provider.calls.clear()
    reply = pulling.run_on_loop(lambda _executor: llm.complete(request))
    (call,) = provider.calls
    return Exchange(entry, call.path, call.model, call.request, reply)


def row_of(entry: SystemEntry) -> System:
    return System(model_id=str(entry.model_id), parameters=entry.parameters.as_stored())


def address_of(provider: offline.OfflineServer, entry: SystemEntry) -> str:
    """Return what to put in place of the provider's own address, which has no version for some."""
    has_version = not str(entry.model_id).startswith(("anthropic/", "gemini/"))
    return provider.base_url if has_version else provider.base_url.removesuffix("/v1")


each = pytest.mark.parametrize("slug", sorted(MODELS))


@each
def test_the_model_of_the_row_is_asked_in_its_providers_own_way_without_tools(exchanges, slug):
    asked = exchanges[slug]
    provider, model = str(asked.entry.model_id).split("/", 1)
    paths = {
        "anthropic": "/v1/messages",
        "gemini": f"/models/{asked.model}:streamGenerateContent?alt=sse",
    }

    assert asked.model == model
    assert asked.path == paths.get(provider, "/v1/chat/completions")
    assert asked.body.get("stream", True) is True
    assert {"tools", "tool_choice", "functions"}.isdisjoint(asked.body)


@each
def test_temperature_is_0_and_top_p_1_or_their_drop_is_on_record(exchanges, slug):
    asked = exchanges[slug]

    for name, wanted in (("temperature", 0), ("top_p", 1)):
        if name in asked.entry.parameters.leave_out:
            assert name not in asked.settings
            assert name in asked.reply.dropped
        else:
            assert asked.settings[name] == wanted
            assert asked.reply.honoured[name] == wanted
            assert name not in asked.reply.dropped


def test_only_who_refuses_a_parameter_goes_without(exchanges):
    def who_dropped(*names: str) -> set[str]:
        return {one for one, asked in exchanges.items() if set(asked.reply.dropped) == set(names)}

    claude = {slug for slug, asked in exchanges.items() if asked.entry.family == "anthropic"}
    assert who_dropped("temperature", "top_p") == REASONING
    assert who_dropped("top_p") == claude
    assert who_dropped() == set(MODELS) - REASONING - claude


@each
def test_the_limit_leaves_room_for_thoughts(exchanges, slug):
    asked = exchanges[slug]
    names = ("max_tokens", "max_completion_tokens", "max_output_tokens")

    (limit,) = [asked.settings[name] for name in names if name in asked.settings]
    thinks = slug in REASONING or asked.entry.family == "google"
    assert limit == (4000 if thinks else 300)


@each
def test_roles_and_texts_arrive_as_they_are_and_what_differs_is_on_record(exchanges, slug):
    asked = exchanges[slug]
    needs_user_first = asked.entry.family in {"anthropic", "google"}
    differs = {"opening": OPENING} if needs_user_first else {}
    differs |= {"system_role": "developer"} if slug == "gpt-o3" else {}

    assert asked.chat == [
        (differs.get("system_role", "system"), PROMPT.text),
        *([("user", OPENING)] if needs_user_first else []),
        ("model" if asked.entry.family == "google" else "assistant", TURNS[0]["text"]),
        ("user", TURNS[1]["text"]),
    ]
    told = {"opening", "system_role"} & asked.reply.honoured.keys()
    assert {name: asked.reply.honoured[name] for name in told} == differs


@each
def test_the_reply_has_its_record(exchanges, slug):
    reply = exchanges[slug].reply

    assert reply.text
    assert reply.finish_reason in {"stop", "end_turn", "STOP"}  # as each provider calls it
    assert reply.provider_id.startswith("offline-")
    assert reply.ttft_ms is not None
    assert reply.ttft_ms <= reply.latency_ms
    assert reply.n_prompt_tokens
    assert reply.n_completion_tokens
    assert reply.cost_usd is None  # not asked at its provider's address


def test_the_one_without_public_endpoint_is_not_asked_before_it_has_an_address(monkeypatch):
    entry = MODELS[BY_ADDRESS]
    monkeypatch.setenv(str(entry.parameters.api_key_env), "a-key")
    monkeypatch.delenv("POLARIS_API_BASE", raising=False)
    row = row_of(entry)
    request = calling.request_to(row, messages=prompts.supporter_messages(TURNS, PROMPT))

    with pytest.raises(llm.PermanentError, match="POLARIS_API_BASE") as raised:
        pulling.run_on_loop(lambda _executor: llm.complete(request))

    assert raised.value.kind == "configuration"
