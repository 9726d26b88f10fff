"""The site as docker-compose.yml has it, as processes that a drill may kill."""

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.faults.services import Broker, Cluster
from tests.helpers.processes import ROOT, Process, command, free_port, started, wait_until


@dataclass(frozen=True)
class Web:
    """A web server, its address, and its processes."""

    process: Process
    address: str

    def workers(self) -> set[int]:
        """Return the ids of the processes that answer."""
        return children(self.process.popen.pid)

    def kill_workers(self) -> None:
        """Kill all processes that answer, at once; the one that watches over them stays."""
        for pid in self.workers():
            os.kill(pid, signal.SIGKILL)


@dataclass(frozen=True)
class Stack:
    """Database, broker and folder; web servers and workers are started by each drill."""

    cluster: Cluster
    broker: Broker
    folder: Path

    @property
    def env(self) -> Mapping[str, str]:
        """What a deployment sets."""
        return {
            "DATABASE_URL": self.cluster.url,
            "HEART_BROKER_URL": self.broker.url,
            "HEART_SECRET_KEY": "only-for-drills",
            "HEART_ALLOWED_HOSTS": "127.0.0.1",
            "HEART_DATA_DIR": str(self.folder / "data"),
            "HEART_LOG_LEVEL": "WARNING",
            "HEART_EMAIL_URL": "dummymail://",
        }

    @contextmanager
    def web(self, name: str = "web") -> Iterator[Web]:
        """Serve the site for the length of the block."""
        port = free_port()
        words = command("web", host="127.0.0.1", port=str(port))[1:]
        env = {**self.env, "PROMETHEUS_MULTIPROC_DIR": str(self.folder / f"metrics-{port}")}
        with started(name, *words, folder=self.folder, env=env) as process:
            address = f"http://127.0.0.1:{port}"
            wait_until(lambda: is_ready(address), process)
            yield Web(process, address)

    @contextmanager
    def worker(self, name: str) -> Iterator[Process]:
        """Run a worker of the short tasks for the length of the block."""
        words = command("worker-maintenance", n=f"{name}@%h")
        with started(name, "-m", *words, folder=self.folder, env=self.env) as process:
            yield process

    @contextmanager
    def beat(self) -> Iterator[Process]:
        """Send ticks for the length of the block."""
        words = command("beat", schedule=str(self.folder / "schedule"))
        env = {**self.env, "HEART_REVIEW_SECONDS": "0.5"}
        with started("beat", "-m", *words, folder=self.folder, env=env) as process:
            yield process

    def run(self, *words: str) -> None:
        """Run a Python command on the site to its end."""
        env = {**os.environ, **self.env, "DJANGO_SETTINGS_MODULE": "heart_site.settings"}
        subprocess.run([sys.executable, *words], cwd=ROOT, env=env, check=True)


def is_ready(address: str) -> bool:
    """Say whether a site can serve."""
    try:
        with urllib.request.urlopen(f"{address}/readyz", timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def children(parent: int) -> set[int]:
    """Return the ids of the processes that a process has begun (Linux)."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().rpartition(")")
        except OSError:  # it has ended
            continue
        state, owner = rest.split()[:2]
        if int(owner) == parent and state != "Z":
            found.add(int(name.split()[0]))
    return found
