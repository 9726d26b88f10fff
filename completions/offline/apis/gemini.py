"""Google's generateContent; the model stands in the path."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

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

PATH = re.compile(
    r"^(?:/v1(?:beta)?)?/models/(?P<model>[^/:]+):(?P<act>generateContent|streamGenerateContent)"
    r"(?:\?.*)?$"
)
ROLES = {"model": "assistant"}
FINISH_REASONS = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}


def _model(path: str, _body: Body) -> str:
    found = PATH.search(path)
    return unquote(found["model"]) if found else ""


def _read(path: str, body: Body) -> ProviderRequest:
    return ProviderRequest(
        messages=read_messages(body, _messages), is_streamed=":streamGenerateContent" in path
    )


def _messages(body: Body) -> list[dict[str, str]]:
    """Return the chat with the instructions, which stand apart in the request, in front."""
    system = body.get("system_instruction") or body.get("systemInstruction")
    said = [{"role": "system", **system}] if system else []
    chat = [*said, *body["contents"]] if body["contents"] else []
    return [
        {"role": ROLES.get(one["role"], one["role"]), "content": text_of(one["parts"])}
        for one in chat
    ]


def _body(answer: Answer) -> JsonObject:
    return _part(answer, answer.text, is_last=True)


def _events(answer: Answer, pieces: list[str], _wants_usage: bool) -> Iterator[bytes]:  # noqa: FBT001
    yield b""
    for piece in pieces:
        yield event(_part(answer, piece))
    yield event(_part(answer, "", is_last=True))


def _part(answer: Answer, text: str, *, is_last: bool = False) -> JsonObject:
    """Return a part of a stream; its last one has what ends an answer."""
    parts = [{"text": text}] if text else []
    candidate: JsonObject = {"index": 0, "content": {"role": "model", "parts": parts}}
    found: JsonObject = {"candidates": [candidate], "modelVersion": answer.model}
    if is_last:
        candidate["finishReason"] = FINISH_REASONS[answer.finish_reason]
        found["usageMetadata"] = {
            "promptTokenCount": answer.n_prompt_tokens,
            "candidatesTokenCount": answer.n_tokens,
            "totalTokenCount": answer.n_prompt_tokens + answer.n_tokens,
        }
    return {**found, "responseId": answer.id}


def _error(status: int, message: str) -> JsonObject:
    return {"error": {"code": status, "message": message, "status": f"OFFLINE_{status}"}}


GEMINI = Api(path=PATH, model=_model, read=_read, body=_body, events=_events, error=_error)
