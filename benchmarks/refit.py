"""What a refit costs beside a scan of the judgments: python -m benchmarks.refit [--size b].

Some answers come in before each refit, which counts these and takes the rest as it was kept. A
study is made inside a PostgreSQL database of its own, which is dropped in the end. Needs
DATABASE_URL or a server as the tests do. Scan and refit take turns, and the ratio counts.
"""

import argparse
import secrets
import statistics
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

from django.db import connection
from django.utils import timezone

from benchmarks import processes
from benchmarks.scratch import scratch_site
from benchmarks.simulation import machine

OWN = [Path("/proc/self")]
N_NEW = 1000
SESSION = 40  # answers of each person who comes
SIZES = {"a": (42_000, 20, 300), "b": (1_000_000, 100, 5_000)}


def milliseconds(task: Callable[[], object]) -> float:
    """Return how long a task takes."""
    started = time.perf_counter()
    task()
    return 1000.0 * (time.perf_counter() - started)


def scan() -> None:
    """Look at every judgment, as the database does it best."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(verdict) FROM annotation_judgment")
        cursor.fetchone()


def answer(study: Any, n: int) -> None:  # noqa: ANN401 (models need the settings)
    """Let n more answers come in, by people new to the study, to any comparisons."""
    from annotation.models import Comparison, Judgment, Lease, Rater  # noqa: PLC0415 (as above)

    now, places = timezone.now(), range(-(-n // SESSION))
    codes = [f"N{secrets.token_hex(7)}" for _ in places]
    raters = Rater.objects.bulk_create(
        Rater(study=study, code=code, entered_at=now) for code in codes
    )
    pairs = Comparison.objects.filter(study=study).order_by("?")[:n]
    one = Judgment.objects.filter(comparison__study=study)[0]
    template = Lease.objects.get(judgments=one)
    leases, given = [], []
    for place, pair in enumerate(pairs):
        judgment, lease = copy(one), copy(template)
        lease.pk, lease.token, lease.number = None, uuid.uuid4(), place
        judgment.pk, judgment.submitted_at = None, now
        for row in (lease, judgment):
            row.comparison, row.rater = pair, raters[place // SESSION]
        leases.append(lease)
        given.append(judgment)
    for judgment, lease in zip(given, Lease.objects.bulk_create(leases), strict=True):
        judgment.lease = lease
    Judgment.objects.bulk_create(given)


def measure(study: Any, n_rounds: int, n_new: int = N_NEW) -> None:  # noqa: ANN401 (as above)
    """Time the parts of a study's refit, in turns: after answers came in, as they always do."""
    from annotation.models import Judgment  # noqa: PLC0415
    from ranking.judgments.frames.columns import read_judgments  # noqa: PLC0415 (as above)
    from ranking.judgments.frames.keeping import keep_counts  # noqa: PLC0415

    processes.forget_largest()  # that of making the rows
    first = milliseconds(lambda: keep_counts(study=study, now=timezone.now()))
    first_mb = processes.largest_mb(OWN)
    processes.forget_largest()
    rounds = [_round(study, n_new) for _ in range(n_rounds)]
    rounds_mb = processes.largest_mb(OWN)
    anew = milliseconds(partial(read_judgments, _people(study), is_anew=True))
    medians = {part: statistics.median(one[part] for one in rounds) for part in rounds[0]}
    refit = sum(medians.values()) - medians["scan"]
    sys.stdout.write(f"the first time all are counted: {first:.0f} ms, {first_mb:.0f} MiB\n")
    sys.stdout.write(f"before each round {n_new} answers come\n")
    sys.stdout.write(f"\n{Judgment.objects.count():,} judgments\n")
    for part, median in (medians | {"refit": refit, "count anew": anew}).items():
        sys.stdout.write(f"{part:<12}{median:>9.0f} ms{median / medians['scan']:>8.1f} scans\n")
    sys.stdout.write(f"peak memory of the rounds {rounds_mb:.0f} MiB\n")


def _round(study: Any, n_new: int) -> dict[str, float]:  # noqa: ANN401 (as above)
    """Let answers come in and refit; return how long each part takes."""
    from ranking.fits.estimate import estimate_ratings  # noqa: PLC0415 (models need the settings)
    from ranking.fits.services.claiming import method_of  # noqa: PLC0415
    from ranking.judgments.frames.columns import (  # noqa: PLC0415
        read_evaluators,
        read_judgments,
    )
    from ranking.judgments.frames.groups import read_stamps  # noqa: PLC0415
    from ranking.judgments.frames.keeping import keep_counts  # noqa: PLC0415

    answer(study, n_new)
    selection = _people(study)
    taken = _milliseconds(
        {
            "scan": scan,
            "keep": partial(keep_counts, study=study, now=selection.as_of),
            "look again": partial(keep_counts, study=study, now=selection.as_of),
            "stamp": partial(read_stamps, study=study, as_of=selection.as_of),
            "read": partial(read_judgments, selection),
            "evaluators": partial(read_evaluators, selection),
        }
    )
    judgments = read_judgments(selection)
    fit = partial(estimate_ratings, judgments, method_of(study))
    return taken | _milliseconds({"hash": judgments.inputs_hash, "fit": fit})


def _people(study: Any) -> Any:  # noqa: ANN401 (as above)
    """Select what people judged of a study until now."""
    from ranking.choices import ContextSet, EvaluatorPool  # noqa: PLC0415 (as above)
    from ranking.judgments.analysis_set import Selection  # noqa: PLC0415

    return Selection(study, EvaluatorPool.HUMAN, ContextSet.ALL, timezone.now())


def _milliseconds(tasks: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    return {name: milliseconds(task) for name, task in tasks.items()}


def main() -> None:
    """Measure one size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="a")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--new", type=int, default=N_NEW, help="answers that come before each")
    parser.add_argument("--marks", action="store_true")
    options = parser.parse_args()
    sys.stdout.write(f"{machine()}\n")
    with scratch_site():
        from benchmarks.refit_rows import Size, fill  # noqa: PLC0415 (models need the settings)

        study = fill(Size(*SIZES[options.size]), with_marks=options.marks)
        measure(study, options.rounds, options.new)


if __name__ == "__main__":
    main()
