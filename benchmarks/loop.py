"""How many judging loops a second the site does, beside bare Django: python -m benchmarks.loop.

Both are served by gunicorn (2 processes of 8 threads) from one PostgreSQL, one after the other, to
the same client, which posts an answer and reads the next pair out of what comes back. Everything
shares the machine, so the ratio is what counts. Needs DATABASE_URL or a server as the tests do.
"""

import argparse
import http.client
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import psycopg
from django.core import signing
from django.db import connections
from django.utils import timezone

from benchmarks.scratch import scratch_site
from benchmarks.simulation import machine

PORT = 8797
N_PAIRS, MOST = 400, 1000
PATIENCE_S = 30.0
TICK = os.sysconf("SC_CLK_TCK")
NEXT = re.compile(rb'action="(/[^"]*?)(?:skip/)?"')
HEADERS = {"Content-Type": "application/x-www-form-urlencoded"}
FLOOR_TABLES = """
CREATE TABLE floor_pair (id serial PRIMARY KEY, slots_left int NOT NULL);
CREATE TABLE floor_answer (
    id serial PRIMARY KEY, pair_id int NOT NULL, rater text NOT NULL, verdict int NOT NULL,
    rationale text NOT NULL, at timestamptz NOT NULL DEFAULT now());
"""
FLOOR_PAIRS = "INSERT INTO floor_pair (slots_left) SELECT %s FROM generate_series(1, %s)"
RATIONALE = "It takes up what was said, and asks a question that fits."


@dataclass
class Visitor:
    """One rater's browser: where to post next, and with which headers and fields."""

    address: str
    headers: dict[str, str]
    fields: dict[str, str]


@dataclass
class Tally:
    """What a client saw."""

    seconds: list[float] = field(default_factory=list)
    n_errors: int = 0


def go_round(visitor: Visitor, until: float, tally: Tally) -> None:
    """Post answers, one after the other, until it is time to stop."""
    link = http.client.HTTPConnection("127.0.0.1", PORT, timeout=PATIENCE_S)
    body = urlencode(visitor.fields)
    while time.perf_counter() < until:
        started = time.perf_counter()
        link.request("POST", visitor.address, body, visitor.headers)
        answer = link.getresponse()
        page = answer.read()
        tally.seconds.append(time.perf_counter() - started)
        following = NEXT.search(page)
        if answer.status != http.client.OK or following is None:
            tally.n_errors += 1
            break
        visitor.address = following[1].decode()
    link.close()


@contextmanager
def served(application: str) -> Iterator[int]:
    """Run gunicorn, and give its process id."""
    command = [sys.executable, "-m", "gunicorn", application, "--bind", f"127.0.0.1:{PORT}"]
    command += ["--worker-class", "gthread", "--workers", "2", "--threads", "8"]
    command += ["--log-level", "error", "--keep-alive", "60"]
    server = subprocess.Popen(command)  # noqa: S603 (our own words)
    try:
        _wait_for_port()
        yield server.pid
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(PATIENCE_S)


def _wait_for_port() -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        try:
            link = http.client.HTTPConnection("127.0.0.1", PORT, timeout=1)
            link.request("GET", "/healthz")
            link.getresponse().read()
        except OSError:
            time.sleep(0.1)
        else:
            return


def cpu_seconds(parent: int) -> float:
    """Return the processor time of a process's children so far (Linux)."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parts = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(parts[1]) == parent:
            total += int(parts[11]) + int(parts[12])
    return total / TICK


def measure(visitors: list[Visitor], server: int, seconds: float) -> str:
    """Let the visitors go round for some seconds, and say how it went."""
    tallies = [Tally() for _visitor in visitors]
    before, until = cpu_seconds(server), time.perf_counter() + seconds
    threads = [
        threading.Thread(target=go_round, args=(visitor, until, tally))
        for visitor, tally in zip(visitors, tallies, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = sorted(one for tally in tallies for one in tally.seconds)
    cpu = cpu_seconds(server) - before
    n_errors = sum(tally.n_errors for tally in tallies)
    return (
        f"{len(taken) / seconds:8.0f} loops/s  p95 {taken[int(0.95 * len(taken))] * 1000:6.0f} ms"
        f"  {1000 * cpu / len(taken):5.1f} ms CPU a loop  {n_errors} errors"
    )


def make_study(n_raters: int) -> list[Visitor]:
    """Fill the site's tables with a study, and let raters in up to their first pair."""
    from annotation import http as raters  # noqa: PLC0415 (models need the settings)
    from annotation import services  # noqa: PLC0415
    from tests.factories import make_comparison, make_rater, make_study  # noqa: PLC0415

    study = make_study(slug="bench", session_length=1000, judgments_per_pair=MOST)
    for _pair in range(N_PAIRS):
        make_comparison(study=study, slots_left=MOST)
    token = secrets.token_hex(16)
    fields = {"csrfmiddlewaretoken": token, "verdict": "1", "rationale": RATIONALE}
    found = []
    for _rater in range(n_raters):
        rater = make_rater(study=study)
        lease = services.lease_next_comparison(rater=rater, now=timezone.now())
        badge = f"{raters.COOKIE}={raters.badge(rater, use='cookie')}"
        cookies = {"Cookie": f"{badge}; csrftoken={token}", "HX-Request": "true"}
        if lease is not None:
            found.append(Visitor(f"/s/bench/judge/{lease.token}/", HEADERS | cookies, fields))
    return found


def make_floor(n_raters: int, url: str) -> list[Visitor]:
    """Fill the bare tables, and sign as many cookies."""
    with psycopg.connect(url, autocommit=True) as link:
        link.execute(FLOOR_TABLES)
        link.execute(FLOOR_PAIRS, [MOST, N_PAIRS])
    signer = signing.get_cookie_signer(salt="rater")
    fields = {"verdict": "1", "rationale": RATIONALE}
    cookies = [f"rater={signer.sign(f'R{number}')}" for number in range(n_raters)]
    return [Visitor("/1/", HEADERS | {"Cookie": cookie}, fields) for cookie in cookies]


def main() -> None:
    """Measure the site and the floor at each number of raters."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--raters", type=int, nargs="+", default=[16, 64, 128])
    parser.add_argument("--seconds", type=float, default=10.0)
    asked = parser.parse_args()
    with scratch_site() as url:
        sys.stdout.write(f"{machine()}; {asked.seconds:g} s each\n")
        most = max(asked.raters)
        for application, visitors in (
            ("heart_site.wsgi", make_study(most)),
            ("benchmarks.floor", make_floor(most, url)),
        ):
            connections.close_all()
            with served(application) as server:
                for n in asked.raters:
                    found = measure(visitors[:n], server, asked.seconds)
                    sys.stdout.write(f"{application:<18}{n:>4} raters {found}\n")


if __name__ == "__main__":
    main()
