"""What providers send, byte by byte through LiteLLM: each answer is a text or a kind of failure."""

import json
from typing import Any

import pytest

from completions import llm
from tests.completions.llm.conftest import CLAUDE, GEMINI, asked, failure, way
from tests.helpers.providers import (
    ASKS_LITELLM,
    Answer,
    Provider,
    choice,
    completion,
    events,
    said,
    sent_events,
    streamed,
)

pytestmark = [
    ASKS_LITELLM,
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
]


def check_end(provider: Provider, answer: Answer, kind: str, **fields: Any) -> None:
    """Check that half a sentence is a text, or a failure of this kind, by the reason of its end."""
    if not kind:
        assert asked(provider, answer, **fields).text == "That sou"
        return
    error = failure(provider, answer, **fields)
    assert error.kind == kind
    assert isinstance(error, llm.TransientError) == (kind in ("interrupted", "cut_stream"))
    if kind == "truncated":
        assert error.reply is not None
        assert error.reply.text == "That sou"
        assert error.reply.n_completion_tokens


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
        reply = asked(provider, make(choice(sent)), stream=make is streamed)

        assert (reply.text, reply.stripped) == ("Hello.", stripped)
        assert bool(reply.raw_text) == bool(stripped)

    @pytest.mark.parametrize("sent", AS_THEY_ARE.values(), ids=AS_THEY_ARE)
    def test_a_message_is_kept_as_it_is(self, provider, make, sent):
        reply = asked(provider, make(choice(sent)), stream=make is streamed)

        assert (reply.text, reply.stripped, reply.raw_text) == (sent, (), "")

    @pytest.mark.parametrize(("sent", "kind"), NO_TEXTS.values(), ids=NO_TEXTS)
    def test_what_is_no_message_for_certain_is_a_failure(self, provider, make, sent, kind):
        assert failure(provider, make(choice(sent)), stream=make is streamed).kind == kind

    def test_a_choice_that_nobody_asked_for_is_left_out(self, provider, make):
        answer = make(choice("First."), choice("Second.", index=1))

        assert asked(provider, answer, stream=make is streamed).text == "First."

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

        reply = asked(
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

    def test_a_stream_that_says_one_thing_over_and_over_ends_by_its_reason(self, provider):
        pieces = [{"index": 0, "delta": {"content": "Well, "}}] * 150
        end = {"index": 0, "delta": {}, "finish_reason": "length"}
        answer = events(*({"id": "x", "choices": [one]} for one in (*pieces, end)))

        error = failure(provider, answer, stream=True)

        assert error.kind == "truncated"
        assert error.reply is not None
        assert error.reply.text == "Well, " * 150

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


@pytest.mark.parametrize(
    ("text", "counted", "cost"),
    [
        ("Hello.", {"completion_tokens": 3}, 13e-6),
        ("Hello.", {"completion_tokens": 0}, None),
        ("Hello.", {"completion_tokens": None}, None),
        ("Hello.", {}, None),
        ("", {"completion_tokens": 0}, 7e-6),
    ],
)
def test_a_text_whose_tokens_nobody_counted_has_no_known_cost(provider, text, counted, cost):
    body = {"id": "x", "choices": [choice(text)], "usage": {"prompt_tokens": 7, **counted}}
    request: dict[str, Any] = {"price": {"input": 1, "output": 2}}

    reply = asked(provider, said(body), **request) if text else None
    reply = reply or failure(provider, said(body), **request).reply

    assert reply is not None
    assert reply.cost_usd == cost


def surely(*logprobs: float) -> dict[str, Any]:
    """Return a choice of one piece, with how probable it and others in its place are."""
    tokens = zip(("Hi.", "Ho."), logprobs, strict=False)
    first, *others = ({"token": token, "logprob": one, "bytes": None} for token, one in tokens)
    return choice("Hi.") | {"logprobs": {"content": [{**first, "top_logprobs": others}]}}


@pytest.mark.parametrize(
    ("logprobs", "n_pieces"),
    [((-0.5,), 1), ((1e-9, float("-inf")), 1), ((800.0,), 0), ((-0.5, float("nan")), 0)],
)
def test_numbers_that_are_no_logarithms_of_probabilities_say_nothing(provider, logprobs, n_pieces):
    reply = asked(provider, completion(surely(*logprobs)), logprobs=True)

    assert (reply.text, len(reply.tokens)) == ("Hi.", n_pieces)


@pytest.mark.parametrize("more", [{}, {"content": None}, {"content": ""}], ids=str)
def test_a_refusal_in_pieces_keeps_all_its_words(provider, more):
    pieces = [{"index": 0, "delta": {**more, "refusal": said}} for said in ("I cannot", " help.")]

    error = failure(
        provider, events(*({"id": "x", "choices": [one]} for one in (*pieces, END))), stream=True
    )

    assert (error.kind, error.reply and error.reply.text) == ("refused", "I cannot help.")


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
    assert asked(provider, answer, stream=True).text == "Hello \U0001f642."
