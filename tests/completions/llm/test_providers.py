"""What providers send, byte by byte through LiteLLM: each answer is a text or a kind of failure."""

import json
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import pytest

from completions import llm
from completions.llm import failures
from completions.runs import pulling
from tests.helpers.providers import (
    ASKS_LITELLM,
    Answer,
    Provider,
    choice,
    completion,
    events,
    providing,
    said,
    sent_events,
    streamed,
)

pytestmark = [
    ASKS_LITELLM,
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
]

CLAUDE, GEMINI = "anthropic/claude-fake", "gemini/gemini-fake"


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with providing() as provider:
        yield provider


def ask(provider: Provider, answer: Answer, model: str = "openai/fake", **fields: Any) -> llm.Reply:
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
        ask(provider, answer, **fields)
    assert len(provider.requests) == n_asked + 1
    return raised.value


def check_end(provider: Provider, answer: Answer, kind: str, **fields: Any) -> None:
    """Check that half a sentence is a text, or a failure of this kind, by the reason of its end."""
    if not kind:
        assert ask(provider, answer, **fields).text == "That sou"
        return
    error = failure(provider, answer, **fields)
    assert error.kind == kind
    assert isinstance(error, llm.TransientError) == (kind in ("interrupted", "cut_stream"))
    if kind == "truncated":
        assert error.reply is not None
        assert error.reply.text == "That sou"
        assert error.reply.n_completion_tokens


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("KEY", "k")


way = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


TEXTS: dict[str, tuple[Any, ...]] = {
    # name: what the model sent around "Hello.", and what was taken off
    "plain": ("Hello.",),
    "a block of thoughts": ("<think>hm\n</think>\n\nHello.", "thoughts"),
    "two blocks": ("<think>a</think><thinking>b</thinking>Hello.", "thoughts"),
    "an empty block": ("<think>\n\n</think>\n\nHello.", "thoughts"),
    "a closing tag alone": ("so I say hi</think>Hello.", "thoughts"),
    "thoughts behind": ("Hello.<reasoning>was it kind?</reasoning>", "thoughts"),
    "a block in square brackets": ("[THINK]hm[/THINK]Hello.", "thoughts"),
    "a block in triangles": ("\u25c1think\u25b7hm\u25c1/think\u25b7Hello.", "thoughts"),
    "a block with a maker's name": ("<seed:think>hm</seed:think>Hello.", "thoughts"),
    "channels": (
        "<|channel|>analysis<|message|>hm<|end|><|channel|>final<|message|>Hello.<|return|>",
        "thoughts",
        "special tokens",
    ),
    "a token at the end": ("Hello.<|im_end|>", "special tokens"),
    "another token": ("Hello.<|eot_id|>", "special tokens"),
    "a token in wide signs": ("Hello.<\uff5cend\u2581of\u2581sentence\uff5c>", "special tokens"),
    "a turn in tokens": ("<|im_start|>assistant\nHello.<|im_end|>\n", "special tokens"),
    "a header in tokens": (
        "<|start_header_id|>assistant<|end_header_id|>\n\nHello.",
        "special tokens",
    ),
    "an older token": ("<s>Hello.</s>", "special tokens"),
    "an instruction's end": ("[/INST] Hello.", "special tokens"),
    "a turn's end": ("Hello.<end_of_turn>", "special tokens"),
    "a role": ("Supporter: Hello.", "role"),
    "a role with a wide colon": ("Supporter\uff1aHello.", "role"),
    "a role in bold": ("**Assistant:** Hello.", "role"),
    "quotation marks": ('"Hello."', "quotation marks"),
    "curly marks": ("\u201cHello.\u201d", "quotation marks"),
    "German marks": ("\u201eHello.\u201c", "quotation marks"),
    "a role and marks": ('Supporter: "Hello."', "role", "quotation marks"),
    "a byte order mark": ("\ufeffHello.", "invisible characters"),
    "an invisible end": ("Hello.\u200b", "invisible characters"),
    "parts of content": (
        [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Hello."}],
        "thoughts",
    ),
    "thoughts in parts": (
        [
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
            {"type": "text", "text": "Hel"},
            {"type": "text", "text": "lo."},
        ],
        "thoughts",
    ),
}
AS_THEY_ARE = {
    "a quotation inside": '"Hello," she said, "you."',
    "an emoji": "Hello \U0001f642.",
}
NO_TEXTS = {
    "nothing but thoughts": ("<think>hm</think>", "only_thoughts"),
    "thoughts without an end": ("<think>hm, so", "only_thoughts"),
    "no final channel": ("<|channel|>analysis<|message|>hm<|end|>", "only_thoughts"),
    "thoughts between words": ("Hello <think>hm</think> there.", "unclear_text"),
    "two closing tags": ("a</think>b</think>Hello.", "unclear_text"),
    "a second turn": ("Hello.<|im_end|>\n<|im_start|>user\nBye.", "unclear_text"),
    "nothing visible": ("\u200b\ufeff \u2060", "empty"),
    "a letter that shows nothing": ("\u3164\u2800", "empty"),
    "a special token alone": ("<|im_end|>", "empty"),
    "nothing": ("", "empty"),
    "NUL": ("a\x00b", "unstorable"),
    "half a surrogate pair": ("a\ud83db", "unstorable"),
}
AROUND_JSON = {
    # name: what the model sent, what is left to be read
    "nothing": ("JSON", "JSON"),
    "thoughts": ("<think>hm</think>JSON", "JSON"),
    "thoughts of an object": ('<think>{"a": 1}?</think>JSON', "JSON"),
    "a closing tag alone": ("hm</think>\nJSON", "JSON"),
    "a token": ("JSON<|im_end|>", "JSON"),
    "a channel for objects": (
        "<|channel|>analysis<|message|>hm<|end|><|channel|>final <|constrain|>json<|message|>JSON",
        "JSON",
    ),
    "a fence": ("```json\nJSON\n```", "```json\nJSON\n```"),
    "an open fence": ("```json\nJSON", "```json\nJSON"),
    "a sentence": ("Here it is:\nJSON", "Here it is:\nJSON"),
    "thoughts and a fence": ("<think>hm</think>```\nJSON\n```", "```\nJSON\n```"),
}
REASONS = {
    None: "",  # LiteLLM says "stop" where a whole answer gives no reason
    "stop": "",
    "end_turn": "",
    "eos_token": "",
    "COMPLETE": "",
    "length": "truncated",
    "max_tokens": "truncated",
    "model_length": "truncated",
    "model_context_window_exceeded": "truncated",
    "content_filter": "content_filtered",
    "sensitive": "content_filtered",
    "insufficient_system_resource": "interrupted",
    "network_error": "interrupted",
    "abort": "interrupted",
    "error": "interrupted",
    "tool_calls": "finish_reason",
    "whatever_comes_next": "finish_reason",
}


@pytest.mark.parametrize("make", [completion, streamed], ids=["whole", "streamed"])
class TestTexts:
    @pytest.mark.parametrize(
        ("sent", "stripped"),
        [(sent, tuple(stripped)) for sent, *stripped in TEXTS.values()],
        ids=TEXTS,
    )
    def test_the_message_is_kept_and_what_stood_around_it_is_recorded(
        self, provider, make, sent, stripped
    ):
        reply = ask(provider, make(choice(sent)), stream=make is streamed)

        assert (reply.text, reply.stripped) == ("Hello.", stripped)
        assert bool(reply.raw_text) == bool(stripped)

    @pytest.mark.parametrize("sent", AS_THEY_ARE.values(), ids=AS_THEY_ARE)
    def test_a_message_is_kept_as_it_is(self, provider, make, sent):
        reply = ask(provider, make(choice(sent)), stream=make is streamed)

        assert (reply.text, reply.stripped, reply.raw_text) == (sent, (), "")

    @pytest.mark.parametrize(("sent", "kind"), NO_TEXTS.values(), ids=NO_TEXTS)
    def test_what_is_no_message_for_certain_is_a_failure(self, provider, make, sent, kind):
        assert failure(provider, make(choice(sent)), stream=make is streamed).kind == kind

    def test_a_choice_that_nobody_asked_for_is_left_out(self, provider, make):
        answer = make(choice("First."), choice("Second.", index=1))

        assert ask(provider, answer, stream=make is streamed).text == "First."

    def test_a_refusal_keeps_its_words(self, provider, make):
        error = failure(
            provider, make(choice(None, refusal="I cannot help.")), stream=make is streamed
        )

        assert error.kind == "refused"
        assert error.reply is not None
        assert error.reply.text == "I cannot help."

    @pytest.mark.parametrize(("around", "text"), AROUND_JSON.values(), ids=AROUND_JSON)
    def test_strings_in_an_answer_of_json_may_quote_anything(self, provider, make, around, text):
        sent = json.dumps({"a": 'It says "Supporter: </think>", [INST] and <|im_end|>.'})

        reply = ask(
            provider,
            make(choice(around.replace("JSON", sent))),
            stream=make is streamed,
            response_schema={"type": "object"},
        )
        assert reply.text == text.replace("JSON", sent)


class TestReasons:
    @pytest.mark.parametrize(("reason", "kind"), REASONS.items())
    def test_the_providers_own_reason_decides_on_a_whole_answer(self, provider, reason, kind):
        check_end(provider, completion(choice("That sou", reason)), kind)

    # A stream that gives no reason was cut; LiteLLM itself breaks one off that ends with "error".
    @pytest.mark.parametrize(
        ("reason", "kind"), (REASONS | dict.fromkeys([None, "error"], "cut_stream")).items()
    )
    def test_the_providers_own_reason_decides_on_a_stream(self, provider, reason, kind):
        check_end(provider, streamed(choice("That sou", reason)), kind, stream=True)

    @way
    @pytest.mark.parametrize(
        ("reason", "kind"),
        [("end_turn", ""), ("max_tokens", "truncated"), ("refusal", "content_filtered")],
    )
    def test_a_messages_api_has_its_own_reasons(self, provider, reason, kind, stream):
        ended = {"stop_reason": reason, "stop_sequence": None}
        message = {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "c",
            **ended,
            "content": [{"type": "text", "text": "That sou"}],
            "usage": {"input_tokens": 3, "output_tokens": 2},
        }
        text: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": "That sou"}
        pieces: list[dict[str, Any]] = [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": text},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 2}},
            {"type": "message_stop"},
        ]
        answer = sent_events(*pieces) if stream else said(message)

        check_end(provider, answer, kind, model=CLAUDE, stream=stream, api_key_env="KEY")

    @way
    @pytest.mark.parametrize(
        ("reason", "kind"),
        [
            *[("STOP", ""), ("MAX_TOKENS", "truncated")],
            *[("SAFETY", "content_filtered"), ("OTHER", "finish_reason")],
        ],
    )
    def test_candidates_have_their_own_reasons(self, provider, reason, kind, stream):
        content = {"role": "model", "parts": [{"text": "That sou"}]}
        counts = {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5}
        candidate = {"content": content, "finishReason": reason, "index": 0}
        body = {"candidates": [candidate], "usageMetadata": counts}
        answer = sent_events(body) if stream else said(body)

        check_end(provider, answer, kind, model=GEMINI, stream=stream, api_key_env="KEY")


HALVES = [
    {"index": 0, "delta": {"content": half}, "finish_reason": None}
    for half in ("Hello \ud83d", "\ude42.")
]
END = {"index": 0, "delta": {}, "finish_reason": "stop"}


def in_packets_of_three() -> Answer:
    """Return a stream whose emoji goes over the wire as its bytes, cut anywhere."""
    answer = streamed(choice("Hello \U0001f642."))
    body = b"".join(answer.body).replace(b"\\ud83d\\ude42", "\U0001f642".encode())
    pieces = [body[at : at + 3] for at in range(0, len(body), 3)]
    return Answer(200, pieces, kind=answer.kind)


@pytest.mark.parametrize(
    "answer",
    [events(*({"id": "x", "choices": [one]} for one in (*HALVES, END))), in_packets_of_three()],
    ids=["in two pieces", "between packets"],
)
def test_an_emoji_that_was_cut_is_joined(provider, answer):
    assert ask(provider, answer, stream=True).text == "Hello \U0001f642."


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


@pytest.mark.parametrize("status", [302, 307])
@way
@pytest.mark.parametrize(
    "model",
    [
        *("openai/fake", "hosted_vllm/fake", "mistral/fake", "text-completion-openai/fake"),
        *(CLAUDE, GEMINI),
    ],
)
def test_a_server_that_names_another_leads_nobody_there(provider, model, stream, status):
    with providing() as inner:
        answer = said({}, status, location=f"{inner.root}/v1/chat/completions")
        error = failure(provider, answer, model=model, stream=stream, api_key_env="KEY")

    assert inner.requests == []
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
        {}, {"max_tokens": 300, "temperature": 0.0}, {"max_completion_tokens"}
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

    reply = ask(provider, answer, model=f"{prefix}/fake", **fields)

    body = provider.requests[-1]
    assert {name: body.get(name) for name in dialect.has} == dialect.has
    assert dialect.lacks.isdisjoint(body)
    assert set(reply.dropped) == dialect.dropped


def test_what_was_said_in_another_way_is_recorded(provider):
    another = {"system_role": "user", "schema_mode": "prompt"}

    reply = ask(
        provider,
        completion(choice('{"a": 1}')),
        token_limit="max_completion_tokens",
        response_schema=SCHEMA,
        **another,
    )

    assert (another | {"max_completion_tokens": 300}).items() <= reply.honoured.items()


def test_a_stream_is_asked_to_count_unless_its_model_refuses_that(provider):
    answer = streamed(choice("Hello."))

    ask(provider, answer, stream=True)
    assert provider.requests[-1]["stream_options"] == {"include_usage": True}
    reply = ask(provider, answer, stream=True, stream_options=False)
    assert "stream_options" not in provider.requests[-1]
    assert reply.dropped == ("stream_options",)
