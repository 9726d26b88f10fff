"""The web server as docker-compose.yml starts it, in front of an application that says what came.

What an address names can let a person in, and who asks is nobody's to know: neither may stand in a
line that the server writes by itself.
"""

import json
import os
import signal
import socket
from collections.abc import Iterator

import pytest

from tests.conftest import missing
from tests.faults.services import children
from tests.helpers.echo import SECRET
from tests.helpers.processes import Process, command, free_port, started, wait_until

APPLICATION = "heart_site.wsgi:application"


class Server:
    """The server, asked byte by byte."""

    def __init__(self, process: Process, port: int) -> None:
        self.process = process
        self._port = port

    def link(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self._port), timeout=60)

    def ask(self, request: bytes, *headers: bytes) -> tuple[int, bytes]:
        """Return status and body; nothing if the server hangs up without a word."""
        lines = [request, b"Host: heart.example", b"Connection: close", *headers, b"", b""]
        with self.link() as link:
            link.sendall(b"\r\n".join(lines))
            said = b"".join(iter(lambda: link.recv(65_536), b""))
        head, _, body = said.partition(b"\r\n\r\n")
        return int(head.split()[1]) if head else 0, body

    def environ(self, request: bytes, *headers: bytes) -> dict[str, str]:
        """Return what reached the application."""
        return json.loads(self.ask(request, *headers)[1])

    def lines(self) -> list[dict[str, str]]:
        """Return what it has written; every line is JSON."""
        return [json.loads(line) for line in self.process.output.read_text().splitlines()]

    def says(self, message: str) -> bool:
        return any(message in line["message"] for line in self.lines())


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    port = free_port()
    words = command("web", host="127.0.0.1", port=str(port))[1:]
    words[words.index(APPLICATION)] = "tests.helpers.echo:application"
    folder = tmp_path_factory.mktemp("web")
    with started("web", *words, folder=folder, env={"HEART_LOG_FORMAT": "json"}) as process:
        server = Server(process, port)
        wait_until(
            lambda: server.says("Started worker-1") and server.says("Started worker-2"), process
        )
        yield server
        os.kill(process.popen.pid, signal.SIGTERM)
        assert process.popen.wait(60) == 0


def test_believes_nobody_who_says_where_a_request_came_from(server):
    told = server.environ(
        b"GET / HTTP/1.1", b"X-Forwarded-Proto: https", b"X-Forwarded-For: 203.0.113.9"
    )

    assert told["wsgi.url_scheme"] == "http"
    assert told["REMOTE_ADDR"] == "127.0.0.1"


def test_hands_on_the_address_and_the_body_as_they_were_sent(server):
    asked = server.environ(b"GET /a%20b%C3%A9?q=%20x HTTP/1.1")
    sent = server.environ(b"POST / HTTP/1.1", b"Content-Length: 7", b"", b"abc")

    assert asked["PATH_INFO"].encode("latin-1").decode() == "/a b\u00e9"
    assert asked["QUERY_STRING"] == "q=%20x"
    assert sent["CONTENT_LENGTH"] == "7"
    assert sent["size"] == len(b"abc\r\n\r\n")


@pytest.mark.parametrize(
    ("request_line", "headers"),
    [
        (b"\x16\x03\x01" + SECRET.encode(), []),
        (b"GET /" + SECRET.encode() + b" " * 3 + b"HTTP/1.1", []),
        (b"GET /\xff\xfe" + SECRET.encode() + b" HTTP/1.1", []),
        (b"GET /" + SECRET.encode() * 20_000 + b" HTTP/1.1", []),
        (b"GET / HTTP/1.1", [b"X-%d: 1" % n for n in range(200)]),
        (b"GET / HTTP/1.1", [b"No colon " + SECRET.encode()]),
        (b"GET / HTTP/1.1", [b"A name: with a blank"]),
        (b"POST / HTTP/1.1", [b"Content-Length: 5", b"Content-Length: 6"]),
        (b"POST / HTTP/1.1", [b"Content-Length: -1"]),
        (b"POST / HTTP/1.1", [b"Transfer-Encoding: gzip"]),
    ],
    ids=[
        "no-http",
        "blanks",
        "no-utf-8",
        "long-address",
        "many-headers",
        "no-colon",
        "blank-in-name",
        "two-lengths",
        "negative-length",
        "unknown-encoding",
    ],
)
def test_refuses_what_is_malformed_ambiguous_or_too_large(server, request_line, headers):
    status, _ = server.ask(request_line, *headers)

    assert status in {0, 400, 414, 431}
    assert SECRET not in server.process.output.read_text()


def test_writes_of_a_failure_where_it_was_and_not_who_asked_for_what(server):
    path = f"/failing/{SECRET}".encode()
    assert server.ask(b"GET " + path + b" HTTP/1.1", b"X-Name: " + SECRET.encode())[0] == 500

    wait_until(lambda: server.says("raised an exception"), server.process)
    (failed,) = [line for line in server.lines() if "exception" in line["message"]]
    assert (failed["level"], failed["logger"]) == ("ERROR", "_granian.utils")
    assert "in application" in failed["message"]
    assert SECRET not in server.process.output.read_text()


def test_closes_an_answer_that_its_reader_has_left(server):
    with server.link() as link:
        link.sendall(b"GET /endless HTTP/1.1\r\nHost: heart.example\r\n\r\n")
        assert link.recv(1000)

    wait_until(lambda: server.says("closed"), server.process)


def test_puts_another_in_the_place_of_a_process_that_was_killed(server):
    before = children(server.process.popen.pid)
    if not before:
        missing("/proc", "on Linux: the processes of a server are looked up there")
    os.kill(min(before), signal.SIGKILL)

    def is_replaced() -> bool:
        now = children(server.process.popen.pid)
        return len(now) == len(before) and now != before

    wait_until(is_replaced, server.process)
    assert server.environ(b"GET / HTTP/1.1")["HTTP_HOST"] == "heart.example"
