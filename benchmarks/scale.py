"""What a large study costs: python -m benchmarks.scale [--judgments N] [--comparisons N].

A study of people is made inside a PostgreSQL database of its own, which is dropped in the end:
285,000 comparisons, of which as many are judged, five times each, as there are to be judgments.
Told are the sizes of the tables, the lists of the API page by page, the refit beside a scan of the
judgments, and every page of the console. Marked is what is above the goals. Needs DATABASE_URL or
a server as the tests do. ``--only refit`` leaves the rest out.
"""

import argparse
import sys
import time
from collections.abc import Callable

from benchmarks import console, refit
from benchmarks.scratch import scratch_site
from benchmarks.simulation import machine

PARTS = ("sizes", "lists", "refit", "pages")
ROUNDS = 3


def main() -> None:
    """Measure one size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgments", type=int, default=1_000_000)
    parser.add_argument("--comparisons", type=int, default=285_000)
    parser.add_argument("--raters", type=int, default=5_000)
    parser.add_argument("--only", choices=PARTS, nargs="+", default=PARTS)
    options = parser.parse_args()
    sys.stdout.write(f"{machine()}\n")
    with scratch_site():
        from benchmarks import refit_rows, scale_tables  # noqa: PLC0415 (models need the settings)

        started = time.perf_counter()
        study = refit_rows.fill_open(
            options.judgments, options.comparisons, n_raters=options.raters
        )
        sys.stdout.write(f"rows made in {time.perf_counter() - started:.0f} s\n")
        parts: dict[str, Callable[[], None]] = {
            "sizes": scale_tables.tell_sizes,
            "lists": lambda: scale_tables.tell_lists(study),
            "refit": lambda: refit.measure(study, ROUNDS),
            "pages": lambda: console.measure(study, options.judgments),
        }
        for part in options.only:
            parts[part]()


if __name__ == "__main__":
    main()
