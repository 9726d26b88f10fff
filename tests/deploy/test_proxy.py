"""What stands before the site: the proxy of deploy/Caddyfile, and the web server behind it.

What they pass on, what they take away, and who believes it. What an address names can let a person
in, and who asks is nobody's to know: neither may stand in a line that they write by themselves.
The tests that start the proxy need Caddy itself, which nothing else needs.
"""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from django.test import Client, RequestFactory, override_settings

from tests.conftest import missing
from tests.deploy.test_compose import answers
from tests.faults.services import children
from tests.helpers.echo import SECRET
from tests.helpers.processes import (
    ROOT,
    SERVICES,
    ComposedProcess,
    Process,
    command,
    environment,
    free_port,
    killed_at_the_end,
    replaced,
    settings_with,
    started,
    wait_until,
)

FILE = ROOT / "deploy/Caddyfile"
PATHS = {"PATH": f"{Path(shutil.which('caddy') or '/').parent}:/usr/bin:/bin"}


class Echo(BaseHTTPRequestHandler):
    """Stand in for web: say what arrived."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        with suppress(ConnectionError):  # the proxy has refused a body that was too large
            self.do_GET(len(body))

    def do_GET(self, size: int = 0) -> None:
        told = json.dumps({"headers": dict(self.headers), "size": size}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, *_words: object) -> None:
        """Say nothing on the terminal."""


class Proxy:
    """Caddy with the file, in front of an echo."""

    def __init__(self, process: ComposedProcess, port: int, upstream: ThreadingHTTPServer) -> None:
        self.process = process
        self.port = port
        self.upstream = upstream

    def _link(self) -> http.client.HTTPSConnection:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # its own authority
        return http.client.HTTPSConnection("localhost", self.port, timeout=60, context=context)

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ):
        with closing(self._link()) as link:
            link.request(method, path, body, headers or {})
            answer = link.getresponse()
            return answer, answer.read()

    def wait(self, health_port: int) -> None:
        """Wait until it is well, and listens: it opens one port after the other."""
        self.process.wait_until(lambda: answers(health_port, "/") and self._listens())

    def _listens(self) -> bool:
        with closing(self._link()) as link, suppress(OSError):
            link.connect()
            return True
        return False


@contextmanager
def caddy(folder: Path, upstream: ThreadingHTTPServer, **variables: str) -> Iterator[Proxy]:
    """Run the proxy for the length of the block."""
    http_port, https_port, health_port = free_port(), free_port(), free_port()
    env = {
        **PATHS,
        "XDG_DATA_HOME": str(folder),  # /data and /config in the container
        "XDG_CONFIG_HOME": str(folder),
        "HEART_PROXY_HTTP_PORT": str(http_port),
        "HEART_PROXY_HTTPS_PORT": str(https_port),
        "HEART_PROXY_HEALTH_PORT": str(health_port),
        **variables,
    }
    words = replaced(SERVICES["proxy"]["command"], {"/etc/caddy/Caddyfile": str(FILE)})
    process = ComposedProcess(words, env, folder / "log")
    with killed_at_the_end({"proxy": process}):
        proxy = Proxy(process, https_port, upstream)
        proxy.wait(health_port)
        yield proxy


@pytest.fixture(scope="module")
def proxy(tmp_path_factory) -> Iterator[Proxy]:
    if shutil.which("caddy") is None:
        missing("Caddy", "Debian: apt-get install caddy")
    upstream = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    there = environment("proxy") | {"HEART_UPSTREAM": f"127.0.0.1:{upstream.server_port}"}
    with caddy(tmp_path_factory.mktemp("proxy"), upstream, **there) as proxy:
        yield proxy
        assert proxy.process.ended() == 0
    upstream.shutdown()
    upstream.server_close()


class TestFile:
    def test_the_upstream_is_where_web_listens(self):
        words = SERVICES["web"]["command"]
        port = words[words.index("--port") + 1]
        assert environment("proxy")["HEART_UPSTREAM"] == f"web:{port}"

    def test_it_is_mounted_where_the_command_looks(self):
        assert (
            f"./deploy/Caddyfile:{SERVICES['proxy']['command'][3]}:ro"
            in (SERVICES["proxy"]["volumes"])
        )

    def test_the_health_check_asks_where_it_answers(self):
        assert "http://127.0.0.1:{$HEART_PROXY_HEALTH_PORT:8081} {" in FILE.read_text()
        assert "http://127.0.0.1:8081/" in SERVICES["proxy"]["healthcheck"]["test"]


class TestProxy:
    def test_tells_the_true_scheme_address_and_host_whatever_a_client_says(self, proxy):
        _, told = proxy.ask(
            "GET",
            "/",
            headers={
                "X-Forwarded-For": "203.0.113.9",
                "X-Forwarded-Proto": "http",
                "X-Forwarded-Host": "evil.example",
                "Forwarded": "for=203.0.113.9",
                "X-Request-ID": "chosen-by-a-client",
            },
        )
        headers = json.loads(told)["headers"]

        assert headers["X-Forwarded-Proto"] == "https"
        assert headers["X-Forwarded-For"] in {"127.0.0.1", "::1"}
        assert headers["X-Forwarded-Host"] == f"localhost:{proxy.port}"
        assert "Forwarded" not in headers
        assert re.fullmatch(r"[0-9a-f-]{36}", headers["X-Request-Id"])

    def test_takes_away_what_would_pass_for_another_header(self, proxy):
        names = ["X_Forwarded_Proto", "x_forwarded-for", "Forwarded_", "_Host", "Cookie_"]

        _, told = proxy.ask("GET", "/", headers=dict.fromkeys(names, "evil") | {"Cookie": "kind=1"})

        assert "evil" not in told.decode()
        assert json.loads(told)["headers"]["Cookie"] == "kind=1"

    def test_takes_a_batch_and_refuses_what_is_too_large(self, proxy):
        answer, told = proxy.ask("POST", "/", b"x" * 8_000_000)
        assert (answer.status, json.loads(told)["size"]) == (200, 8_000_000)

        try:
            answer, _ = proxy.ask("POST", "/", b"x" * 33_000_000)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            return  # it did not even read on
        assert answer.status in {413, 502}

    def test_writes_no_address_into_its_log(self, proxy, tmp_path):
        nobody = {"HEART_UPSTREAM": f"127.0.0.1:{free_port()}", "HEART_PROXY_PATIENCE": "1ms"}
        with caddy(tmp_path, proxy.upstream, **nobody) as broken:
            answer, _ = broken.ask("GET", f"/s/kind/resume/{SECRET}/", headers={"Cookie": SECRET})

            assert answer.status == 502
            broken.process.wait_until(lambda: "connection refused" in broken.process.said())
            assert SECRET not in broken.process.said()
            assert "127.0.0.1:" in broken.process.said()  # the upstream's, and nobody's else

    def test_the_file_is_in_its_own_format(self):
        done = subprocess.run(
            ["caddy", "fmt", "--diff", FILE], capture_output=True, text=True, check=False
        )
        assert not re.search(r"^[-+]", done.stdout, re.MULTILINE)


class TestTrust:
    """What a proxy says is believed where a setting says that there is one."""

    @pytest.mark.parametrize(("is_set", "believed"), [("false", (False, 0)), ("true", (True, 1))])
    def test_only_with_https_set(self, is_set, believed, settings):
        found = settings_with(HEART_HTTPS=is_set)
        settings.SECURE_PROXY_SSL_HEADER = found["SECURE_PROXY_SSL_HEADER"]

        asked = RequestFactory().get("/", headers={"X-Forwarded-Proto": "https"})

        assert (asked.is_secure(), found["ALLAUTH_TRUSTED_PROXY_COUNT"]) == believed

    @pytest.mark.django_db
    @override_settings(ALLOWED_HOSTS=["heart.example"], SECURE_SSL_REDIRECT=True)
    @pytest.mark.parametrize("path", ["/healthz", "/readyz"])
    def test_health_is_told_from_inside_past_the_proxy(self, path):
        assert Client().get(path, headers={"Host": "10.0.0.7:8000"}).status_code == 200
        assert Client().get("/", headers={"Host": "10.0.0.7:8000"}).status_code == 400


APPLICATION = "heart_site.wsgi:application"
ROOT_LINE, POST_LINE = b"GET / HTTP/1.1", b"POST / HTTP/1.1"


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
        pytest.param(b"\x16\x03\x01" + SECRET.encode(), [], id="no-http"),
        pytest.param(b"GET /" + SECRET.encode() + b" " * 3 + b"HTTP/1.1", [], id="blanks"),
        pytest.param(b"GET /\xff\xfe" + SECRET.encode() + b" HTTP/1.1", [], id="no-utf-8"),
        pytest.param(b"GET /" + SECRET.encode() * 20_000 + b" HTTP/1.1", [], id="long-address"),
        pytest.param(ROOT_LINE, [b"X-%d: 1" % n for n in range(200)], id="many-headers"),
        pytest.param(ROOT_LINE, [b"No colon " + SECRET.encode()], id="no-colon"),
        pytest.param(ROOT_LINE, [b"A name: with a blank"], id="blank-in-name"),
        pytest.param(POST_LINE, [b"Content-Length: 5", b"Content-Length: 6"], id="two-lengths"),
        pytest.param(POST_LINE, [b"Content-Length: -1"], id="negative-length"),
        pytest.param(POST_LINE, [b"Transfer-Encoding: gzip"], id="unknown-encoding"),
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
