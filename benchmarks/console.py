"""What the pages of the console cost: python -m benchmarks.console [--judgments N].

A study of people and LLM judges is made inside a PostgreSQL database of its own, which is dropped
in the end; then every page that the URL configuration knows is asked for by a member signed in.
Needs DATABASE_URL or a server as the tests do. Marked is what is above the goals: 15 queries, and
300 ms, or 500 above 100,000 judgments.
"""

import argparse
import logging
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlencode

from benchmarks.scratch import scratch_site
from benchmarks.simulation import machine

MOST_QUERIES = 15
LARGE = 100_000
N_ROUNDS = 5
NOT_ALLOWED, NOT_FOUND, OK = 405, 404, 200
N_ENTRIES = 20_000


def limit_ms(n_judgments: int) -> float:
    """Return how long a page may take."""
    return 500.0 if n_judgments > LARGE else 300.0


def dress(study: Any) -> None:  # noqa: ANN401 (models need the settings)
    """Give a study ratings, what was measured of its raters, decisions and a log."""
    from django.utils import timezone  # noqa: PLC0415 (as above)

    from annotation.models import Exclusion  # noqa: PLC0415
    from benchmarks.refit_rows import copies, unchecked  # noqa: PLC0415
    from benchmarks.report_costs import make_fits  # noqa: PLC0415
    from ranking.choices import AnalysisKind  # noqa: PLC0415
    from ranking.raters import services as rater_services  # noqa: PLC0415
    from ranking.report import services as report_services  # noqa: PLC0415
    from tests.helpers.factories_written_once import make_exclusion, make_log_entry  # noqa: PLC0415

    _add_checks(study.pk)
    fits = make_fits(study)
    for fit in fits:
        report_services.analyse_fit(fit_id=fit.pk, kind=AnalysisKind.PLANNING, clock=timezone.now)
    started = time.perf_counter()
    measured = rater_services.measure_raters(study=study, now=timezone.now())
    sys.stdout.write(
        f"{len(measured.rows):,} raters measured in {time.perf_counter() - started:.1f} s\n"
    )
    for row in measured.rows[:20]:
        make_exclusion(rater_id=row.rater.pk, is_excluded=True)
    entry = make_log_entry(subject=f"study {study.slug}")
    with unchecked():
        copies(entry, N_ENTRIES, {"at": "t.at + i * interval '1 second'"})
    sys.stdout.write(f"{Exclusion.objects.count()} decisions, {N_ENTRIES:,} entries of the log\n")


def _add_checks(study: int) -> None:
    """Let every rater answer one check; some fail it."""
    from annotation.choices import Purpose  # noqa: PLC0415 (models need the settings)
    from annotation.models import Comparison, Judgment, Lease, Rater  # noqa: PLC0415
    from benchmarks.refit_rows import copies, unchecked  # noqa: PLC0415
    from tests.helpers.factories import make_quality_check  # noqa: PLC0415

    pair = Comparison.objects.get(study=study, purpose=Purpose.CHECK)
    given = Judgment.objects.filter(comparison=pair, rater__isnull=False).earliest("pk")
    check = make_quality_check(comparison=pair)
    Lease.objects.filter(comparison=pair).update(quality_check=check)
    raters = Rater.objects.filter(study=study, code__startswith="B")
    first, n = raters.earliest("pk").pk, raters.count()
    who = {"rater_id": f"{first} - 1 + i"}
    with unchecked():
        lease = copies(given.lease, n, who | {"token": "gen_random_uuid()", "number": "10000000"})
        answer = {"lease_id": f"{lease} + i", "verdict": "CASE WHEN i % 7 = 0 THEN -1 ELSE 1 END"}
        copies(given, n, who | answer)


def _keep_figures(study: int) -> None:
    """Do what a worker does when somebody looks at a page for the first time."""
    from django.utils import timezone  # noqa: PLC0415 (models need the settings)

    from annotation.studies.stored_figures import FIGURES, keep_figures  # noqa: PLC0415

    for kind in FIGURES:
        started = time.perf_counter()
        keep_figures(kind=kind, study_id=study, now=timezone.now())
        sys.stdout.write(f"figures of {kind} kept in {time.perf_counter() - started:.1f} s\n")


def measure(study: Any, n_judgments: int) -> None:  # noqa: ANN401 (models need the settings)
    """Dress the study up and ask for every page."""
    from django.test import Client  # noqa: PLC0415 (as above)

    from annotation.models import Judgment  # noqa: PLC0415
    from tests.helpers.factories_written_once import make_member  # noqa: PLC0415

    dress(study)
    _keep_figures(study.pk)
    given = Judgment.objects.filter(comparison__study=study).count()
    sys.stdout.write(f"\n{given:,} judgments\n{'queries':>8}{'ms':>8}  page\n")
    logging.disable(logging.INFO)  # a line for each request
    client = Client(SERVER_NAME="localhost")
    client.force_login(make_member())
    _ask_for_pages(client, study, n_judgments)


def _ask_for_pages(client: Any, study: Any, n_judgments: int) -> None:  # noqa: ANN401 (as above)
    """Ask for every page, and tell its queries and its time."""
    from django.db import connection  # noqa: PLC0415 (models need the settings)

    from tests.helpers.pages import console_pages  # noqa: PLC0415

    n_queries = _queries(study)
    for page in console_pages(study):
        address = page.address + n_queries.get(page.name, "")
        client.get(address)
        queries = list[str]()
        with connection.execute_wrapper(partial(noted, queries)):
            answer = client.get(address)
        if answer.status_code != OK:
            if answer.status_code != NOT_ALLOWED:
                sys.stdout.write(f"{'':>16}  {page.address} answers {answer.status_code}\n")
            continue
        taken = statistics.median(_milliseconds(client, address) for _ in range(N_ROUNDS))
        notes = "  to the first byte" if answer.streaming else ""
        if taken > limit_ms(n_judgments) or len(queries) > MOST_QUERIES:
            notes += "  ABOVE"
        sys.stdout.write(f"{len(queries):>8}{taken:>8.0f}  {page.address}{notes}\n")
        sys.stdout.flush()


def _queries(study: Any) -> dict[str, str]:  # noqa: ANN401 (models need the settings)
    """Return what pages that are parts of others are asked with, by the name of their view."""
    from django.utils import timezone  # noqa: PLC0415 (models need the settings)

    from ranking.raters import queries as rater_queries  # noqa: PLC0415

    rows = rater_queries.shown_raters(study, now=timezone.now()).rows
    leaving = urlencode([("rater", row.code) for row in rows if row.would_go])
    return {"raters:moves": f"?{leaving}", "console:live": f"?state={study.state}"}


def noted(
    queries: list[str],
    execute: Callable[..., object],
    sql: str,
    *given: object,
) -> object:
    """Note a query, and have it executed."""
    queries.append(sql)
    return execute(sql, *given)


def _milliseconds(client: Any, address: str) -> float:  # noqa: ANN401 (a client of Django's tests)
    """Return what an answer takes; of a download, its first part."""
    started = time.perf_counter()
    answer = client.get(address)
    if answer.streaming:
        next(iter(answer.streaming_content), b"")
    taken = 1000.0 * (time.perf_counter() - started)
    answer.close()
    return taken


def main() -> None:
    """Measure one size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgments", type=int, default=42_000)
    parser.add_argument("--raters", type=int, default=0, help="300, or 2,000 of a large study")
    options = parser.parse_args()
    raters = options.raters or (2_000 if options.judgments > LARGE else 300)
    sys.stdout.write(f"{machine()}\n")
    with scratch_site():
        from benchmarks.report_rows import fill_report  # noqa: PLC0415 (models need the settings)

        started = time.perf_counter()
        study = fill_report(options.judgments, n_raters=raters)
        sys.stdout.write(f"rows made in {time.perf_counter() - started:.0f} s\n")
        measure(study, options.judgments)


if __name__ == "__main__":
    main()
