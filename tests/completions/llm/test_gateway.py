"""The gateway through the real LiteLLM, against the offline provider over HTTP."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from completions import llm, offline
from completions.llm.failures import classified
from completions.llm.library import _forget_empty_keys, listed_price, litellm, usage_of
from completions.llm.parameters import arguments
from completions.offline import Behaviour, Fault
from completions.runs import pulling

pytestmark = [
    pytest.mark.xdist_group("litellm"),  # so that one process alone loads it
    # LiteLLM reads every attribute of a pydantic model, those being given up included.
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
PREFIXES = ("openai", "hosted_vllm")


@pytest.fixture
def server() -> Iterator[offline.OfflineServer]:
    with offline.running() as server:
        yield server


def make_request(server: offline.OfflineServer | None = None, **fields: Any) -> llm.Request:
    defaults: dict[str, Any] = {
        "model": "openai/offline-alder",
        "messages": (
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "I feel lonely since the move."},
        ),
        "api_base": server.base_url if server else "",
        "timeout_s": 20.0,
    }
    return llm.Request(**defaults | fields)


def ask(request: llm.Request) -> llm.Reply:
    return pulling.run_on_loop(lambda _executor: llm.complete(request))


class TestComplete:
    @pytest.mark.parametrize("prefix", PREFIXES)
    @pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
    def test_returns_the_text_with_its_record(self, server, prefix, stream):
        request = make_request(server, model=f"{prefix}/offline-alder", stream=stream)

        reply = ask(request)

        assert "lonely" in reply.text
        assert reply.finish_reason == "stop"
        assert reply.provider_id.startswith("offline-")
        assert reply.n_prompt_tokens is not None
        assert reply.n_prompt_tokens > 0
        assert reply.n_completion_tokens is not None
        assert reply.n_completion_tokens > 0
        assert reply.cost_usd is None  # nobody sells this model
        assert reply.latency_ms >= 0

    def test_streams_and_whole_answers_say_the_same(self, server):
        whole = ask(make_request(server))
        streamed = ask(make_request(server, stream=True))

        assert streamed.text == whole.text
        assert streamed.n_completion_tokens == whole.n_completion_tokens

    def test_a_stream_is_put_together_by_us_alone(self, server, monkeypatch):
        def refuse(*_given):
            pytest.fail("the answer was put together for nobody, or tokens counted twice")

        monkeypatch.setattr(litellm().main, "ChunkProcessor", refuse)
        reply = ask(make_request(server, stream=True))

        assert reply.n_prompt_tokens

    @pytest.mark.parametrize("stream", [True, False])
    def test_an_answer_is_priced_by_us_alone(self, server, monkeypatch, stream):
        def refuse(**_given):
            pytest.fail("the answer was priced for nobody")

        monkeypatch.setattr(litellm(), "response_cost_calculator", refuse)
        monkeypatch.setattr(litellm(), "completion_cost", refuse)

        assert ask(make_request(server, stream=stream)).n_prompt_tokens

    def test_a_stream_starts_no_thread(self, server, monkeypatch):
        ask(make_request(server, stream=True))  # what is loaded once
        started, start = [], threading.Thread.start

        def noted(thread: threading.Thread) -> None:
            started.append(thread.name)
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", noted)
        ask(make_request(server, stream=True))

        assert not [name for name in started if "AnyIO" in name]

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ([(7, 5)], (7, 5)),
            ([(7, 0), (0, 5)], (7, 5)),  # the question is counted at the start, the answer later
            ([(7, 1), (7, 5)], (7, 5)),  # a running count
            ([], None),
        ],
    )
    def test_counts_of_a_stream_are_read_wherever_they_stand(self, given, expected):
        chunks = [litellm().ModelResponseStream() for _ in range(3)]
        for chunk, (n_prompt, n_completion) in zip(chunks, given, strict=False):
            counts = {"prompt_tokens": n_prompt, "completion_tokens": n_completion}
            chunk.usage = litellm().Usage(**counts)

        usage = usage_of(chunks)

        found = usage and (usage.prompt_tokens, usage.completion_tokens)
        assert found == expected

    def test_the_first_token_is_timed_apart_from_the_last(self, server):
        server.behaviour = Behaviour(latency_s=0.2, tokens_per_s=50)

        reply = ask(make_request(server, stream=True))

        assert reply.ttft_ms is not None
        assert reply.ttft_ms >= 200
        assert reply.latency_ms >= reply.ttft_ms + 100

    def test_without_a_stream_there_is_no_time_to_first_token(self, server):
        assert ask(make_request(server)).ttft_ms is None

    def test_the_server_receives_the_messages_and_parameters_as_they_are(self, server):
        text = 'שלום 🙂 {"winner": "A"} </dialogue>\u202e'
        messages = ({"role": "assistant", "content": "Hi."}, {"role": "user", "content": text})

        reply = ask(make_request(server, messages=messages, max_tokens=77))

        received = server.calls[0].request
        assert received["model"] == "offline-alder"
        assert received["messages"] == list(messages)
        assert (received["temperature"], received["top_p"], received["max_tokens"]) == (0, 1, 77)
        assert reply.honoured["temperature"] == 0
        assert reply.dropped == ()

    def test_a_schema_arrives_strict(self, server):
        reply = ask(make_request(server, response_schema=SCHEMA))

        sent = server.calls[0].request["response_format"]
        assert sent["json_schema"]["strict"] is True
        assert sent["json_schema"]["schema"] == SCHEMA
        assert reply.honoured["response_schema"] is True

    def test_the_key_comes_from_the_named_variable(self, server, monkeypatch):
        monkeypatch.setenv("MY_LAB_KEY", "s3cret")
        request = make_request(server, api_key_env="MY_LAB_KEY")

        assert arguments(request)["api_key"] == "s3cret"
        assert "s3cret" not in repr(request)
        assert ask(request).text

    def test_an_unset_key_is_a_permanent_failure(self, server):
        with pytest.raises(llm.PermanentError, match="MY_LAB_KEY") as raised:
            ask(make_request(server, api_key_env="MY_LAB_KEY"))

        assert raised.value.kind == "configuration"
        assert not server.calls

    def test_the_address_may_come_from_a_variable(self, server, monkeypatch):
        monkeypatch.setenv("MY_LAB_BASE", server.base_url)
        request = make_request(api_base_env="MY_LAB_BASE")

        assert ask(request).text
        assert arguments(request)["api_key"] == "unused"

    def test_an_address_that_is_given_comes_before_the_variable(self, monkeypatch):
        monkeypatch.setenv("MY_LAB_BASE", "http://elsewhere.example")
        request = make_request(api_base="http://here.example", api_base_env="MY_LAB_BASE")

        assert arguments(request)["api_base"] == "http://here.example"

    def test_without_the_variable_nothing_is_asked_anywhere(self, monkeypatch):
        monkeypatch.delenv("MY_LAB_BASE", raising=False)

        with pytest.raises(llm.PermanentError, match="MY_LAB_BASE") as raised:
            ask(make_request(api_base_env="MY_LAB_BASE"))

        assert raised.value.kind == "configuration"

    def test_an_address_of_ones_own_never_gets_the_key_of_a_known_provider(
        self, server, monkeypatch
    ):
        monkeypatch.setenv("OPENAI_API_KEY", "s3cret")

        assert arguments(make_request(server))["api_key"] != "s3cret"


class TestFailures:
    @pytest.mark.parametrize("prefix", PREFIXES)
    @pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
    @pytest.mark.parametrize(
        ("fault", "error"),
        [
            (Fault.RATE_LIMITED, llm.TransientError),
            (Fault.SERVER_ERROR, llm.TransientError),
            (Fault.CUT, llm.TransientError),
            (Fault.BROKEN_BODY, llm.TransientError),
            (Fault.EMPTY, llm.EmptyAnswerError),
            (Fault.TRUNCATED, llm.TruncatedAnswerError),
            (Fault.FILTERED, llm.ContentFilteredError),
            (Fault.UNAUTHORIZED, llm.PermanentError),
        ],
    )
    def test_each_fault_is_its_kind_and_asked_once(self, server, prefix, stream, fault, error):
        server.script.append(fault)

        with pytest.raises(error) as raised:
            ask(make_request(server, model=f"{prefix}/offline-alder", stream=stream))

        assert raised.value.kind not in ("", "unknown")
        assert len(server.calls) == 1

    def test_the_wait_that_the_provider_asks_for_is_kept(self, server):
        server.behaviour = Behaviour(retry_after_s=7)
        server.script.append(Fault.RATE_LIMITED)

        with pytest.raises(llm.TransientError) as raised:
            ask(make_request(server))

        assert raised.value.kind == "rate_limited"
        assert raised.value.retry_after_s == 7

    def test_a_truncated_answer_brings_its_text_and_cost_along(self, server):
        server.script.append(Fault.TRUNCATED)

        with pytest.raises(llm.TruncatedAnswerError) as raised:
            ask(make_request(server))

        assert raised.value.reply is not None
        assert raised.value.reply.text
        assert raised.value.reply.n_completion_tokens

    @pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
    def test_a_slow_provider_runs_into_the_time_limit(self, server, stream):
        server.behaviour = Behaviour(latency_s=30)

        with pytest.raises(llm.TransientError) as raised:
            ask(make_request(server, timeout_s=0.3, stream=stream))

        assert raised.value.kind == "timeout"

    def test_a_stream_that_drips_for_ever_runs_into_the_time_limit(self, server):
        server.behaviour = Behaviour(tokens_per_s=4)

        with pytest.raises(llm.TransientError) as raised:
            ask(make_request(server, timeout_s=0.6, stream=True))

        assert raised.value.kind == "timeout"

    def test_nobody_listening_is_transient(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]

        with pytest.raises(llm.TransientError):
            ask(make_request(api_base=f"http://127.0.0.1:{port}/v1"))

    def test_an_unknown_model_is_permanent(self, server):
        with pytest.raises(llm.PermanentError) as raised:
            ask(make_request(server, model="openai/nosuch"))

        assert raised.value.kind == "not_found"

    def test_a_model_without_a_provider_is_permanent(self):
        with pytest.raises(llm.PermanentError):
            ask(make_request(model="nobody-knows-this"))

    def test_a_text_that_no_database_holds_is_permanent(self, server, monkeypatch):
        monkeypatch.setattr("completions.offline.voices.reply", lambda *_: "half \x00 a text")

        with pytest.raises(llm.PermanentError) as raised:
            ask(make_request(server))

        assert raised.value.kind == "unstorable"

    def test_what_is_no_providers_error_says_its_class_and_logs_no_words(
        self, server, monkeypatch, caplog
    ):
        async def fail(**_given: object) -> None:
            msg = "I feel lonely"
            raise KeyError(msg)

        monkeypatch.setattr(litellm(), "acompletion", fail)

        with pytest.raises(llm.UnexpectedError, match="KeyError") as raised:
            ask(make_request(server))

        assert raised.value.kind == "unexpected"
        assert "KeyError" in caplog.text
        assert "lonely" not in caplog.text

    def test_a_call_that_hangs_is_made_once(self, server):
        ask(make_request(server))  # the first call of a process loads much
        server.script.append(Fault.HANG)

        with pytest.raises(llm.TransientError) as raised:
            ask(make_request(server, timeout_s=0.3))

        assert raised.value.kind == "timeout"
        assert len(server.calls) == 2

    @pytest.mark.parametrize("status", [401, 503])
    def test_a_key_that_a_provider_repeats_is_named_and_not_told(self, monkeypatch, status):
        monkeypatch.setenv("MY_LAB_KEY", "s3cret-of-a-lab")
        error = Exception("Incorrect API key provided: s3cret-of-a-lab.")
        vars(error).update(status_code=status)

        assert str(classified(error)) == "Exception: Incorrect API key provided: [MY_LAB_KEY]."

    @pytest.mark.parametrize("model", ["openai/o", "hosted_vllm/o", "anthropic/o", "gemini/o"])
    def test_no_failure_gives_the_key_away_or_prints_anything(
        self, server, monkeypatch, capfd, caplog, model
    ):
        monkeypatch.setenv("MY_LAB_KEY", "s3cret")
        server.script.append(Fault.UNAUTHORIZED)
        base = server.base_url.removesuffix("/v1")

        with pytest.raises(llm.PermanentError) as raised:
            ask(make_request(model=model, api_base=base, api_key_env="MY_LAB_KEY"))

        assert raised.value.kind == "authentication"
        assert "s3cret" not in str(raised.value)
        assert capfd.readouterr() == ("", "")
        assert "lonely" not in caplog.text


class TestParameters:
    @pytest.mark.parametrize("model", ["openai/o3", "openai/gpt-5"])
    def test_what_a_model_refuses_is_named_as_dropped(self, model):
        sent = llm.sent_parameters(make_request(model=model))

        assert "temperature" not in sent
        assert "top_p" not in sent
        assert sent["max_completion_tokens"] == 300

    def test_claude_is_not_sent_two_samplers(self):
        sent = llm.sent_parameters(make_request(model="anthropic/claude-sonnet-4-5"))

        assert sent["temperature"] == 0
        assert "top_p" not in sent

    def test_what_a_row_leaves_out_is_not_sent_and_named_as_dropped(self, server):
        reply = ask(make_request(server, leave_out=["top_p"]))

        assert "top_p" not in server.calls[0].request
        assert server.calls[0].request["temperature"] == 0
        assert reply.dropped == ("top_p",)

    def test_effort_is_sent_to_models_that_know_it_and_is_on_record(self):
        request = make_request(model="openai/gpt-5", reasoning_effort="low")

        assert llm.sent_parameters(request)["reasoning_effort"] == "low"
        assert request.asked()["reasoning_effort"] == "low"
        assert "reasoning_effort" not in make_request().asked()

    @pytest.mark.parametrize(
        "model", ["openai/gpt-4o", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-pro"]
    )
    def test_a_schema_is_passed_on_under_each_providers_own_name(self, model):
        sent = llm.sent_parameters(make_request(model=model, response_schema=SCHEMA))

        assert sent["response_schema"] is True

    def test_none_leaves_a_parameter_to_the_model(self, server):
        reply = ask(make_request(server, temperature=None, top_p=None))

        assert server.calls[0].request.keys().isdisjoint({"temperature", "top_p"})
        assert reply.dropped == ()

    def test_a_bug_while_asking_what_is_sent_says_its_class(self, monkeypatch):
        def fail(_model: str) -> None:
            msg = "a bug"
            raise KeyError(msg)

        monkeypatch.setattr(litellm(), "get_llm_provider", fail)

        with pytest.raises(llm.UnexpectedError, match="KeyError"):
            llm.sent_parameters(make_request(model="openai/seen-by-no-other-test"))


class TestCost:
    def test_a_listed_model_costs_what_its_tokens_cost_at_its_provider(self, server, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("OPENAI_API_BASE", server.base_url)  # as if it were the provider
        server.behaviour = Behaviour(stand_ins=True)

        reply = ask(make_request(model="openai/gpt-4o"))

        assert reply.n_prompt_tokens
        assert reply.n_completion_tokens
        price = (2.5 * reply.n_prompt_tokens + 10 * reply.n_completion_tokens) / 1e6
        assert reply.cost_usd == pytest.approx(price)

    def test_an_answer_whose_price_cannot_be_found_is_kept(self, server, monkeypatch):
        def fail(**_given: object) -> None:
            msg = "no such price"
            raise RuntimeError(msg)

        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("OPENAI_API_BASE", server.base_url)
        monkeypatch.setattr(litellm(), "cost_per_token", fail)
        server.behaviour = Behaviour(stand_ins=True)

        reply = ask(make_request(model="openai/gpt-4o"))

        assert reply.text
        assert reply.cost_usd is None

    def test_a_price_of_ones_own_comes_first(self, server):
        request = make_request(server, price={"input": 1, "output": 2})

        reply = ask(request)

        assert reply.n_prompt_tokens
        assert reply.n_completion_tokens
        assert reply.cost_usd == (reply.n_prompt_tokens + 2 * reply.n_completion_tokens) / 1e6
        assert request.asked()["price"] == {"input": 1, "output": 2}
        assert ask(make_request(server)).cost_usd is None  # no later call has that price

    def test_a_price_of_nothing_is_no_guess_if_somebody_says_so(self, server):
        assert ask(make_request(server, price={"input": 0, "output": 0})).cost_usd == 0

    def test_at_an_address_of_ones_own_the_listed_price_says_nothing(self, server):
        server.behaviour = Behaviour(stand_ins=True)

        assert ask(make_request(server, model="openai/gpt-4o")).cost_usd is None

    @pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
    @pytest.mark.parametrize("prefix", PREFIXES)
    def test_tokens_that_nobody_counted_are_unknown_and_cost_nothing_known(
        self, server, prefix, stream
    ):
        server.behaviour = Behaviour(counts_tokens=False)
        model, price = f"{prefix}/offline-alder", {"input": 1, "output": 2}

        reply = ask(make_request(server, model=model, stream=stream, price=price))

        assert reply.text
        assert (reply.n_prompt_tokens, reply.n_completion_tokens) == (None, None)
        assert reply.cost_usd is None

    @pytest.mark.parametrize(
        "model",
        [
            "anthropic/claude-opus-4-20250514",  # LiteLLM would say 0
            "gemini/gemini-3-pro-preview",
            "fireworks_ai/accounts/fireworks/models/nosuch",
            "fireworks_ai/accounts/fireworks/models/nosuch-70b",  # priced by its size
            "openai/nosuch",
            "hosted_vllm/gpt-4o",
        ],
    )
    def test_what_is_not_listed_has_no_price(self, model):
        assert listed_price(model) is None

    @pytest.mark.parametrize(
        ("model", "price"),
        [
            ("openai/gpt-4o", {"input": 2.5, "output": 10}),
            ("anthropic/claude-haiku-4-5-20251001", {"input": 1, "output": 5}),
            ("gemini/gemini-2.5-flash", {"input": 0.3, "output": 2.5}),
        ],
    )
    def test_what_is_listed_has_its_price(self, model, price):
        assert listed_price(model) == pytest.approx(price)


class TestOtherProviders:
    """What is special about LiteLLM's ways to Anthropic and Google."""

    MODELS = ("anthropic/offline-alder", "gemini/offline-alder")

    def to(self, server: offline.OfflineServer, model: str, **fields: Any) -> llm.Request:
        base = server.base_url.removesuffix("/v1")
        return make_request(model=model, api_base=base, **fields)

    @pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
    @pytest.mark.parametrize("model", MODELS)
    def test_the_id_is_the_providers_and_tokens_are_those_it_counted(self, server, model, stream):
        one, two = (ask(self.to(server, model, stream=stream)) for _ in range(2))

        assert one.provider_id.startswith("offline-")
        assert one.provider_id == two.provider_id
        assert one.n_completion_tokens == -(-len(one.text) // 4)
        assert (one.ttft_ms is not None) == stream

    @pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
    @pytest.mark.parametrize("model", MODELS)
    @pytest.mark.parametrize(
        ("fault", "kind"),
        [
            (Fault.RATE_LIMITED, "rate_limited"),
            (Fault.UNAUTHORIZED, "authentication"),
            (Fault.EMPTY, "empty"),
            (Fault.TRUNCATED, "truncated"),
            (Fault.FILTERED, "content_filtered"),
        ],
    )
    def test_each_fault_is_its_kind_and_asked_once(self, server, model, stream, fault, kind):
        server.behaviour = Behaviour(retry_after_s=7)
        server.script.append(fault)

        with pytest.raises(llm.ProviderError) as raised:
            ask(self.to(server, model, stream=stream))

        assert raised.value.kind == kind
        assert len(server.calls) == 1
        if isinstance(raised.value, llm.TransientError):
            assert raised.value.retry_after_s == 7

    @pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
    @pytest.mark.parametrize("model", MODELS)
    @pytest.mark.parametrize("fault", [Fault.SERVER_ERROR, Fault.CUT, Fault.BROKEN_BODY])
    def test_a_broken_answer_may_heal(self, server, model, stream, fault):
        server.script.append(fault)

        with pytest.raises(llm.TransientError):
            ask(self.to(server, model, stream=stream))

        assert len(server.calls) == 1

    @pytest.mark.parametrize("model", MODELS)
    def test_an_opening_goes_before_a_chat_that_the_assistant_begins(self, server, model):
        messages = (
            {"role": "system", "content": "Be kind."},
            {"role": "assistant", "content": "Hi."},
            {"role": "user", "content": "I feel lonely."},
        )

        reply = ask(self.to(server, model, messages=messages, opening="(Begins.)"))

        received = server.calls[0].request
        chat = received.get("messages") or received["contents"]
        assert [one["role"] for one in chat][::2] == ["user", "user"]
        assert "(Begins.)" in str(chat[0])
        assert reply.honoured["opening"] == "(Begins.)"

    def test_without_need_there_is_no_opening(self, server):
        reply = ask(self.to(server, self.MODELS[0], opening="(Begins.)"))

        assert "(Begins.)" not in str(server.calls[0].request)
        assert "opening" not in reply.honoured

    @pytest.mark.parametrize(("asked", "role"), [("system", "user"), ("developer", "developer")])
    def test_instructions_reach_o3_as_such_only_from_the_developer(self, server, asked, role):
        server.behaviour = Behaviour(stand_ins=True)

        reply = ask(make_request(server, model="openai/o3", system_role=asked))

        assert server.calls[0].request["messages"][0]["role"] == role
        assert reply.honoured.get("system_role", "system") == asked


class TestMissingKeys:
    @pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
    @pytest.mark.parametrize(
        ("model", "variable"),
        [
            ("openai/gpt-5", "OPENAI_API_KEY"),
            ("anthropic/claude-haiku-4-5", "ANTHROPIC_API_KEY"),
            ("gemini/gemini-2.5-pro", "GEMINI_API_KEY"),
            ("fireworks_ai/accounts/fireworks/models/kimi-k2-instruct", "FIREWORKS"),
            ("moonshot/kimi-k2.5", "MOONSHOT_API_KEY"),
        ],
    )
    def test_asking_again_cannot_help_and_the_variable_is_named(
        self, monkeypatch, model, variable, stream
    ):
        for name in [name for name in os.environ if name.endswith("API_KEY")]:
            monkeypatch.delenv(name)

        with pytest.raises(llm.PermanentError, match=variable) as raised:
            ask(make_request(model=model, stream=stream))

        assert raised.value.kind == "configuration"

    def test_an_empty_key_is_none(self, monkeypatch):
        monkeypatch.setenv("MOONSHOT_API_KEY", " ")
        monkeypatch.setenv("FIREWORKS_API_KEY", "k")

        _forget_empty_keys()

        assert "MOONSHOT_API_KEY" not in os.environ
        assert os.environ["FIREWORKS_API_KEY"] == "k"

    def test_a_server_of_ones_own_without_address_is_asked_nowhere(self, monkeypatch):
        monkeypatch.delenv("HOSTED_VLLM_API_BASE", raising=False)

        with pytest.raises(llm.PermanentError, match="needs an address") as raised:
            ask(make_request(model="hosted_vllm/ours"))

        assert raised.value.kind == "configuration"

    def test_a_provider_that_wants_to_be_paid_is_not_asked_again(self):
        error = litellm().RateLimitError(
            "Error code: 429 - insufficient_quota", model="m", llm_provider="openai"
        )

        found = classified(error)

        assert isinstance(found, llm.PermanentError)
        assert found.kind == "payment"


ALONE = """
import os, socket, sys
from completions import llm
from completions.runs import pulling
from completions.llm.failures import classified
from completions.llm.library import litellm

def refuse(*_args, **_kwargs):
    sys.exit("a connection was opened")

connect, socket.socket.connect = socket.socket.connect, refuse
getaddrinfo, socket.getaddrinfo = socket.getaddrinfo, refuse
litellm()
socket.socket.connect, socket.getaddrinfo = connect, getaddrinfo
assert "HEART_PLANTED" not in os.environ
for model in ("openai/offline-alder", "hosted_vllm/offline-alder"):
    messages = ({"role": "user", "content": "I feel sad."},)
    request = llm.Request(model=model, messages=messages, api_base=sys.argv[1], timeout_s=30)
    assert "sad" in pulling.run_on_loop(lambda _: llm.complete(request)).text
assert "intranet" in os.environ["no_proxy"]
"""


@pytest.mark.full
def test_a_process_loads_litellm_from_nowhere_and_asks_this_machine_past_a_proxy(server, tmp_path):
    (tmp_path / ".env").write_text("HEART_PLANTED=yes\n")
    dead = dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY"), "http://127.0.0.1:9")

    done = subprocess.run(
        [sys.executable, "-c", ALONE, server.base_url],
        cwd=tmp_path,
        env={**os.environ, **dead, "NO_PROXY": "intranet", "PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
