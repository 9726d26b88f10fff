"""What is sent with a question, what is left out of it, and what is recorded of both."""

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import pytest

from completions import llm, offline
from completions.llm.library import litellm
from completions.llm.parameters import N_ALTERNATIVES, arguments
from completions.offline import Behaviour
from tests.completions.llm.conftest import ask, asked, make_request, way
from tests.helpers.providers import ASKS_LITELLM, choice, completion, streamed

pytestmark = [
    ASKS_LITELLM,
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
]


CHAT = (
    {"role": "system", "content": "Be kind."},
    {"role": "assistant", "content": "Hi."},
    {"role": "user", "content": "I feel lonely."},
)
SCHEMA = {"type": "object", "properties": {}}
FORMAT = {
    "type": "json_schema",
    "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
}
IN_USERS_TURN = [CHAT[1], {"role": "user", "content": "Be kind.\n\nI feel lonely."}]


NOTHING: Mapping[str, Any] = {}


class Dialect(NamedTuple):
    """What is stated of a model, and what the body then holds and lacks."""

    stated: dict[str, Any]
    has: Mapping[str, Any] = NOTHING
    lacks: AbstractSet[str] = frozenset()
    dropped: AbstractSet[str] = frozenset()


DIALECTS = {
    "nothing stated": Dialect(
        {},
        {"max_tokens": 300, "temperature": 0.0, "top_p": 1.0, "messages": [*CHAT]},
        {"max_completion_tokens"},
    ),
    "another limit": Dialect(
        {"token_limit": "max_completion_tokens"}, {"max_completion_tokens": 300}, {"max_tokens"}
    ),
    "no limit": Dialect({"leave_out": ["max_tokens"]}, {}, {"max_tokens"}, {"max_tokens"}),
    "no sampling": Dialect(
        {"leave_out": ["temperature", "top_p"]},
        {"max_tokens": 300},
        {"temperature", "top_p"},
        {"temperature", "top_p"},
    ),
    "one left out": Dialect({"leave_out": ["top_p"]}, {"temperature": 0.0}, {"top_p"}, {"top_p"}),
    "left to the model": Dialect(
        {"temperature": None, "top_p": None}, {}, {"temperature", "top_p"}
    ),
    "a developer": Dialect(
        {"system_role": "developer"},
        {"messages": [{"role": "developer", "content": "Be kind."}, *CHAT[1:]]},
    ),
    "in the user's turn": Dialect({"system_role": "user"}, {"messages": IN_USERS_TURN}),
    "a schema": Dialect({"response_schema": SCHEMA}, {"response_format": FORMAT}),
    "an object": Dialect(
        {"response_schema": SCHEMA, "schema_mode": "json_object"},
        {"response_format": {"type": "json_object"}},
        dropped={"response_schema"},
    ),
    "words alone": Dialect(
        {"response_schema": SCHEMA, "schema_mode": "prompt"},
        lacks={"response_format"},
        dropped={"response_schema"},
    ),
    "no format": Dialect(
        {"response_schema": SCHEMA, "leave_out": ["response_format"]},
        lacks={"response_format"},
        dropped={"response_schema"},
    ),
}


@pytest.mark.parametrize("prefix", ["openai", "hosted_vllm"])
@way
@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_a_models_dialect_is_what_goes_over_the_wire(provider, prefix, stream, dialect):
    answer = streamed(choice('{"a": 1}')) if stream else completion(choice('{"a": 1}'))
    fields = {"messages": CHAT, "stream": stream, **dialect.stated}

    reply = asked(provider, answer, model=f"{prefix}/fake", **fields)

    body = provider.requests[-1]
    assert {name: body.get(name) for name in dialect.has} == dialect.has
    assert dialect.lacks.isdisjoint(body)
    assert set(reply.dropped) == dialect.dropped


def test_what_was_said_in_another_way_is_recorded(provider):
    another = {"system_role": "user", "schema_mode": "prompt"}

    reply = asked(
        provider,
        completion(choice('{"a": 1}')),
        token_limit="max_completion_tokens",
        response_schema=SCHEMA,
        **another,
    )

    assert (another | {"max_completion_tokens": 300}).items() <= reply.honoured.items()


def test_a_stream_is_asked_to_count_unless_its_model_refuses_that(provider):
    answer = streamed(choice("Hello."))

    asked(provider, answer, stream=True)
    assert provider.requests[-1]["stream_options"] == {"include_usage": True}
    reply = asked(provider, answer, stream=True, stream_options=False)
    assert "stream_options" not in provider.requests[-1]
    assert reply.dropped == ("stream_options",)


class TestParameters:
    def test_the_key_comes_from_the_named_variable(self, server, monkeypatch):
        monkeypatch.setenv("MY_LAB_KEY", "s3cret")
        request = make_request(server, api_key_env="MY_LAB_KEY")

        assert arguments(request)["api_key"] == "s3cret"
        assert "s3cret" not in repr(request)
        assert ask(request).text

    def test_the_address_may_come_from_a_variable(self, server, monkeypatch):
        monkeypatch.setenv("MY_LAB_BASE", server.base_url)
        request = make_request(api_base_env="MY_LAB_BASE")

        assert ask(request).text
        assert arguments(request)["api_key"] == "unused"

    def test_an_address_that_is_given_comes_first_and_never_gets_the_key_of_a_known_provider(
        self, monkeypatch
    ):
        monkeypatch.setenv("MY_LAB_BASE", "http://elsewhere.example")
        monkeypatch.setenv("OPENAI_API_KEY", "s3cret")

        given = arguments(make_request(api_base="http://here.example", api_base_env="MY_LAB_BASE"))

        assert given["api_base"] == "http://here.example"
        assert given["api_key"] == "unused"

    @pytest.mark.parametrize("model", ["openai/o3", "openai/gpt-5"])
    def test_what_a_model_refuses_is_named_as_dropped(self, model):
        sent = llm.sent_parameters(make_request(model=model))

        assert {"temperature", "top_p"}.isdisjoint(sent)
        assert sent["max_completion_tokens"] == 300

    def test_claude_is_not_sent_two_samplers(self):
        sent = llm.sent_parameters(make_request(model="anthropic/claude-sonnet-4-5"))

        assert (sent["temperature"], "top_p" in sent) == (0, False)

    def test_effort_is_sent_to_models_that_know_it_and_is_on_record(self):
        request = make_request(model="openai/gpt-5", reasoning_effort="low")

        assert llm.sent_parameters(request)["reasoning_effort"] == "low"
        assert request.asked()["reasoning_effort"] == "low"
        assert "reasoning_effort" not in make_request().asked()

    def test_a_bug_while_asking_what_is_sent_says_its_class(self, monkeypatch):
        monkeypatch.setattr(litellm(), "get_llm_provider", None)  # which cannot be called

        with pytest.raises(llm.UnexpectedError, match="TypeError"):
            llm.sent_parameters(make_request(model="openai/seen-by-no-other-test"))


class TestOtherProviders:
    """What is special about LiteLLM's ways to Anthropic and Google."""

    @pytest.mark.parametrize("prefix", ["anthropic", "gemini"])
    def test_an_opening_goes_before_a_chat_that_the_assistant_begins(self, server, prefix):
        request = make_request(
            server, model=f"{prefix}/offline-alder", messages=CHAT, opening="(Begins.)"
        )

        reply = ask(request)

        received = server.calls[0].request
        chat = received.get("messages") or received["contents"]
        assert [one["role"] for one in chat][::2] == ["user", "user"]
        assert "(Begins.)" in str(chat[0])
        assert reply.honoured["opening"] == "(Begins.)"

    def test_without_need_there_is_no_opening(self, server):
        reply = ask(make_request(server, model="anthropic/offline-alder", opening="(Begins.)"))

        assert "(Begins.)" not in str(server.calls[0].request)
        assert "opening" not in reply.honoured

    @pytest.mark.parametrize(("asked", "role"), [("system", "user"), ("developer", "developer")])
    def test_instructions_reach_o3_as_such_only_from_the_developer(self, server, asked, role):
        server.behaviour = Behaviour(stand_ins=True)

        reply = ask(make_request(server, model="openai/o3", system_role=asked))

        assert server.calls[0].request["messages"][0]["role"] == role
        assert reply.honoured.get("system_role", "system") == asked


class TestLogProbabilities:
    def ask(self, server: offline.OfflineServer, prefix: str = "hosted_vllm", **fields: Any):
        return ask(make_request(server, model=f"{prefix}/offline-alder", **fields))

    def test_who_does_not_ask_sends_nothing_and_gets_none(self, server):
        reply = self.ask(server)

        assert {"logprobs", "top_logprobs"}.isdisjoint(server.calls[0].request)
        assert reply.tokens == ()
        assert "logprobs" not in reply.dropped
        assert "logprobs" not in make_request().asked()

    def test_who_asks_gets_the_answer_in_pieces_with_their_alternatives(self, server):
        reply = self.ask(server, logprobs=True)

        sent = server.calls[0].request
        assert (sent["logprobs"], sent["top_logprobs"]) == (True, N_ALTERNATIVES)
        assert "".join(token.text for token in reply.tokens) == reply.text
        assert all(token.text in token.alternatives for token in reply.tokens)
        shares = [sum(map(math.exp, token.alternatives.values())) for token in reply.tokens]
        assert shares == pytest.approx([1.0] * len(shares))
        assert reply.honoured["logprobs"] is True
        assert make_request(logprobs=True).asked()["logprobs"] is True

    def test_a_provider_that_has_none_is_not_asked_and_the_drop_is_recorded(self, server):
        reply = self.ask(server, "anthropic", logprobs=True, leave_out=("top_p",))

        assert "logprobs" not in server.calls[0].request
        assert "logprobs" in reply.dropped
        assert reply.tokens == ()
