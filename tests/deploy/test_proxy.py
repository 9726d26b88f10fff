"""The proxy of deploy/Caddyfile: what it passes on, what it takes away, and who believes it.

The tests that start it need Caddy itself, which nothing else needs.
"""

import http.client
import json
import re
import shutil
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from django.test import Client, override_settings

from tests.conftest import missing
from tests.deploy.test_compose import answers
from tests.helpers.processes import (
    ROOT,
    SERVICES,
    ComposedProcess,
    environment,
    free_port,
    killed_at_the_end,
    replaced,
)

FILE = ROOT / "deploy/Caddyfile"
SECRET = "a-link-that-lets-in"
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


@pytest.fixture(scope="module")
def proxy(tmp_path_factory) -> Iterator[Proxy]:
    if shutil.which("caddy") is None:
        missing("Caddy", "Debian: apt-get install caddy")
    folder = tmp_path_factory.mktemp("proxy")
    upstream = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    http_port, https_port, health_port = free_port(), free_port(), free_port()
    env = {
        **PATHS,
        "XDG_DATA_HOME": str(folder),  # /data and /config in the container
        "XDG_CONFIG_HOME": str(folder),
        "HEART_PROXY_HTTP_PORT": str(http_port),
        "HEART_PROXY_HTTPS_PORT": str(https_port),
        "HEART_PROXY_HEALTH_PORT": str(health_port),
        **environment("proxy"),
        "HEART_UPSTREAM": f"127.0.0.1:{upstream.server_port}",
    }
    words = replaced(SERVICES["proxy"]["command"], {"/etc/caddy/Caddyfile": str(FILE)})
    process = ComposedProcess(words, env, folder / "log")
    with killed_at_the_end({"proxy": process}):
        proxy = Proxy(process, https_port, upstream)
        proxy.wait(health_port)
        yield proxy
        assert process.ended() == 0
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
        env = {
            **PATHS,
            "HEART_UPSTREAM": f"127.0.0.1:{free_port()}",
            "HEART_PROXY_PATIENCE": "1ms",
            "HEART_PROXY_HTTP_PORT": str(free_port()),
            "HEART_PROXY_HTTPS_PORT": str(free_port()),
            "HEART_PROXY_HEALTH_PORT": str(free_port()),
            "XDG_DATA_HOME": str(tmp_path),
            "XDG_CONFIG_HOME": str(tmp_path),
        }
        words = replaced(SERVICES["proxy"]["command"], {"/etc/caddy/Caddyfile": str(FILE)})
        process = ComposedProcess(words, env, tmp_path / "log")
        with killed_at_the_end({"proxy": process}):
            broken = Proxy(process, int(env["HEART_PROXY_HTTPS_PORT"]), proxy.upstream)
            broken.wait(int(env["HEART_PROXY_HEALTH_PORT"]))

            answer, _ = broken.ask("GET", f"/s/kind/resume/{SECRET}/", headers={"Cookie": SECRET})

            assert answer.status == 502
            process.wait_until(lambda: "connection refused" in process.said())
            assert SECRET not in process.said()
            assert "127.0.0.1:" in process.said()  # the upstream's, and nobody's else

    def test_the_file_is_in_its_own_format(self):
        done = subprocess.run(
            ["caddy", "fmt", "--diff", FILE], capture_output=True, text=True, check=False
        )
        assert not re.search(r"^[-+]", done.stdout, re.MULTILINE)


class TestTrust:
    """What a proxy says is believed where a setting says that there is one."""

    @pytest.mark.parametrize(("is_set", "believed"), [("false", "False 0"), ("true", "True 1")])
    def test_only_with_https_set(self, is_set, believed, tmp_path):
        code = (
            "import django; django.setup(); from django.test import RequestFactory; "
            "from django.conf import settings; "
            "asked = RequestFactory().get('/', headers={'X-Forwarded-Proto': 'https'}); "
            "print(asked.is_secure(), settings.ALLAUTH_TRUSTED_PROXY_COUNT)"
        )
        env = {
            "HEART_HTTPS": is_set,
            "HEART_SECRET_KEY": "x",
            "HEART_DATA_DIR": str(tmp_path),
            "DJANGO_SETTINGS_MODULE": "heart_site.settings",
        }

        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=env, check=True, capture_output=True
        )

        assert done.stdout.decode().strip() == believed

    @pytest.mark.django_db
    @override_settings(ALLOWED_HOSTS=["heart.example"], SECURE_SSL_REDIRECT=True)
    @pytest.mark.parametrize("path", ["/healthz", "/readyz"])
    def test_health_is_told_from_inside_past_the_proxy(self, path):
        assert Client().get(path, headers={"Host": "10.0.0.7:8000"}).status_code == 200
        assert Client().get("/", headers={"Host": "10.0.0.7:8000"}).status_code == 400
