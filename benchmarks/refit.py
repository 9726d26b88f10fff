"""What a refit costs beside a scan of the judgments: python -m benchmarks.refit [--size b].

A study is made inside a PostgreSQL database of its own, which is dropped in the end. Needs
DATABASE_URL or a server as the tests do. Scan and refit take turns, and the ratio counts.
"""

import argparse
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from django.db import connection
from django.utils import timezone

from benchmarks.scratch import scratch_site
from benchmarks.simulation import machine

MEBI = 2**10  # resource counts in KiB
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


def measure(study: Any, n_rounds: int) -> None:  # noqa: ANN401 (models need the settings)
    """Time the parts of a study's refit, in turns."""
    from ranking.choices import ContextSet, EvaluatorPool  # noqa: PLC0415
    from ranking.fits.estimate import estimate_ratings  # noqa: PLC0415
    from ranking.fits.services.claiming import method_of  # noqa: PLC0415
    from ranking.judgments import frames  # noqa: PLC0415 (as above)
    from ranking.judgments.frames import Selection  # noqa: PLC0415

    selection = Selection(study, EvaluatorPool.HUMAN, ContextSet.ALL, timezone.now())
    judgments = frames.read_judgments(selection)
    tasks: dict[str, Callable[[], object]] = {
        "scan": scan,
        "stamp": lambda: frames.read_stamps(study=study, as_of=selection.as_of),
        "read": lambda: frames.read_judgments(selection),
        "evaluators": lambda: frames.read_evaluators(selection),
        "hash": judgments.inputs_hash,
        "fit": lambda: estimate_ratings(judgments, method_of(study)),
    }
    rounds = [[milliseconds(task) for task in tasks.values()] for _ in range(n_rounds)]
    taken = dict(zip(tasks, np.median(rounds, axis=0).tolist(), strict=True))
    refit = taken["read"] + taken["evaluators"] + taken["hash"] + taken["fit"]
    sys.stdout.write(f"\n{judgments.n_judgments:,} judgments, {len(judgments.systems)} systems\n")
    for task, median in (taken | {"refit": refit}).items():
        sys.stdout.write(f"{task:<12}{median:>9.0f} ms{median / taken['scan']:>8.1f} scans\n")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // MEBI
    sys.stdout.write(f"peak memory {peak} MiB\n")


def main() -> None:
    """Measure one size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="a")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--marks", action="store_true")
    asked = parser.parse_args()
    sys.stdout.write(f"{machine()}\n")
    with scratch_site():
        from benchmarks.refit_rows import Size, fill  # noqa: PLC0415 (models need the settings)

        study = fill(Size(*SIZES[asked.size]), with_marks=asked.marks)
        measure(study, asked.rounds)


if __name__ == "__main__":
    main()
