"""Anthropic's messages."""

import re
from collections.abc import Iterator

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

STOP_REASONS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
ERRORS = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}


def _read(_path: str, body: Body) -> ProviderRequest:
    return ProviderRequest(
        messages=read_messages(body, _messages), is_streamed=bool(body.get("stream"))
    )


def _messages(body: Body) -> list[dict[str, str]]:
    """Return the chat with the instructions, which stand apart in the request, in front."""
    system = text_of(body.get("system") or "")
    chat = [{"role": one["role"], "content": text_of(one["content"])} for one in body["messages"]]
    return [{"role": "system", "content": system}, *chat] if system and chat else chat


def _body(answer: Answer) -> JsonObject:
    content = [{"type": "text", "text": answer.text}] if answer.text else []
    reason = STOP_REASONS[answer.finish_reason]
    usage = {"input_tokens": answer.n_prompt_tokens, "output_tokens": answer.n_tokens}
    return {**_head(answer), "content": content, "stop_reason": reason, "usage": usage}


def _events(answer: Answer, pieces: list[str], _wants_usage: bool) -> Iterator[bytes]:  # noqa: FBT001
    usage = {"input_tokens": answer.n_prompt_tokens, "output_tokens": 1}
    message = {**_head(answer), "content": [], "stop_reason": None, "usage": usage}
    block = {"type": "text", "text": ""}
    yield _event("message_start", message=message) + _event(
        "content_block_start", index=0, content_block=block
    )
    for piece in pieces:
        yield _event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
    reason = {"stop_reason": STOP_REASONS[answer.finish_reason], "stop_sequence": None}
    yield (
        _event("content_block_stop", index=0)
        + _event("message_delta", delta=reason, usage={"output_tokens": answer.n_tokens})
        + _event("message_stop")
    )


def _event(name: str, **fields: object) -> bytes:
    return event({"type": name, **fields}, name)


def _head(answer: Answer) -> JsonObject:
    return {
        "id": answer.id,
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "stop_sequence": None,
    }


def _error(status: int, message: str) -> JsonObject:
    kind = ERRORS.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


MESSAGES = Api(
    path=re.compile(r"^(/v1){1,2}/messages$"),
    model=lambda _path, body: str(body.get("model")),
    read=_read,
    body=_body,
    events=_events,
    error=_error,
    id_header="request-id",
)
