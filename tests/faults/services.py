"""The site as docker-compose.yml has it, on servers of the drills' own, which they may break."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import redis

from tests.conftest import missing
from tests.helpers.processes import ROOT, Process, command, free_port, started, wait_until

ROLE = "heart"
POSTGRES_HOMES = "/usr/lib/postgresql"
UNPRIVILEGED = ("postgres", "nobody")
FAST = ("fsync=off", "listen_addresses=127.0.0.1", "unix_socket_directories=")
"""Commits still reach the system before they are acknowledged; only power cuts may lose them."""


@dataclass
class Cluster:
    """A PostgreSQL server on data of its own, always at the same port."""

    folder: Path
    programs: Path
    port: int = field(default_factory=free_port)

    @property
    def url(self) -> str:
        """Where its only database is."""
        return f"postgres://{ROLE}@127.0.0.1:{self.port}/postgres"

    def make(self) -> None:
        """Lay the data folder out."""
        if account := self._account():
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        words = ["--auth=trust", f"--username={ROLE}", "--encoding=UTF8", "--locale=C.UTF-8"]
        self._run("initdb", *words, "--no-sync")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = " ".join(f"-c {one}" for one in (*FAST, f"port={self.port}"))
        log = str(self.folder / "server.log")
        self._run("pg_ctl", "--wait", "--timeout=300", f"--log={log}", "-o", options, "start")

    def crash(self) -> None:
        """End it at once: transactions that are not committed are lost, others are not."""
        self._run("pg_ctl", "--wait", "--timeout=300", "--mode=immediate", "stop")

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        with psycopg.connect(self.url, autocommit=True) as link:
            return link.execute(query, values).fetchall()

    def _run(self, program: str, *words: str) -> None:
        account = self._account()
        as_somebody: dict[str, Any] = (
            {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if account else {}
        )
        subprocess.run(
            [self.programs / program, "-D", self.folder / "data", *words],
            cwd=self.folder,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            **as_somebody,
        )

    @staticmethod
    def _account() -> pwd.struct_passwd | None:
        """Return who PostgreSQL runs as where we are root, whom it refuses; None elsewhere."""
        if os.getuid() != 0:
            return None
        known = {one.pw_name: one for one in pwd.getpwall()}
        return next(known[name] for name in UNPRIVILEGED if name in known)


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Run a PostgreSQL server for the length of the block."""
    server = Cluster(folder, _postgres_programs())
    server.make()
    server.start()
    try:
        yield server
    finally:
        if (folder / "data" / "postmaster.pid").exists():  # else a drill has left it broken
            server.crash()


def _postgres_programs() -> Path:
    """Return the folder of a server's programs, which Debian keeps away from the path."""
    homes = sorted(Path(POSTGRES_HOMES).glob("*/bin"), key=lambda one: float(one.parent.name))
    on_path = [Path(found).resolve().parent] if (found := shutil.which("pg_ctl")) else []
    usable = [one for one in (*on_path, *reversed(homes)) if (one / "initdb").exists()]
    if not usable:
        missing("PostgreSQL's server", "initdb is needed (Debian: apt-get install postgresql)")
    return usable[0]


@dataclass
class Broker:
    """A Redis server that keeps nothing on disk, as docker-compose.yml has it."""

    folder: Path
    port: int = field(default_factory=free_port)
    process: Process | None = None

    @property
    def url(self) -> str:
        """Where it is."""
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        words = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)]
        output = self.folder / "redis.txt"
        with output.open("ab") as file:
            popen = subprocess.Popen(
                [*_broker_command(), *words],
                stdin=subprocess.DEVNULL,
                stdout=file,
                start_new_session=True,
            )
        self.process = Process(popen, output)
        wait_until(self.answers, self.process)

    def crash(self) -> None:
        """End it at once, with all that it held."""
        if self.process is not None and self.process.popen.poll() is None:
            os.kill(self.process.popen.pid, signal.SIGKILL)
            self.process.popen.wait()

    def flush(self) -> None:
        """Let it forget everything."""
        with redis.Redis.from_url(self.url) as client:
            client.flushall()

    def answers(self) -> bool:
        """Say whether it can be spoken with."""
        with redis.Redis.from_url(self.url) as client:
            try:
                return bool(client.ping())
            except redis.ConnectionError:
                return False


@contextmanager
def broker(folder: Path) -> Iterator[Broker]:
    """Run a Redis server for the length of the block."""
    server = Broker(folder)
    server.start()
    try:
        yield server
    finally:
        server.crash()


def _broker_command() -> Sequence[str]:
    if shutil.which("redis-server") is None:
        missing("redis-server", "on Debian: apt-get install redis-server")
    return command("redis")


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
