"""The offline provider as a running server, with a log of its calls for tests."""

import hashlib
import json
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from http.server import ThreadingHTTPServer
from typing import Any, TextIO

from completions.offline.behaviour import Behaviour, Fault
from completions.offline.handler import Handler

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
def serving(*, port: int = 0, behaviour: Behaviour | None = None) -> Iterator[str]:
    """Run the offline provider in a thread and give its base address."""
    # At rest it is to cost nothing.
    with running(port=port, behaviour=behaviour, end_within_s=0.5) as server:
        yield server.base_url
