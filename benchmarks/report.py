"""What a study's report, release and pages cost: python -m benchmarks.report [--judgments N].

A study of people and LLM judges with all that analyses ask for is made inside a PostgreSQL
database of its own, which is dropped in the end. Needs DATABASE_URL or a server as the tests do.
On a busy machine, processor seconds tell more than those on the wall.
"""

import argparse
import sys
import time

from benchmarks.scratch import scratch_site
from benchmarks.simulation import machine

N_EARLIER = 400  # fits before the newest, for the history


def measure(n_judgments: int, *, each_selection: bool) -> None:
    """Make the study, its report, its release, and its pages."""
    from benchmarks import report_costs  # noqa: PLC0415 (models need the settings)
    from benchmarks.report_rows import fill_report, repeat_fit  # noqa: PLC0415

    started = time.perf_counter()
    study = fill_report(n_judgments)
    sys.stdout.write(f"rows made in {time.perf_counter() - started:.1f} s\n\n")
    fits = report_costs.make_fits(study)
    report_costs.measure_report(fits, each_selection=each_selection)
    report_costs.measure_release(study)
    repeat_fit(fits[0], N_EARLIER)
    sys.stdout.write("\n")
    report_costs.measure_pages(fits[0])


def main() -> None:
    """Measure one size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgments", type=int, default=42_000)
    parser.add_argument("--preferred", action="store_true", help="not the other selections")
    options = parser.parse_args()
    sys.stdout.write(f"{machine()}\n")
    with scratch_site(HEART_LOG_LEVEL="WARNING"):
        measure(options.judgments, each_selection=not options.preferred)


if __name__ == "__main__":
    main()
