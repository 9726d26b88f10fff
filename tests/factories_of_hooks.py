"""Typed builders of webhooks and their messages, and a receiver to send them to."""

import itertools
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from access.choices import HookEvent
from access.models import Hook, HookDelivery
from tests.factories import NOW

_serial = itertools.count(1)
SECRET = "hook_of-the-tests"


def make_hook(**fields: Any) -> Hook:
    return Hook.objects.create(
        **{
            "url": f"https://receiver-{next(_serial)}.example/heart",
            "secret": SECRET,
            "events": [event.value for event in HookEvent],
            "created_at": NOW,
        }
        | fields
    )


def make_delivery(**fields: Any) -> HookDelivery:
    hook = fields.pop("hook", None) or make_hook()
    key = f"test/{next(_serial)}"
    return HookDelivery.objects.create(
        **{
            "hook": hook,
            "event_id": uuid.uuid4(),
            "event_key": key,
            "event": HookEvent.TEST,
            "payload": {"event": "test", "data": {}},
            "queued_at": NOW,
            "wanted_since": NOW,
            "next_attempt_at": NOW,
        }
        | fields
    )


@dataclass(frozen=True)
class Request:
    """What a receiver was sent."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """A program that takes messages over HTTP: how it answers, and what came."""

    statuses: list[int] = field(default_factory=list)
    """The next answers; 204 when they are used up."""
    headers: dict[str, str] = field(default_factory=dict)
    wait_s: float = 0.0
    drips: bool = False
    requests: list[Request] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/heart"


@contextmanager
def receiving(**fields: Any) -> Iterator[Receiver]:
    """Run a receiver on loopback."""
    receiver = Receiver(**fields)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.requests.append(Request(self.path, dict(self.headers), body))
            time.sleep(receiver.wait_s)
            if receiver.drips:
                self._drip()
                return
            self.send_response(receiver.statuses.pop(0) if receiver.statuses else 204)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.end_headers()

        def _drip(self) -> None:
            """Answer a byte at a time, for as long as anybody listens."""
            try:
                for byte in b"HTTP/1.1 200 OK\r\n" + b"X-Slow: 1\r\n" * 50:
                    self.wfile.write(bytes([byte]))
                    time.sleep(0.1)
            except OSError:
                pass

        def log_message(self, *_args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
