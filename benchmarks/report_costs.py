"""What the fits, the analyses and the pages of a study cost, for benchmarks.report."""

import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.choices import StudyState
from annotation.models import Study
from ranking.fits import analysis_queries, queries
from ranking.fits import services as fit_services
from ranking.models import Fit
from ranking.release_check.verifying import verify
from ranking.releases import services as release_services
from ranking.report import services as report_services

MEBI = 2**10  # resource counts in KiB
N_ROUNDS = 5
OK = 200
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """Seconds on the wall and of the processor: of all threads, and of the server's own process."""

    wall: float = 0.0
    cpu: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.wall + other.wall, self.cpu + other.cpu)

    def __str__(self) -> str:
        return f"{self.wall:8.2f} s{self.cpu:8.2f} s CPU"


def cost(task: Callable[[], object]) -> Cost:
    """Return what a task takes."""
    wall, cpu, server = time.perf_counter(), time.process_time(), server_seconds()
    task()
    spent = time.process_time() - cpu + server_seconds() - server
    return Cost(time.perf_counter() - wall, spent)


def server_seconds() -> float:
    """Return the processor time of PostgreSQL's process for us; 0 where it cannot be seen."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    try:
        parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it runs on another machine
        return 0.0
    return (int(parts[11]) + int(parts[12])) / TICK


def say(what: str, said: object, more: str = "") -> None:
    """Print one line of a table."""
    sys.stdout.write(f"{what:<44}{said}  {more}".rstrip() + "\n")
    sys.stdout.flush()


def measure_report(fits: list[Fit], *, each_selection: bool) -> None:
    """Compute the analyses of the preferred selection kind by kind, then of the others."""
    whole = Cost()
    for fit in fits if each_selection else fits[:1]:
        found = {kind: analysed(fit, kind) for kind in analysis_queries.known_kinds()}
        spent = sum(found.values(), Cost())
        if not whole.wall:
            for kind, one in found.items():
                row = fit.analyses.get(kind=kind)
                say(f"  {kind.lower()}", one, row.refusal)
        whole += spent
        say(f"analyses of {fit.n_judgments:,}, {fit.pool} {fit.context_set}", spent)
    say("all analyses", whole)
    say("peak memory", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // MEBI:8} MiB")


def analysed(fit: Fit, kind: str) -> Cost:
    """Compute one analysis of a fit, and say what it took."""
    return cost(partial(report_services.analyse_fit, fit_id=fit.pk, kind=kind, clock=timezone.now))


def make_fits(study: Study) -> list[Fit]:
    """Compute all ratings of the study, and close it, so that they may be read.

    Returns the fits, the most telling selection first.
    """
    claimed = fit_services.claim_changed_fits(study=study, now=timezone.now())
    for pk in claimed:
        fit = Fit.objects.get(pk=pk)
        spent = cost(partial(fit_services.run_fit, fit_id=pk, clock=timezone.now))
        say(f"fit of {fit.n_judgments:,}, {fit.pool} {fit.context_set}", spent)
    study.state = StudyState.CLOSED
    study.save(update_fields=["state"])
    results = queries.Results(study, is_team=False)
    found = [results.latest(pool, context_set) for pool, context_set in results.selections()]
    return [fit for fit in found if fit is not None]


def measure_release(study: Study) -> None:
    """Build a release of all that was computed, as workers do, and verify the whole of it."""
    release = release_services.claim_release(study=study, now=timezone.now())
    build = partial(release_services.build_release, release=release, clock=timezone.now)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "release"
        say("release built and verified", cost(partial(build, folder=folder)))
        say("release verified again, all of it", cost(partial(verify, folder)))


def addresses(fit: Fit) -> Iterator[str]:
    """Yield the addresses of all pages that lead from the results of a study."""
    study = fit.study.slug
    for name in ("leaderboard", "history", "verdicts", "fits"):
        yield reverse(f"ranking:{name}", args=[study])
    yield reverse("ranking:fit", args=[study, fit.key])
    for kind in analysis_queries.known_kinds():
        yield reverse("ranking:analysis", args=[study, fit.key, kind.lower()])


def measure_pages(fit: Fit) -> None:
    """Ask for each page some times, warm, and say the median and how many queries it took."""
    client = Client(SERVER_NAME="localhost")
    for address in addresses(fit):
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(address)
        if answer.status_code != OK:
            msg = f"{address} answers {answer.status_code}"
            raise RuntimeError(msg)
        more = f"{len(answer.content) / 1000:.0f} kB, {len(queries)} queries"
        taken = [cost(partial(client.get, address)) for _ in range(N_ROUNDS)]
        wall = 1000.0 * statistics.median(one.wall for one in taken)
        cpu = 1000.0 * statistics.median(one.cpu for one in taken)
        say(address.replace(fit.key, "FIT"), f"{wall:6.0f} ms{cpu:6.0f} ms CPU", more)
