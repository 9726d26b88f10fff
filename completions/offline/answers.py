"""Shape answers as an OpenAI-compatible provider does: bodies, stream events, usage."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from completions.offline import assistants, judges, voices
from completions.offline.behaviour import Fault

MODELS = (*voices.VOICES, *judges.JUDGES, *assistants.ASSISTANTS)
JsonObject = dict[str, Any]


class RefusedRequestError(ValueError):
    """The request asks for something this provider does not have."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Answer:
    """One finished answer, before it is put into a body or a stream."""

    id: str
    model: str
    text: str
    finish_reason: str
    n_prompt_tokens: int

    @property
    def tokens(self) -> list[str]:
        """Split the text into pieces that add up to it again."""
        words = self.text.split(" ")
        return [word if place == 0 else f" {word}" for place, word in enumerate(words)]

    @property
    def usage(self) -> JsonObject:
        """Count tokens, at about four characters each."""
        made = count_tokens(self.text)
        return {
            "prompt_tokens": self.n_prompt_tokens,
            "completion_tokens": made,
            "total_tokens": self.n_prompt_tokens + made,
        }


def make_answer(request: Mapping[str, Any], fault: Fault | None) -> Answer:
    """Let the model named in the request answer; a fault may spoil the text.

    Raises
    ------
    RefusedRequestError
        If the model is unknown, or the messages are not what it can answer.
    """
    model, messages = str(request.get("model")), _read_messages(request)
    text, reason = _spoil(_speak(model, messages), fault)
    content = "\n".join(message["content"] for message in messages)
    digest = hashlib.sha256(f"{model}\n{content}".encode()).hexdigest()
    return Answer(f"offline-{digest[:24]}", model, text, reason, count_tokens(content))


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text."""
    return math.ceil(len(text) / 4)


def body_of(answer: Answer) -> JsonObject:
    """Return the body of an answer that is not streamed."""
    message = {"role": "assistant", "content": answer.text}
    choice = {"index": 0, "message": message, "finish_reason": answer.finish_reason}
    return {**_head(answer, "chat.completion"), "choices": [choice], "usage": answer.usage}


def events_of(answer: Answer, *, per_event: int, with_usage: bool) -> Iterator[JsonObject]:
    """Yield the events of a streamed answer: its tokens, the end, then the usage."""
    head = _head(answer, "chat.completion.chunk")
    tokens = answer.tokens if answer.text else []
    for place in range(0, len(tokens), per_event):
        text = "".join(tokens[place : place + per_event])
        delta = {"role": "assistant", "content": text} if place == 0 else {"content": text}
        yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    end = {"index": 0, "delta": {}, "finish_reason": answer.finish_reason}
    yield {**head, "choices": [end]}
    if with_usage:
        yield {**head, "choices": [], "usage": answer.usage}


def list_models() -> JsonObject:
    """Return the body of ``/v1/models``."""
    rows = [{"id": name, "object": "model", "owned_by": "offline"} for name in MODELS]
    return {"object": "list", "data": rows}


def error_of(message: str, kind: str) -> JsonObject:
    """Return the body of a failed request."""
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def _head(answer: Answer, kind: str) -> JsonObject:
    return {"id": answer.id, "object": kind, "created": 0, "model": answer.model}


def _read_messages(request: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the chat of a request as role and content."""
    try:
        messages = json.loads(json.dumps(request["messages"]))
        chat = [{"role": str(m["role"]), "content": str(m["content"])} for m in messages]
    except (KeyError, TypeError) as error:
        raise RefusedRequestError(400, f"No messages to answer: {error!r}.") from error
    if not chat:
        raise RefusedRequestError(400, "No messages to answer.")
    return chat


def _speak(model: str, messages: Sequence[Mapping[str, str]]) -> str:
    """Return the text of a voice, a judge or an assistant."""
    if model in voices.VOICES:
        return voices.reply(model, messages)
    if model not in MODELS:
        raise RefusedRequestError(404, f"There is no model {model!r} here.")
    read = judges.answer if model in judges.JUDGES else assistants.answer
    try:
        return read(model, messages)
    except judges.UnreadablePromptError as error:
        raise RefusedRequestError(400, str(error)) from error


def _spoil(text: str, fault: Fault | None) -> tuple[str, str]:
    """Return the text and the finish reason under a fault."""
    if fault is Fault.EMPTY:
        return "", "stop"
    if fault is Fault.FILTERED:
        return "", "content_filter"
    if fault is Fault.TRUNCATED:
        return text[: len(text) // 2], "length"
    if fault is Fault.BROKEN_ANSWER:
        return text[: len(text) // 2], "stop"
    return text, "stop"
