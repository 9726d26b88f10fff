"""A provider in the test tree that answers what it is told to, byte by byte."""

import json
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from tests.helpers.threads import served

ASKS_LITELLM = pytest.mark.xdist_group("litellm")
"""Marks tests that ask models through the real LiteLLM: one process alone loads it."""
JSON, EVENTS = "application/json", "text/event-stream"
USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


@dataclass(frozen=True)
class Answer:
    """What goes over the wire: status, headers, and the body in the pieces that are sent."""

    status: int = 200
    body: Sequence[bytes] = ()
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = JSON


def let_assistants_say(monkeypatch: pytest.MonkeyPatch, *answers: Any) -> None:
    """Let the offline assistants say these, one per call; what is no text is sent as JSON."""
    said = iter(one if isinstance(one, str) else json.dumps(one) for one in answers)
    monkeypatch.setattr("completions.offline.assistants.answer", lambda *_: next(said))


def said(body: Any, status: int = 200, **headers: str) -> Answer:
    """Return an answer of JSON; a header's underscores stand for hyphens."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Answer(status, [data], {name.replace("_", "-"): one for name, one in headers.items()})


def choice(text: Any, reason: str | None = "stop", index: int = 0, **more: Any) -> dict[str, Any]:
    """Return a choice of a chat completion."""
    message = {"role": "assistant", "content": text, **more}
    return {"index": index, "message": message, "finish_reason": reason}


def completion(*choices: dict[str, Any]) -> Answer:
    """Return a chat completion, as OpenAI and who is like it send it."""
    body = {"id": "fake-1", "object": "chat.completion", "created": 1, "model": "fake"}
    return said(body | {"choices": list(choices), "usage": USAGE})


def streamed(*choices: dict[str, Any], n_pieces: int = 2) -> Answer:
    """Return the same choices as a stream: pieces of the text, then the reason of the end."""
    lines = []
    for one in choices:
        text, rest = one["message"].get("content"), {**one["message"]}
        rest.pop("content", None)
        pieces = _cut(text, n_pieces) if isinstance(text, str) else [text]
        lines += [
            _chunk({"index": one["index"], "delta": {**rest, "content": piece}}) for piece in pieces
        ]
        end = {"index": one["index"], "delta": {}, "finish_reason": one["finish_reason"]}
        lines.append(_chunk(end))
    lines.append(_event({**_head(), "choices": [], "usage": USAGE}))
    return Answer(200, [*lines, b"data: [DONE]\n\n"], kind=EVENTS)


def events(*bodies: Any) -> Answer:
    """Return a stream of these values, each an event, and the end that OpenAI sends."""
    return Answer(200, [*map(_event, bodies), b"data: [DONE]\n\n"], kind=EVENTS)


def sent_events(*bodies: dict[str, Any]) -> Answer:
    """Return a stream of these values, each an event of its type, as other APIs send them."""
    lines = [
        (f"event: {body['type']}\n".encode() if "type" in body else b"") + _event(body)
        for body in bodies
    ]
    return Answer(200, lines, kind=EVENTS)


def _cut(text: str, n_pieces: int) -> list[str]:
    size = max(1, -(-len(text) // n_pieces))
    return [text[at : at + size] for at in range(0, len(text), size)]


def _head() -> dict[str, Any]:
    return {"id": "fake-1", "object": "chat.completion.chunk", "created": 1, "model": "fake"}


def _chunk(one: dict[str, Any]) -> bytes:
    return _event({**_head(), "choices": [{"finish_reason": None, **one}]})


def _event(body: Any) -> bytes:
    return b"data: " + json.dumps(body).encode() + b"\n\n"


@dataclass
class Provider:
    """A server with answers: those of the script first, then ``always``."""

    port: int
    script: deque[Answer] = field(default_factory=deque)
    always: Answer = field(default_factory=lambda: completion(choice("A kind word.")))
    requests: list[dict[str, Any]] = field(default_factory=list)
    """The bodies that were received."""

    @property
    def root(self) -> str:
        """Return the address that clients of other APIs are given."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """Return the address that OpenAI's clients are given."""
        return f"{self.root}/v1"

    def answer(self, request: dict[str, Any]) -> Answer:
        """Return what is said to a request."""
        self.requests.append(request)
        return self.script.popleft() if self.script else self.always


@contextmanager
def providing() -> Iterator[Provider]:
    """Run a provider on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            answer = provider.answer(json.loads(self.rfile.read(length) or b"{}"))
            self.send_response(answer.status)
            for name, value in ({"Content-Type": answer.kind} | answer.headers).items():
                self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            for piece in answer.body:
                self.wfile.write(piece)
                self.wfile.flush()

        def do_GET(self) -> None:  # as clients follow some redirects
            self.do_POST()

        def log_message(self, *_given: object) -> None:
            """Print nothing."""

    with served(Handler) as port:
        provider = Provider(port)
        yield provider
