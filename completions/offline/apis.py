"""The ways in which providers are asked: three APIs with one simulated provider behind them."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import unquote

from completions.offline.answers import Answer, RefusedRequestError
from completions.offline.behaviour import fraction

JsonObject = dict[str, Any]
Body = Mapping[str, Any]
_SWAPPED = {'"A"': '"B"', '"B"': '"A"'}
LEAST_SURE, SURER_BY = 0.55, 0.44


@dataclass(frozen=True)
class ProviderRequest:
    """A request, as far as it matters for the answer."""

    messages: tuple[Mapping[str, str], ...]
    is_streamed: bool = False
    wants_usage: bool = True
    """Whether a stream shall end with the counts of tokens."""
    wants_logprobs: bool = False
    """Whether a whole answer shall say how probable each token was."""


class Api:
    """One provider's way: where it is asked, what it sends, and how it answers."""

    path: ClassVar[re.Pattern[str]]
    id_header: ClassVar[str] = ""
    """A header that carries the answer's id, if there is one."""

    def model(self, _path: str, body: Body) -> str:
        """Name the model that is asked; never fails."""
        return str(body.get("model"))

    def read(self, path: str, body: Body) -> ProviderRequest:
        """Return what is asked for.

        Raises
        ------
        RefusedRequestError
            If there are no messages, or they have another shape.
        """
        try:
            chat = tuple(self._messages(body))
        except (KeyError, TypeError, AttributeError) as error:
            raise RefusedRequestError(400, f"No messages to answer: {error!r}.") from error
        if not chat:
            raise RefusedRequestError(400, "No messages to answer.")
        return self._request(path, body, chat)

    def _messages(self, body: Body) -> list[dict[str, str]]:
        """Return the chat as role and content, the instructions in front."""
        raise NotImplementedError

    def _request(self, _path: str, body: Body, chat: tuple[Body, ...]) -> ProviderRequest:
        """Return what is asked for beside the chat."""
        return ProviderRequest(chat, is_streamed=bool(body.get("stream")))

    def body(self, answer: Answer) -> JsonObject:
        """Return a whole answer."""
        raise NotImplementedError

    def events(self, answer: Answer, pieces: list[str], *, wants_usage: bool) -> Iterator[bytes]:
        """Yield the events of a stream: a first part, one for each piece of text, and the rest."""
        raise NotImplementedError

    def error(self, status: int, message: str) -> JsonObject:
        """Return an error."""
        raise NotImplementedError


def event(data: JsonObject, name: str = "") -> bytes:
    """Return a server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def text_of(content: Any) -> str:  # noqa: ANN401 (whatever JSON can hold)
    """Return a content that is a text, or a list of parts that hold texts."""
    if isinstance(content, str):
        return content
    return "".join(str(part["text"]) for part in content)


class ChatApi(Api):
    """OpenAI's chat completions, which most providers and servers speak."""

    path = re.compile(r"^(/v1)?/chat/completions$")

    def _messages(self, body: Body) -> list[dict[str, str]]:
        return [
            {"role": str(one["role"]), "content": text_of(one["content"])}
            for one in body["messages"]
        ]

    def _request(self, _path: str, body: Body, chat: tuple[Body, ...]) -> ProviderRequest:
        options = body.get("stream_options") or {}
        return ProviderRequest(
            messages=chat,
            is_streamed=bool(body.get("stream")),
            wants_usage=bool(options.get("include_usage")),
            wants_logprobs=bool(body.get("logprobs")),
        )

    def body(self, answer: Answer) -> JsonObject:
        """Return a whole answer."""
        message = {"role": "assistant", "content": answer.text}
        choice = {"index": 0, "message": message, "finish_reason": answer.finish_reason}
        told = {"logprobs": logprobs(answer.tokens)} if answer.tells_logprobs else {}
        head = self._head(answer, "chat.completion")
        return {**head, "choices": [choice | told], "usage": self._usage(answer)}

    def events(self, answer: Answer, pieces: list[str], *, wants_usage: bool) -> Iterator[bytes]:
        """Yield the events of a stream; counts come only if they are wanted."""
        head = self._head(answer, "chat.completion.chunk")

        def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            return event({**head, "choices": [choice]})

        yield b""
        for place, piece in enumerate(pieces):
            yield chunk({"content": piece} if place else {"role": "assistant", "content": piece})
        rest = chunk({}, answer.finish_reason)
        usage = {**head, "choices": [], "usage": self._usage(answer)}
        yield rest + (event(usage) if wants_usage else b"") + b"data: [DONE]\n\n"

    def error(self, status: int, message: str) -> JsonObject:
        """Return an error."""
        kind = f"offline_{status}"
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}

    def _usage(self, answer: Answer) -> JsonObject:
        return {
            "prompt_tokens": answer.n_prompt_tokens,
            "completion_tokens": answer.n_tokens,
            "total_tokens": answer.n_prompt_tokens + answer.n_tokens,
        }

    def _head(self, answer: Answer, kind: str) -> JsonObject:
        return {"id": answer.id, "object": kind, "created": 0, "model": answer.model}


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


class MessagesApi(Api):
    """Anthropic's messages."""

    path = re.compile(r"^(/v1){1,2}/messages$")
    id_header = "request-id"
    REASONS: ClassVar = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
    ERRORS: ClassVar = {
        401: "authentication_error",
        404: "not_found_error",
        429: "rate_limit_error",
    }

    def _messages(self, body: Body) -> list[dict[str, str]]:
        system = text_of(body.get("system") or "")
        chat = [
            {"role": one["role"], "content": text_of(one["content"])} for one in body["messages"]
        ]
        return [{"role": "system", "content": system}, *chat] if system and chat else chat

    def body(self, answer: Answer) -> JsonObject:
        """Return a whole answer."""
        content = [{"type": "text", "text": answer.text}] if answer.text else []
        reason = self.REASONS[answer.finish_reason]
        usage = {"input_tokens": answer.n_prompt_tokens, "output_tokens": answer.n_tokens}
        return {**self._head(answer), "content": content, "stop_reason": reason, "usage": usage}

    def events(self, answer: Answer, pieces: list[str], *, wants_usage: bool) -> Iterator[bytes]:  # noqa: ARG002
        """Yield the events of a stream; it always ends with the counts."""
        usage = {"input_tokens": answer.n_prompt_tokens, "output_tokens": 1}
        message = {**self._head(answer), "content": [], "stop_reason": None, "usage": usage}
        block = {"type": "text", "text": ""}
        yield self._event("message_start", message=message) + self._event(
            "content_block_start", index=0, content_block=block
        )
        for piece in pieces:
            delta = {"type": "text_delta", "text": piece}
            yield self._event("content_block_delta", index=0, delta=delta)
        reason = {"stop_reason": self.REASONS[answer.finish_reason], "stop_sequence": None}
        yield (
            self._event("content_block_stop", index=0)
            + self._event("message_delta", delta=reason, usage={"output_tokens": answer.n_tokens})
            + self._event("message_stop")
        )

    def error(self, status: int, message: str) -> JsonObject:
        """Return an error."""
        kind = self.ERRORS.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}}

    def _event(self, name: str, **fields: object) -> bytes:
        return event({"type": name, **fields}, name)

    def _head(self, answer: Answer) -> JsonObject:
        return {
            "id": answer.id,
            "type": "message",
            "role": "assistant",
            "model": answer.model,
            "stop_sequence": None,
        }


class GeminiApi(Api):
    """Google's generateContent; the model stands in the path."""

    path = re.compile(
        r"^(?:/v1(?:beta)?)?/models/(?P<model>[^/:]+)"
        r":(?P<act>generateContent|streamGenerateContent)(?:\?.*)?$"
    )
    ROLES: ClassVar = {"model": "assistant"}
    REASONS: ClassVar = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}

    def model(self, path: str, _body: Body) -> str:
        """Name the model that is asked, by the path."""
        found = self.path.search(path)
        return unquote(found["model"]) if found else ""

    def _messages(self, body: Body) -> list[dict[str, str]]:
        system = body.get("system_instruction") or body.get("systemInstruction")
        said = [{"role": "system", **system}] if system else []
        chat = [*said, *body["contents"]] if body["contents"] else []
        return [
            {"role": self.ROLES.get(one["role"], one["role"]), "content": text_of(one["parts"])}
            for one in chat
        ]

    def _request(self, path: str, _body: Body, chat: tuple[Body, ...]) -> ProviderRequest:
        return ProviderRequest(chat, is_streamed=":streamGenerateContent" in path)

    def body(self, answer: Answer) -> JsonObject:
        """Return a whole answer."""
        return self._part(answer, answer.text, is_last=True)

    def events(self, answer: Answer, pieces: list[str], *, wants_usage: bool) -> Iterator[bytes]:  # noqa: ARG002
        """Yield the events of a stream; it always ends with the counts."""
        yield b""
        for piece in pieces:
            yield event(self._part(answer, piece))
        yield event(self._part(answer, "", is_last=True))

    def error(self, status: int, message: str) -> JsonObject:
        """Return an error."""
        return {"error": {"code": status, "message": message, "status": f"OFFLINE_{status}"}}

    def _part(self, answer: Answer, text: str, *, is_last: bool = False) -> JsonObject:
        """Return a part of a stream; its last one has what ends an answer."""
        parts = [{"text": text}] if text else []
        candidate: JsonObject = {"index": 0, "content": {"role": "model", "parts": parts}}
        found: JsonObject = {"candidates": [candidate], "modelVersion": answer.model}
        if is_last:
            candidate["finishReason"] = self.REASONS[answer.finish_reason]
            found["usageMetadata"] = {
                "promptTokenCount": answer.n_prompt_tokens,
                "candidatesTokenCount": answer.n_tokens,
                "totalTokenCount": answer.n_prompt_tokens + answer.n_tokens,
            }
        return {**found, "responseId": answer.id}


CHAT = ChatApi()
APIS: tuple[Api, ...] = (CHAT, MessagesApi(), GeminiApi())


def api_at(path: str) -> Api | None:
    """Return the API that is asked at this path, or None."""
    return next((api for api in APIS if api.path.search(path)), None)
