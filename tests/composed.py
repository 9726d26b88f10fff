"""docker-compose.yml as compose reads it, and its services as plain processes."""

import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.drilled import LOOK_S, PATIENCE_S, ROOT

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

    ``bind="127.0.0.1:8001"`` changes what follows ``--bind``, ``n="one@%h"`` what follows ``-n``.
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


class Process:
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
def killed_at_the_end(processes: Mapping[str, Process]) -> Iterator[None]:
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
