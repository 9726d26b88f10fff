"""What exporting a million judgments costs: python -m benchmarks.exports [--judgments 42000].

A study is made inside a PostgreSQL database of its own, which is dropped in the end. Each form is
written by a process of its own, as the command does it, so that its peak is its own.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.scratch import scratch_site

MEBI = 2**10  # the system counts in KiB
MEGA = 1_000_000
SYSTEMS, CONTEXTS = 100, 5_000
STUDY = "bench"


def export(form: str) -> None:
    """Write all judgments in one form to a file, and tell rows, seconds, bytes and peak memory."""
    import django  # noqa: PLC0415 (the parent sets the environment)

    django.setup()
    from django.utils import timezone  # noqa: PLC0415

    from annotation.models import Judgment, Study  # noqa: PLC0415
    from completions.management.acting import put  # noqa: PLC0415
    from ranking.exports.options import ExportFormat, ExportRequest  # noqa: PLC0415
    from ranking.exports.sources import export_of  # noqa: PLC0415
    from ranking.exports.writing import written  # noqa: PLC0415

    study = Study.objects.get(slug=STUDY)
    at_rest = _peak()
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        table, rows = export_of(study, "judgments", ExportRequest(), now=timezone.now())
        blocks = written(table, rows, ExportFormat(form))
        path = put(blocks, Path(folder) / f"x.{form}", is_forced=False)
        seconds, size = time.perf_counter() - started, path.stat().st_size
    n = Judgment.objects.filter(comparison__study=study).count()
    sys.stdout.write(
        f"{form:<8} {n:>10,} rows {seconds:>7.1f} s {n / seconds:>8,.0f} rows/s "
        f"{size / MEGA:>7.0f} MB   peak {_peak():>4} MiB, {at_rest} before the first row\n"
    )


def _peak() -> int:
    """Return the peak in MiB; what getrusage tells begins with that of the parent."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) // MEBI
    msg = "the system does not tell the peak"
    raise RuntimeError(msg)


def main() -> None:
    """Make the study, and export it in every form."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgments", type=int, default=MEGA)
    parser.add_argument("--form", help="what the processes are started with")
    options = parser.parse_args()
    if options.form:
        export(options.form)
        return
    from benchmarks.simulation import machine  # noqa: PLC0415 (NumPy is not for who exports)

    sys.stdout.write(f"{machine()}\n")
    with scratch_site():
        from benchmarks.refit_rows import Size, fill  # noqa: PLC0415

        n_contexts = CONTEXTS if options.judgments >= MEGA else 300
        fill(Size(options.judgments, SYSTEMS, n_contexts), with_marks=True)
        for form in ("csv", "jsonl", "parquet"):
            command = [sys.executable, "-m", "benchmarks.exports", "--form", form]
            subprocess.run(command, check=True, env=dict(os.environ))  # noqa: S603 (our own words)


if __name__ == "__main__":
    main()
