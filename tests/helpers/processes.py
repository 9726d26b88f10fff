"""Processes of drills and of compose's services, and the settings of a deployment."""

import json
import os
import re
import runpy
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis
import yaml
from django.db import connection

ROOT = Path(__file__).parents[2]
PATIENCE_S = 300
"""For a crowded machine; only what hangs takes as long."""
LOOK_S = 0.02
PORTS = range(20_000, 32_000)
"""Below those that systems give to clients: a client that asks for a server which is away can
otherwise be given that very port, and then talks to itself."""
_begin = os.getpid() * 1009 % len(PORTS)  # processes begun one after the other look far apart
_untried = iter((*PORTS[_begin:], *PORTS[:_begin]))


def free_port() -> int:
    """Return a port that nobody listens on, and that has not been returned before.

    Raises
    ------
    OSError
        If all are taken.
    """
    for port in _untried:
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
    msg = f"all ports from {PORTS.start} to {PORTS.stop} are taken"
    raise OSError(msg)


@dataclass(frozen=True)
class Process:
    """A process with children of its own, and the file that it writes to."""

    popen: subprocess.Popen[bytes]
    output: Path

    def kill(self) -> None:
        """End it and its children at once, as a power cut does."""
        os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait()


@contextmanager
def started(
    name: str, *command: str, folder: Path, env: Mapping[str, str], code: Path = ROOT
) -> Iterator[Process]:
    """Run a Python command on that code in a session of its own; it does not outlive the block."""
    output = folder / f"{name}.txt"
    with output.open("ab") as file:
        popen = subprocess.Popen(
            [sys.executable, *command],
            cwd=code,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    process = Process(popen, output)
    try:
        yield process
    finally:
        if popen.poll() is None:
            process.kill()


def wait_until(
    reached: Callable[[], bool], *processes: Process, doing: Callable[[], str] = str
) -> None:
    """Look until something is so; fail with what the processes said if one ends or it never is.

    ``doing`` says how far it has come.
    """
    deadline = time.monotonic() + PATIENCE_S
    while not reached():
        ended = [one for one in processes if one.popen.poll() is not None]
        if ended or time.monotonic() > deadline:
            said = "\n".join(one.output.read_text()[-3000:] for one in ended or processes)
            pytest.fail(f"{'A process ended' if ended else 'It never came'}: {doing()}\n{said}")
        time.sleep(LOOK_S)


def first_line(process: Process) -> str:
    """Return what a process says first, once it has said it."""
    wait_until(lambda: "\n" in process.output.read_text(), process)
    return process.output.read_text().splitlines()[0]


def has_left(application: str) -> bool:
    """Say whether PostgreSQL has noticed that no process of this name is there any more."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = %s", [application]
        )
        return bool(cursor.fetchone()[0] == 0)


def logged(file: Path) -> list[dict[str, Any]]:
    """Read the log of the offline provider."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if "build" in service}
GIVEN = {"HEART_SECRET_KEY": "from-the-env-file", "POSTGRES_PASSWORD": "secret"}
INNERMOST = re.compile(r"\$\{(\w+)(?::([-?+])([^${}]*))?\}")


class NotGivenError(Exception):
    """The file wants a variable that the .env file does not give."""


def substituted(value: object, given: Mapping[str, str] = GIVEN) -> str:
    """What compose makes of ``${NAME:-default}``, ``${NAME:?message}`` and ``${NAME:+value}``.

    Raises
    ------
    NotGivenError
        If a variable with a message is not among ``given``.
    """

    def replace(match: re.Match[str]) -> str:
        name, kind, rest = match.groups()
        if kind == "+":
            return rest if given.get(name) else ""
        if given.get(name):
            return given[name]
        if kind == "?":
            raise NotGivenError(name)
        return rest or ""

    text, n = str(value), 1
    while n:
        text, n = INNERMOST.subn(replace, text)
    return text.replace("$$", "$")


def environment(service: str, given: Mapping[str, str] = GIVEN) -> dict[str, str]:
    """Return the variables that the file gives a service."""
    values: dict[str, object] = SERVICES[service]["environment"]
    # YAML's false is compose's "false".
    return {
        name: substituted(str(value).lower() if isinstance(value, bool) else value, given)
        for name, value in values.items()
    }


def command(service: str, **changes: str) -> list[str]:
    """Return the words that start a service; ``changes`` replace what follows an option.

    ``port="8001"`` changes what follows ``--port``, ``n="one@%h"`` what follows ``-n``.
    """
    words = list(SERVICES[service]["command"])
    for name, value in changes.items():
        option = f"-{name}" if len(name) == 1 else f"--{name}"
        words[words.index(option) + 1] = value
    return words


def replaced(words: list[str], replacements: Mapping[str, str]) -> list[str]:
    """Return a command with what only exists in a container replaced by what stands for it here."""
    known = re.compile("|".join(map(re.escape, replacements)))
    return [known.sub(lambda match: replacements[match[0]], word) for word in words]


class ComposedProcess:
    """A running service with its log."""

    def __init__(self, words: list[str], env: Mapping[str, str], log: Path) -> None:
        self.log = log
        with log.open("wb") as out:
            self.popen = subprocess.Popen(words, cwd=ROOT, env=env, stdout=out, stderr=out)

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def wait_until(self, is_ready: Callable[[], bool]) -> None:
        """Wait, and fail with its log if it ends or time is up."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and self.popen.poll() is None:
            if is_ready():
                return
            time.sleep(LOOK_S)
        pytest.fail(f"{self.popen.args!r} did not get there:\n{self.said()[-3000:]}")

    def ended(self) -> int:
        """Return the exit code after a polite request to end."""
        self.popen.send_signal(signal.SIGTERM)
        return self.popen.wait(PATIENCE_S)


@contextmanager
def killed_at_the_end(processes: Mapping[str, ComposedProcess]) -> Iterator[None]:
    """Leave no process behind, whatever happens in the block."""
    try:
        yield
    finally:
        for process in processes.values():
            process.popen.kill()
            process.popen.wait()


def is_healthy(service: str, replacements: Mapping[str, str], env: Mapping[str, str]) -> bool:
    """Return whether the health check that the file names passes, run as a plain command."""
    kind, *words = SERVICES[service]["healthcheck"]["test"]
    words = replaced(words, replacements)
    words = ["/bin/sh", "-c", *words] if kind == "CMD-SHELL" else words
    return subprocess.run(words, env=env, capture_output=True, check=False).returncode == 0


FILE = Path(__file__).parents[2] / "heart_site" / "settings.py"
DEPLOYED = {
    "HEART_HTTPS": "true",
    "HEART_ALLOWED_HOSTS": "testserver",
    "HEART_SITE_URL": "https://heart.example",
}
OF_TLS = (
    "SESSION_COOKIE_SECURE",
    "SESSION_COOKIE_NAME",
    "CSRF_COOKIE_SECURE",
    "CSRF_COOKIE_NAME",
    "SECURE_SSL_REDIRECT",
    "SECURE_HSTS_SECONDS",
    "SECURE_HSTS_INCLUDE_SUBDOMAINS",
    "SECURE_HSTS_PRELOAD",
    "SECURE_PROXY_SSL_HEADER",
    "HEART_SITE_URL",
)


def settings_with(**environment: str) -> dict[str, Any]:
    """Return the settings as a process with these variables on top of the tests' has them."""
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        return runpy.run_path(str(FILE))
    finally:
        os.environ.clear()
        os.environ.update(before)


def deploy(settings: Any) -> None:
    """Have the running test see what a deployment behind TLS sets differently."""
    found = settings_with(**DEPLOYED)
    for name in OF_TLS:
        setattr(settings, name, found[name])


def flush(redis_url: str, prefix: str) -> None:
    """Take all that begins with the prefix out of Redis, and all scripts, as FLUSHALL would."""
    with redis.Redis.from_url(redis_url) as client:
        for key in client.scan_iter(f"{prefix}*"):
            client.delete(key)
        client.script_flush()
