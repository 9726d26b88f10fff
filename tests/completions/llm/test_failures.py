"""How a call fails: each failure has its kind, and says whether asking again may help."""

import gzip
import os
from contextlib import suppress
from operator import attrgetter
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from completions import llm
from completions.llm import failures
from completions.llm.exchange import MOST_BYTES, MOST_CHARACTERS
from completions.llm.failures import classified
from completions.llm.library import LOOPBACK, _forget_empty_keys, litellm
from completions.llm.parameters import OWN_BASES
from completions.offline import Behaviour, Fault
from tests.completions.llm.conftest import (
    CLAUDE,
    GEMINI,
    MODELS,
    ask,
    asked,
    failure,
    make_request,
    way,
)
from tests.helpers.processes import free_port
from tests.helpers.providers import (
    ASKS_LITELLM,
    Answer,
    choice,
    completion,
    providing,
    said,
    streamed,
)

pytestmark = [
    ASKS_LITELLM,
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
]


class Failing(NamedTuple):
    """An answer that is none, and what it means."""

    answer: Answer
    kind: str
    model: str = "openai/fake"
    detail: str = ""
    streams_as: str = ""


def openai(message: str, status: int, **more: Any) -> Answer:
    """Return an error as OpenAI and who is like it spell it."""
    return said({"error": {"message": message, "type": None, "param": None, **more}}, status)


def anthropic(kind: str, message: str, status: int) -> Answer:
    return said({"type": "error", "error": {"type": kind, "message": message}}, status)


QUOTA = "You exceeded your current quota, please check your plan and billing details."
GOOGLES_QUOTA = {
    "error": {
        "code": 429,
        "message": QUOTA,
        "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "31s"}],
    }
}
SPENT = {"candidates": [], "usageMetadata": {"promptTokenCount": 3, "totalTokenCount": 3}}
FAILING = {
    "no choices": Failing(completion(), "empty", streams_as="cut_stream"),
    "choices of nothing": Failing(said({"id": "x"}), "broken_body", streams_as="cut_stream"),
    "a body of null": Failing(said(None), "broken_body", streams_as="cut_stream"),
    "a list": Failing(said([]), "broken_body", streams_as="cut_stream"),
    "a text": Failing(said("hello"), "broken_body", streams_as="cut_stream"),
    "an error in a word": Failing(
        said({"error": "model overloaded"}), "broken_body", streams_as="cut_stream"
    ),
    "half a body": Failing(said(b'{"id": "x", "cho'), "broken_body", streams_as="cut_stream"),
    "no candidates": Failing(said(SPENT), "empty", GEMINI),
    "a blocked prompt": Failing(
        said({**SPENT, "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}),
        "content_filtered",
        GEMINI,
    ),
    "a page of a proxy": Failing(said(b"<html>Bad gateway</html>", 502), "server_error"),
    "an overload": Failing(anthropic("overloaded_error", "Busy", 529), "server_error", CLAUDE),
    "a limit": Failing(openai("Rate limit reached for requests", 429), "rate_limited"),
    "a limit by Google": Failing(said(GOOGLES_QUOTA, 429), "rate_limited", GEMINI),
    "an empty account": Failing(
        openai(QUOTA, 429, type="insufficient_quota", code="insufficient_quota"), "payment"
    ),
    "an empty account at Azure": Failing(
        openai("Exceeded quota.", 429, code="insufficient_quota"), "payment"
    ),
    "no credit": Failing(
        anthropic(
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & "
            "Billing to upgrade or purchase credits.",
            400,
        ),
        "payment",
        CLAUDE,
    ),
    "no balance": Failing(openai("Insufficient Balance", 402), "payment"),
    "no credits at a gateway": Failing(
        openai("This request requires more credits, or fewer max_tokens.", 402), "payment"
    ),
    "arrears": Failing(openai("Access denied.", 400, code="Arrearage"), "payment"),
    "a filter at Azure": Failing(
        openai(
            "The response was filtered due to the prompt triggering Azure OpenAI's content "
            "management policy.",
            400,
            param="prompt",
            code="content_filter",
            innererror={"code": "ResponsibleAIPolicyViolation"},
        ),
        "content_filtered",
    ),
    "a filter at a gateway": Failing(
        openai('Your chosen model requires moderation and your input was flagged for "x"', 403),
        "content_filtered",
    ),
    "an inspection": Failing(
        openai("Input data may contain inappropriate content.", 400, code="data_inspection_failed"),
        "content_filtered",
    ),
    "a risk": Failing(openai("Content Exists Risk", 400), "content_filtered"),
    "usage guidelines": Failing(
        openai("Content violates usage guidelines.", 403), "content_filtered"
    ),
    "a parameter by its name": Failing(
        openai(
            "Unsupported parameter: 'max_tokens' is not supported with this model.",
            400,
            param="max_tokens",
            code="unsupported_parameter",
        ),
        "bad_request",
        detail="the parameter max_tokens",
    ),
    "a parameter in words": Failing(
        openai("Unrecognized request argument supplied: top_p", 400),
        "bad_request",
        detail="the parameter top_p",
    ),
    "an extra input": Failing(
        anthropic("invalid_request_error", "output_format: Extra inputs are not permitted", 400),
        "bad_request",
        CLAUDE,
        "the parameter output_format",
    ),
    "a deprecated one": Failing(
        anthropic("invalid_request_error", "`temperature` is deprecated for this model.", 400),
        "bad_request",
        CLAUDE,
        "the parameter temperature",
    ),
    "a wrong key": Failing(openai("Incorrect API key provided.", 401), "authentication"),
    "a closed model": Failing(openai("Project does not have access to model", 403), "forbidden"),
    "an unknown model": Failing(openai("The model does not exist", 404), "not_found"),
    "a teapot": Failing(openai("I am a teapot", 418), "status_418"),
}
TRANSIENT = {"broken_body", "cut_stream", "rate_limited", "server_error"}


@way
@pytest.mark.parametrize("failing", FAILING.values(), ids=FAILING)
def test_each_failure_is_its_kind(provider, failing, stream):
    error = failure(provider, failing.answer, model=failing.model, stream=stream, api_key_env="KEY")
    kind = failing.streams_as if stream and failing.streams_as else failing.kind

    assert error.kind == kind
    assert failing.detail in str(error)
    assert isinstance(error, llm.TransientError) == (kind in TRANSIENT)


@way
def test_an_answer_that_does_not_end_is_read_no_further(provider, stream):
    put = streamed if stream else completion
    longest = "a" * MOST_CHARACTERS
    error = failure(provider, put(choice(f"{longest}a")), stream=stream, api_key_env="KEY")

    assert (error.kind, error.reply) == ("truncated", None)
    assert "over 200,000 characters" in str(error)
    reply = asked(provider, put(choice(longest)), stream=stream, api_key_env="KEY")
    assert reply.text == longest


@way
@pytest.mark.parametrize("model", ["openai/fake", "hosted_vllm/fake", CLAUDE, GEMINI])
def test_of_an_answer_that_unpacks_without_an_end_no_more_is_read(provider, model, stream):
    packed = gzip.compress(b" " * (2 * MOST_BYTES), 1)
    answer = said(packed, content_encoding="gzip")
    error = failure(provider, answer, model=model, stream=stream, api_key_env="KEY")

    assert isinstance(error, llm.PermanentError)
    assert (error.kind, "bytes, and was read no further" in str(error)) == ("truncated", True)


@pytest.fixture(scope="module")
def elsewhere():
    with providing() as other:
        yield other


@pytest.mark.parametrize("status", [302, 307])
@way
@pytest.mark.parametrize(
    "model",
    [
        *("openai/fake", "hosted_vllm/fake", "mistral/fake", "text-completion-openai/fake"),
        *(CLAUDE, GEMINI),
    ],
)
def test_a_server_that_names_another_leads_nobody_there(provider, elsewhere, model, stream, status):
    answer = said({}, status, location=f"{elsewhere.root}/v1/chat/completions")
    error = failure(provider, answer, model=model, stream=stream, api_key_env="KEY")

    assert elsewhere.requests == []
    assert isinstance(error, llm.PermanentError)
    assert error.kind == "redirected"


NOW = 1_800_000_000
WAITS = {
    # name: headers, the wait in seconds
    "seconds": ({"retry-after": "7"}, 7.0),
    "a fraction": ({"retry-after": "2.5"}, 2.5),
    "milliseconds": ({"retry-after": "2", "retry-after-ms": "1250"}, 1.25),
    "milliseconds with a unit": ({"retry-after": "1500ms"}, 1.5),
    "minutes and seconds": ({"retry-after": "1m30s"}, 90.0),
    "a date": ({"retry-after": "Fri, 15 Jan 2027 08:00:30 GMT"}, 30.0),
    "a date that is over": ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
    "an epoch": ({"retry-after": str(NOW + 20)}, 20.0),
    "an epoch in milliseconds": ({"retry-after": str(1000 * NOW + 20_500)}, 20.5),
    "an epoch in the header of milliseconds": ({"retry-after-ms": str(1000 * NOW + 500)}, 0.5),
    "a negative one": ({"retry-after": "-3"}, 0.0),
    "an hour and more": ({"retry-after": "86400"}, failures.LONGEST_WAIT_S),
    "for ever": ({"retry-after": "inf"}, None),
    "no number": ({"retry-after": "nan"}, None),
    "millions of years": ({"retry-after": "99999999999999"}, None),
    "a year of the Morlocks": ({"retry-after": "Fri, 15 Jan 9999 08:00:30 GMT"}, None),
    "a date that is none": ({"retry-after": "Fri, 99 Foo 2027"}, None),
    "soon": ({"retry-after": "soon"}, None),
    "nothing": ({}, None),
}


@pytest.mark.parametrize(("headers", "wait_s"), WAITS.values(), ids=WAITS)
def test_a_wait_is_read_in_each_way_of_saying_it(provider, monkeypatch, headers, wait_s):
    monkeypatch.setattr("completions.llm.failures.time.time", lambda: float(NOW))

    error = failure(provider, Answer(429, openai("Slow down.", 429).body, headers))

    assert isinstance(error, llm.TransientError)
    assert error.retry_after_s == wait_s


def test_google_says_its_wait_in_the_body(provider):
    error = failure(provider, said(GOOGLES_QUOTA, 429), model=GEMINI, api_key_env="KEY")

    assert isinstance(error, llm.TransientError)
    assert error.retry_after_s == 31.0


FAULTS = {
    # what the offline provider does, and the kind of failure; those that may heal have several
    Fault.RATE_LIMITED: {"rate_limited"},
    Fault.EMPTY: {"empty"},
    Fault.TRUNCATED: {"truncated"},
    Fault.FILTERED: {"content_filtered"},
    Fault.UNAUTHORIZED: {"authentication"},
    Fault.SERVER_ERROR: TRANSIENT,
    Fault.CUT: TRANSIENT,
    Fault.BROKEN_BODY: TRANSIENT,
}


class TestFailures:
    @pytest.mark.parametrize("prefix", MODELS)
    @way
    @pytest.mark.parametrize(("fault", "kinds"), FAULTS.items(), ids=FAULTS)
    def test_each_fault_is_its_kind_and_asked_once(self, server, prefix, stream, fault, kinds):
        server.behaviour = Behaviour(retry_after_s=7)
        server.script.append(fault)

        with pytest.raises(llm.ProviderError) as raised:
            ask(make_request(server, model=f"{prefix}/offline-alder", stream=stream))

        error = raised.value
        assert error.kind in kinds
        assert len(server.calls) == 1
        assert isinstance(error, llm.TransientError) == (kinds <= TRANSIENT)
        if isinstance(error, llm.TransientError) and error.kind == "rate_limited":
            assert error.retry_after_s == 7

    @pytest.mark.parametrize(
        ("behaviour", "script", "stream"),
        [
            (Behaviour(latency_s=30), [], False),
            (Behaviour(latency_s=30), [], True),
            (Behaviour(tokens_per_s=4), [], True),
            (Behaviour(), [Fault.HANG], False),
        ],
        ids=["slow", "slow to stream", "drips for ever", "hangs"],
    )
    def test_a_slow_provider_runs_into_the_time_limit_once(self, server, behaviour, script, stream):
        ask(make_request(server))  # the first call of a process loads much
        server.behaviour = behaviour
        server.script.extend(script)

        with pytest.raises(llm.TransientError) as raised:
            ask(make_request(server, timeout_s=0.4, stream=stream))

        assert raised.value.kind == "timeout"
        assert len(server.calls) == 2

    def test_nobody_listening_is_transient(self):
        with pytest.raises(llm.TransientError):
            ask(make_request(api_base=f"http://127.0.0.1:{free_port()}/v1"))

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

    @pytest.mark.parametrize("status", [401, 503])
    def test_a_key_that_a_provider_repeats_is_named_and_not_told(self, monkeypatch, status):
        monkeypatch.setenv("MY_LAB_KEY", "s3cret-of-a-lab")
        error = Exception("Incorrect API key provided: s3cret-of-a-lab.")
        vars(error).update(status_code=status)

        assert str(classified(error)) == "Exception: Incorrect API key provided: [MY_LAB_KEY]."

    @pytest.mark.parametrize("prefix", MODELS)
    def test_no_failure_gives_the_key_away_or_prints_anything(
        self, server, monkeypatch, capfd, caplog, prefix
    ):
        monkeypatch.setenv("MY_LAB_KEY", "s3cret")
        server.script.append(Fault.UNAUTHORIZED)

        with pytest.raises(llm.PermanentError) as raised:
            ask(make_request(server, model=f"{prefix}/o", api_key_env="MY_LAB_KEY"))

        assert raised.value.kind == "authentication"
        assert "s3cret" not in str(raised.value)
        assert capfd.readouterr() == ("", "")
        assert "lonely" not in caplog.text


class TestMissingKeys:
    @way
    @pytest.mark.parametrize(
        ("fields", "named"),
        [
            ({"model": "openai/gpt-5"}, "OPENAI_API_KEY"),
            ({"model": "anthropic/claude-haiku-4-5"}, "ANTHROPIC_API_KEY"),
            ({"model": "gemini/gemini-2.5-pro"}, "GEMINI_API_KEY"),
            ({"model": "fireworks_ai/accounts/fireworks/models/kimi-k2-instruct"}, "FIREWORKS"),
            ({"model": "moonshot/kimi-k2.5"}, "MOONSHOT_API_KEY"),
            *(({"model": f"{provider}/ours"}, "needs an address") for provider in OWN_BASES),
            ({"api_key_env": "MY_LAB_KEY"}, "MY_LAB_KEY"),
            ({"api_base_env": "MY_LAB_BASE"}, "MY_LAB_BASE"),
        ],
    )
    def test_asking_again_cannot_help_and_the_variable_is_named(
        self, monkeypatch, fields, named, stream
    ):
        for name in [name for name in os.environ if name.endswith(("API_KEY", "API_BASE"))]:
            monkeypatch.delenv(name)

        with pytest.raises(llm.PermanentError, match=named) as raised:
            ask(make_request(stream=stream, **fields))

        assert raised.value.kind == "configuration"

    def test_a_provider_that_answers_on_this_machine_is_known_to_need_an_address(self, monkeypatch):
        for name in [name for name in os.environ if name.endswith("API_BASE")]:
            monkeypatch.delenv(name)
        library, here = litellm(), set()
        for provider in map(str, map(attrgetter("value"), library.provider_list)):
            with suppress(Exception):  # of another form than others
                address = library.get_llm_provider(f"{provider}/x")[3] or ""
                if urlsplit(address).hostname in LOOPBACK:
                    here.add(provider)

        assert here
        assert here <= OWN_BASES.keys()

    def test_an_empty_key_is_none(self, monkeypatch):
        monkeypatch.setenv("MOONSHOT_API_KEY", " ")
        monkeypatch.setenv("FIREWORKS_API_KEY", "k")

        _forget_empty_keys()

        assert "MOONSHOT_API_KEY" not in os.environ
        assert os.environ["FIREWORKS_API_KEY"] == "k"
