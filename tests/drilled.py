"""What a drill needs: processes that can be killed, and a run whose rows can be looked at."""

import json
import os
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
from django.db import connection

ROOT = Path(__file__).parents[1]
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
def started(name: str, *command: str, folder: Path, env: Mapping[str, str]) -> Iterator[Process]:
    """Run a Python command in a session of its own; it does not outlive the block."""
    output = folder / f"{name}.txt"
    with output.open("ab") as file:
        popen = subprocess.Popen(
            [sys.executable, *command],
            cwd=ROOT,
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
