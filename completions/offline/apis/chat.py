"""OpenAI's chat completions, which most providers and servers speak."""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from completions.offline.answers import Answer
from completions.offline.apis.api import (
    Api,
    Body,
    JsonObject,
    ProviderRequest,
    event,
    read_messages,
    text_of,
)
from completions.offline.behaviour import fraction

_SWAPPED = {'"A"': '"B"', '"B"': '"A"'}
LEAST_SURE, SURER_BY = 0.55, 0.44


def logprobs(tokens: Sequence[str]) -> dict[str, Any]:
    """Return the log probabilities of a text's tokens, in the way of OpenAI's chat completions.

    All are certain but the letters of verdicts: how sure those are depends on the text alone.
    """
    sureness = LEAST_SURE + SURER_BY * fraction("".join(tokens))
    return {"content": [_piece(token, sureness) for token in tokens]}


def _piece(token: str, sureness: float) -> dict[str, Any]:
    letter = next((one for one in _SWAPPED if one in token), None)
    if letter is None:
        return {**_logprob(token, 1.0), "top_logprobs": [_logprob(token, 1.0)]}
    other = _logprob(token.replace(letter, _SWAPPED[letter]), 1 - sureness)
    own = _logprob(token, sureness)
    return {**own, "top_logprobs": [own, other]}


def _logprob(token: str, probability: float) -> dict[str, Any]:
    return {"token": token, "logprob": math.log(probability), "bytes": list(token.encode())}


def _read(_path: str, body: Body) -> ProviderRequest:
    options = body.get("stream_options") or {}
    return ProviderRequest(
        messages=read_messages(body, _messages),
        is_streamed=bool(body.get("stream")),
        wants_usage=bool(options.get("include_usage")),
        wants_logprobs=bool(body.get("logprobs")),
    )


def _messages(body: Body) -> list[dict[str, str]]:
    return [
        {"role": str(one["role"]), "content": text_of(one["content"])} for one in body["messages"]
    ]


def _body(answer: Answer) -> JsonObject:
    message = {"role": "assistant", "content": answer.text}
    choice = {"index": 0, "message": message, "finish_reason": answer.finish_reason}
    told = {"logprobs": logprobs(answer.tokens)} if answer.tells_logprobs else {}
    head = _head(answer, "chat.completion")
    return {**head, "choices": [choice | told], "usage": _usage(answer)}


def _events(answer: Answer, pieces: list[str], wants_usage: bool) -> Iterator[bytes]:  # noqa: FBT001
    head = _head(answer, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return event({**head, "choices": [choice]})

    yield b""
    for place, piece in enumerate(pieces):
        yield chunk({"content": piece} if place else {"role": "assistant", "content": piece})
    rest = chunk({}, answer.finish_reason)
    rest += event({**head, "choices": [], "usage": _usage(answer)}) if wants_usage else b""
    yield rest + b"data: [DONE]\n\n"


def _usage(answer: Answer) -> JsonObject:
    return {
        "prompt_tokens": answer.n_prompt_tokens,
        "completion_tokens": answer.n_tokens,
        "total_tokens": answer.n_prompt_tokens + answer.n_tokens,
    }


def _head(answer: Answer, kind: str) -> JsonObject:
    return {"id": answer.id, "object": kind, "created": 0, "model": answer.model}


def _error(status: int, message: str) -> JsonObject:
    kind = f"offline_{status}"
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


CHAT = Api(
    path=re.compile(r"^(/v1)?/chat/completions$"),
    model=lambda _path, body: str(body.get("model")),
    read=_read,
    body=_body,
    events=_events,
    error=_error,
)
