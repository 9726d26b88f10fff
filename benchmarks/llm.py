"""How fast calls to models go, whole way: python -m benchmarks.llm.

Celery workers on Redis claim rows of PostgreSQL, ask the offline provider through LiteLLM, read the
answers and store them. All of it shares the machine, so the ratio to the ideal is what counts:
calls in flight divided by the time that the provider takes. Nudges come as beat sends them; at the
start there is one for each process. Needs PostgreSQL and Redis as the tests do.
"""

import argparse
import os
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import redis
from celery import Celery

from benchmarks import processes
from benchmarks.scratch import scratch_site
from benchmarks.simulation import machine
from tests.helpers.processes import Process, first_line, started, wait_until

if TYPE_CHECKING:
    from benchmarks.llm_rows import Rows, Work

BROKER = os.environ.get("HEART_TEST_REDIS_URL", "redis://127.0.0.1:6379/15")
IN_FLIGHT = 64
NUDGE_S, EXPIRES_S = 2.0, 10
HEAD = """
work         pool             latency  ideal s  took s  ratio  calls/s  CPU ms  RSS MB  PSS MB
"""


@dataclass(frozen=True)
class Pool:
    """How workers are started: how many, with which pool, and how many processes pull in each."""

    name: str
    n_workers: int
    options: tuple[str, ...]
    n_pulls: int

    @property
    def in_flight(self) -> int:
        """Return how many calls each process keeps in flight."""
        return IN_FLIGHT // (self.n_workers * self.n_pulls)


POOLS = {
    pool.name: pool
    for pool in (
        Pool("prefork 2 x 32", 1, ("-P", "prefork", "-c", "2"), 2),
        Pool("threads 2 x 32", 2, ("-P", "threads", "-c", "1"), 1),
        Pool("solo 2 x 32", 2, ("-P", "solo"), 1),
        Pool("threads 1 x 64", 1, ("-P", "threads", "-c", "2"), 1),
        Pool("solo 1 x 64", 1, ("-P", "solo"), 1),
    )
}
CHOSEN = "prefork 2 x 32"


@dataclass(frozen=True)
class Site:
    """Workers that run, and the way to nudge them."""

    app: Celery
    workers: Sequence[Process]

    def nudge(self, task: str) -> None:
        """Tell a process that there is work, as a tick of beat does."""
        self.app.send_task(task, queue="llm", expires=EXPIRES_S)

    def processes(self) -> list[Path]:
        """Return all processes of the workers (Linux)."""
        return processes.of_groups([one.popen.pid for one in self.workers])


@contextmanager
def site(pool: Pool, provider: str, folder: Path) -> Iterator[Site]:
    """Start the workers of a pool on a broker that is theirs alone."""
    prefix = f"heart-bench-{uuid.uuid4()}:"
    env = {
        "HEART_BROKER_URL": BROKER,
        "HEART_BROKER_PREFIX": prefix,
        "HEART_OFFLINE_LLM_URL": provider,
        "HEART_LLM_CONCURRENCY": str(pool.in_flight),
        "HEART_LOG_LEVEL": "WARNING",
    }
    app = Celery(broker=BROKER, set_as_current=False)
    app.conf.broker_transport_options = {"global_keyprefix": prefix}
    command = ["-m", "celery", "-A", "heart_site", "worker", "-Q", "llm", *pool.options]
    with ExitStack() as stack:
        workers = [
            stack.enter_context(
                started(f"worker-{n}", *command, "-n", f"{n}@%h", folder=folder, env=env)
            )
            for n in range(pool.n_workers)
        ]
        yield Site(app, workers)
    app.close()
    with redis.Redis.from_url(BROKER) as client:
        for key in client.scan_iter(f"{prefix}*"):
            client.delete(key)


def finish(work: "Work", site: Site, n_pulls: int) -> float:
    """Have all open calls made, and return how many seconds that took."""
    started_at = nudged_at = time.perf_counter()
    for _pull in range(n_pulls):
        site.nudge(work.task)

    def over() -> bool:
        nonlocal nudged_at
        if time.perf_counter() - nudged_at >= NUDGE_S:
            nudged_at = time.perf_counter()
            site.nudge(work.task)
        return not work.n_open

    wait_until(over, *site.workers)
    return time.perf_counter() - started_at


def measure(name: str, rows: "Rows", pool: Pool, site: Site, latency: float) -> str:
    """Have as many calls made as asked for, and say how it went."""
    work, n_pulls = rows.work()[name], pool.n_workers * pool.n_pulls
    before = work.n_done
    work.plan()
    n, cpu = work.n_open, processes.cpu_seconds(site.processes())
    took, ideal = finish(work, site, n_pulls), n * latency / IN_FLIGHT
    cpu = processes.cpu_seconds(site.processes()) - cpu
    unusable = n - (work.n_done - before)
    rss, pss = (most(site.processes()) for most in (processes.largest_mb, processes.share_mb))
    return (
        f"{name:<11}  {pool.name:<15}  {latency:>5g} s  {ideal:>7.1f}  {took:>6.1f}"
        f"  {ideal / took:>5.2f}  {n / took:>7.0f}  {1000 * cpu / n:>6.1f}"
        f"  {rss:>6.0f}  {pss:>6.0f}" + (f"  {unusable} UNUSABLE" if unusable else "")
    )


def measure_pool(
    pool: Pool, names: Sequence[str], latency: float, *, warm_up: "Rows", rows: "Rows"
) -> None:
    """Print a line for each kind of work; a first round loads what processes load once."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        pace = ("--port=0", f"--latency={latency:g}")
        provider = stack.enter_context(
            started("provider", "manage.py", "offline_llm", *pace, folder=folder, env={})
        )
        running = stack.enter_context(site(pool, first_line(provider).split()[3], folder))
        for work_name in names:
            measure(work_name, warm_up, pool, running, latency)
            sys.stdout.write(measure(work_name, rows, pool, running, latency) + "\n")
            sys.stdout.flush()


def main() -> None:
    """Measure the chosen pool at each latency, then the other pools at the shortest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2000, help="per line of the table")
    parser.add_argument("--latency", type=float, nargs="+", default=[1.0, 0.3], help="seconds")
    parser.add_argument("--pools", action="store_true", help="measure the other pools, too")
    options = parser.parse_args()
    with scratch_site():
        from benchmarks.llm_rows import Rows  # noqa: PLC0415 (models need the settings)

        rows = {"warm_up": Rows(4 * IN_FLIGHT), "rows": Rows(options.calls)}
        sys.stdout.write(f"{machine()}; load average {os.getloadavg()[0]:.1f} before\n")
        sys.stdout.write(f"{options.calls:,} calls a line, {IN_FLIGHT} in flight\n{HEAD}")
        for latency in options.latency:
            measure_pool(POOLS[CHOSEN], ["completions", "judges"], latency, **rows)
        for pool in POOLS.values() if options.pools else []:
            if pool.name != CHOSEN:
                measure_pool(pool, ["completions"], min(options.latency), **rows)


if __name__ == "__main__":
    main()
