"""The processes of docker-compose.yml, started as they stand there, without containers.

Commands and environment are read from the file, so that what is measured is what is deployed. The
database and Redis are servers that run already.
"""

import os
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import psycopg
import redis
from django.conf import settings

from benchmarks import processes
from tests.helpers import processes as test_processes
from tests.helpers.processes import ROOT, Process, started, wait_until

BROKER = os.environ.get("HEART_TEST_REDIS_URL", "redis://127.0.0.1:6379/15")
WORKERS = ("worker-maintenance", "worker-outgoing", "worker-llm", "worker-analysis", "beat")
SITE = "heart_site.wsgi:application"


class Cost(NamedTuple):
    """Seconds of processor time: of web processes, and of what the database did for them."""

    web: float
    database: float

    def __sub__(self, before: "Cost") -> "Cost":
        return Cost(self.web - before.web, self.database - before.database)


@dataclass(frozen=True)
class Server:
    """A web server that answers, and the address of its database, where it goes by its own name."""

    port: int
    process: Process
    url: str
    name: str

    def cost(self) -> Cost:
        """Return the processor time taken so far; of the database by connections that are open.

        The database has to be on this machine.
        """
        with psycopg.connect(self.url) as link:
            query = "SELECT pid FROM pg_stat_activity WHERE application_name = %s"
            backends = [Path(f"/proc/{pid}") for (pid,) in link.execute(query, [self.name])]
        return Cost(processes.cpu_seconds(self._processes()), processes.cpu_seconds(backends))

    def largest_mb(self) -> float:
        """Return the most memory that one of its processes has held (peak RSS)."""
        return processes.largest_mb(self._processes())

    def _processes(self) -> list[Path]:
        return processes.of_groups([self.process.popen.pid])


def environment(*, url: str, prefix: str, folder: Path) -> dict[str, str]:
    """Return what the file gives the web service, with the servers and folders of this machine."""
    return test_processes.environment("web") | {
        "DATABASE_URL": url,
        "HEART_BROKER_URL": BROKER,
        "HEART_BROKER_PREFIX": prefix,
        "HEART_SECRET_KEY": settings.SECRET_KEY,  # with which the floor's cookies are signed
        "HEART_DATA_DIR": str(folder),
        "PROMETHEUS_MULTIPROC_DIR": str(folder / "metrics"),
    }


def command(service: str, *, application: str = SITE, **changes: str) -> list[str]:
    """Return a service's command as arguments of Python, for another application.

    ``changes`` replace what follows an option of the command.
    """
    words = test_processes.command(service, **changes)
    words = [application if word == SITE else word for word in words]
    return words[1:] if words[0] == "python" else ["-m", *words]


@contextmanager
def workers(folder: Path, env: dict[str, str]) -> Iterator[Sequence[Process]]:
    """Run every Celery worker, and beat with its schedule in the folder."""
    with ExitStack() as running:
        yield [
            running.enter_context(
                started(
                    name,
                    *(str(folder / "beat") if word == "/tmp/beat" else word for word in words),  # noqa: S108
                    folder=folder,
                    env=env,
                )
            )
            for name, words in ((name, command(name)) for name in WORKERS)
        ]
    with redis.Redis.from_url(BROKER) as client:
        for key in client.scan_iter(f"{env['HEART_BROKER_PREFIX']}*"):
            client.delete(key)


@contextmanager
def served(
    application: str,
    folder: Path,
    env: dict[str, str],
    checkout: Path | None = None,
    /,
    **changes: str,
) -> Iterator[Server]:
    """Run the web service's command, changed so, for this application, until it answers.

    ``checkout`` has the code, if it is not that of this one.
    """
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    words = command("web", application=application, host="127.0.0.1", port=str(port), **changes)
    url, name = env["DATABASE_URL"], f"heart-{port}"
    # Of a connection that ends, nobody could tell any more what the database did for it.
    named = {**env, "DATABASE_URL": f"{url}?application_name={name}&conn_max_age=86400"}
    with started(name, *words, folder=folder, env=named, code=checkout or ROOT) as process:
        wait_until(lambda: _answers(port), process)
        yield Server(port, process, url, name)


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz"):
            return True
    except urllib.error.HTTPError:
        return True  # the floor has no such page
    except OSError:
        return False
