"""The offline provider as a running server, with a log of its calls for tests."""

import hashlib
import json
import select
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TextIO, cast

from completions.offline import answers, planted
from completions.offline.apis import CHAT, Api, JsonObject, ProviderRequest, api_at
from completions.offline.behaviour import Behaviour, Fault

MODELS_PATHS = frozenset({"/v1/models", "/models"})
LARGEST_BODY = 4_000_000
TOKENS_AT_ONCE = 8
LOOK_S = 0.2
"""How often a call that hangs looks whether its caller is still there."""


class Handler(BaseHTTPRequestHandler):
    """Answer lists of models, and chats in the ways of three providers."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    api: Api = CHAT
    """The way in which the request came; errors go back in the same."""

    @property
    def provider(self) -> "OfflineServer":
        """Return the server this connection belongs to."""
        return cast("OfflineServer", self.server)

    def do_GET(self) -> None:
        """List the models."""
        self.api = CHAT
        if self.path in MODELS_PATHS:
            rows = [
                {"id": name, "object": "model", "owned_by": "offline"} for name in answers.MODELS
            ]
            self._send(200, {"object": "list", "data": rows})
        else:
            self._refuse(404, f"No such path: {self.path}")

    def do_POST(self) -> None:
        """Answer one chat."""
        api = api_at(self.path)
        self.api = api or CHAT
        request = self._read()
        if request is None:
            return
        if api is None:
            self._refuse(404, f"No such path: {self.path}")
            return
        model = api.model(self.path, request)
        fault = self.provider.admit(request, path=self.path, model=model)
        self.provider.pause(self.provider.behaviour.latency_s + planted.latency_of(model))
        if not self._fail(fault):
            self._answer(model, request, fault)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - name of the base
        """Stay silent: the server keeps its own list of calls."""

    def _read(self) -> JsonObject | None:
        """Return the JSON object that was posted, or refuse it and return ``None``."""
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 < length <= LARGEST_BODY:
            self.close_connection = True
            self._refuse(411, "A body with a Content-Length is needed.")
            return None
        try:
            request = json.loads(self.rfile.read(length))
        except ValueError:
            request = None
        if not isinstance(request, dict):
            self._refuse(400, "The body is not a JSON object.")
            return None
        return request

    def _fail(self, fault: Fault | None) -> bool:
        """Send the answer of a fault that leaves no text; return whether there was one."""
        if fault is Fault.RATE_LIMITED:
            wait = f"{self.provider.behaviour.retry_after_s:g}"
            self._refuse(429, "Too many requests.", ("Retry-After", wait))
        elif fault is Fault.SERVER_ERROR:
            self._refuse(500, "The offline provider was told to fail.")
        elif fault is Fault.UNAUTHORIZED:
            self._refuse(401, "This key is not accepted.")
        elif fault is Fault.BROKEN_BODY:
            self._send_bytes(200, b'{"choices": [{"mess')
        elif fault is Fault.HANG:
            self._hang()
        else:
            return False
        return True

    def _hang(self) -> None:
        """Say nothing until the caller has gone or the server stops."""
        self.close_connection = True
        while self.provider.pause(LOOK_S):
            is_readable = select.select([self.connection], [], [], 0)[0]
            if is_readable and not self.connection.recv(1, socket.MSG_PEEK):
                return

    def _answer(self, model: str, request: JsonObject, fault: Fault | None) -> None:
        """Let the model answer, at once or as a stream."""
        stand_ins = self.provider.behaviour.stand_ins
        try:
            parsed = self.api.read(self.path, request)
            answer = answers.make_answer(model, parsed.messages, fault, stand_ins=stand_ins)
        except answers.RefusedRequestError as error:
            self._refuse(error.status, str(error))
            return
        is_cut = fault is Fault.CUT
        if parsed.is_streamed:
            self._stream(answer, parsed, is_cut=is_cut)
            return
        self.provider.pause_for_tokens(len(answer.tokens))
        body = self.api.body(replace(answer, tells_logprobs=parsed.wants_logprobs))
        if not self.provider.behaviour.counts_tokens:
            body.pop("usage", None)
        payload = json.dumps(body).encode()
        announced = len(payload) * (2 if is_cut else 1)
        self._send_bytes(200, payload, *self._id_of(answer), announced=announced)
        self.close_connection = self.close_connection or is_cut

    def _stream(self, answer: answers.Answer, request: ProviderRequest, *, is_cut: bool) -> None:
        """Send an answer token by token; a cut stream stops half-way without an end."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        for name, value in self._id_of(answer):
            self.send_header(name, value)
        self.end_headers()
        # Without a set pace nobody can tell tokens apart: fewer events cost the client less.
        pieces = answer.pieces(1 if self.provider.behaviour.tokens_per_s else TOKENS_AT_ONCE)
        wants_usage = request.wants_usage and self.provider.behaviour.counts_tokens
        for place, event in enumerate(self.api.events(answer, pieces, wants_usage=wants_usage)):
            if is_cut and 2 * place > len(pieces):
                self.close_connection = True
                return
            self.provider.pause_for_tokens(1 if 1 < place <= len(pieces) else 0)
            if event:
                self._send_chunk(event)
        self._send_chunk(b"")

    def _id_of(self, answer: answers.Answer) -> list[tuple[str, str]]:
        return [(self.api.id_header, answer.id)] if self.api.id_header else []

    def _send_chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _refuse(self, status: int, message: str, *headers: tuple[str, str]) -> None:
        """Send an error in the shape of the provider's API."""
        self._send(status, self.api.error(status, message), *headers)

    def _send(self, status: int, body: JsonObject, *headers: tuple[str, str]) -> None:
        self._send_bytes(status, json.dumps(body).encode(), *headers)

    def _send_bytes(
        self, status: int, payload: bytes, *headers: tuple[str, str], announced: int | None = None
    ) -> None:
        """Send a JSON answer; ``announced`` may claim more bytes than will come."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(announced or len(payload)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)


LOOPBACK = "127.0.0.1"
_CALLS_KEPT = 10_000
Connection = socket.socket | tuple[bytes, socket.socket]
Address = str | tuple[str | bytes | bytearray, int]


@dataclass(frozen=True)
class LoggedCall:
    """One chat request as it arrived, and the fault it met."""

    request: Mapping[str, Any]
    fault: Fault | None
    path: str
    model: str
    at: float
    """When it came, in seconds since 1970."""


class OfflineServer(ThreadingHTTPServer):
    """Serve simulated supporters and judges over HTTP on this machine."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(
        self, *, host: str = LOOPBACK, port: int = 0, behaviour: Behaviour | None = None
    ) -> None:
        self.behaviour = behaviour or Behaviour()
        self.calls: deque[LoggedCall] = deque(maxlen=_CALLS_KEPT)
        self.script: deque[Fault | None] = deque()
        """Faults of the next calls, in order; used up before any is drawn."""
        self.log: TextIO | None = None
        """Where calls are written as well, a line of JSON each."""
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._connections: set[socket.socket] = set()
        super().__init__((host, port), Handler)  # last: on a taken port it calls server_close

    @property
    def base_url(self) -> str:
        """Return the address to give as ``api_base``."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}/v1"

    def admit(self, request: Mapping[str, Any], *, path: str, model: str) -> Fault | None:
        """Log a request and return the fault it shall meet.

        The n-th time the same request comes it meets the same fault, in whatever order
        requests arrive.
        """
        content = json.dumps([model, request], sort_keys=True).encode()
        digest = hashlib.sha256(content).hexdigest()
        with self._lock:
            self._seen[digest] += 1
            fault = (
                self.script.popleft()
                if self.script
                else self.behaviour.draw_fault(f"{digest}:{self._seen[digest]}")
            )
            self._note(LoggedCall(request, fault, path, model, time.time()))
        return fault

    def pause(self, seconds: float) -> bool:
        """Wait, unless the server stops; say whether it goes on."""
        return not self._stopping.wait(seconds) if seconds > 0 else True

    def pause_for_tokens(self, count: int) -> None:
        """Wait as long as ``count`` tokens take at the set pace."""
        if self.behaviour.tokens_per_s is not None:
            self.pause(count / self.behaviour.tokens_per_s)

    def _note(self, call: LoggedCall) -> None:
        self.calls.append(call)
        if self.log is not None:
            self.log.write(json.dumps(asdict(call), ensure_ascii=False) + "\n")
            self.log.flush()

    def serve_until_interrupted(self) -> None:
        """Serve in this thread; Ctrl-C ends it quietly."""
        with suppress(KeyboardInterrupt):
            self.serve_forever()

    def get_request(self) -> tuple[socket.socket, Address]:
        """Accept a connection and remember it, so that it can be closed at the end."""
        connection, address = super().get_request()
        self._connections.add(connection)
        return connection, address

    def shutdown_request(self, request: Connection) -> None:
        """Forget and close a connection that has ended."""
        if isinstance(request, socket.socket):
            self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Connection, client_address: Address) -> None:
        """Stay silent when a client goes away in the middle; it is what clients do."""

    def server_close(self) -> None:
        """Stop waiting answers, close every connection, then the socket."""
        self._stopping.set()
        for connection in tuple(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        super().server_close()


@contextmanager
def running(
    *, port: int = 0, behaviour: Behaviour | None = None, end_within_s: float = 0.05
) -> Iterator[OfflineServer]:
    """Run the offline provider in a thread and give the server itself."""
    server = OfflineServer(port=port, behaviour=behaviour)
    thread = threading.Thread(
        target=server.serve_forever,
        kwargs={"poll_interval": end_within_s},
        name="offline-llm",
        daemon=True,
    )
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def serving() -> Iterator[str]:
    """Run the offline provider in a thread and give its base address."""
    with running(end_within_s=0.5) as server:  # at rest it is to cost nothing
        yield server.base_url
