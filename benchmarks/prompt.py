"""What the commands on a file of judgments cost: python -m benchmarks.prompt [--rows N]."""

import argparse
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import simulation

ROOT = Path(__file__).resolve().parents[1]
HEADER = (
    "context_id,system_a,system_b,rater_id,judge_kind,winner,strength,rationale,"
    "length_a,length_b,pair_id\n"
)
N_SYSTEMS = 100
N_CONTEXTS = 5_000
N_RATERS = 500
MEBIBYTE = 2**20


@dataclass(frozen=True)
class Cost:
    """What runs of a command took: medians of seconds, and the most memory of any."""

    elapsed_s: float
    cpu_s: float
    peak_bytes: int


def write_judgments(path: Path, n_rows: int, rng: np.random.Generator) -> None:
    """Write judgments made up from known strengths, with ties, strengths and rationales."""
    first = rng.integers(0, N_SYSTEMS, n_rows)
    second = (first + rng.integers(1, N_SYSTEMS, n_rows)) % N_SYSTEMS
    theta = rng.normal(size=N_SYSTEMS)
    ahead = theta[first] - theta[second] + rng.logistic(size=n_rows)
    winner = np.where(np.abs(ahead) < 0.3, "tie", np.where(ahead > 0, "a", "b"))  # noqa: PLR2004
    strength = np.where(winner == "tie", "", rng.integers(1, 6, n_rows).astype(str))
    context = rng.integers(0, N_CONTEXTS, n_rows)
    rater = rng.integers(0, N_RATERS, n_rows)
    length = rng.integers(20, 400, (2, n_rows))
    columns = zip(context, first, second, rater, winner, strength, *length, strict=True)
    with path.open("w", encoding="utf-8") as stream:
        stream.write(HEADER)
        stream.writelines(
            f"context-{c},system-{a:03d},system-{b:03d},rater-{r},human,{w},{s},"
            f"names the loss and stays with it,{m},{n},\n"
            for c, a, b, r, w, s, m, n in columns
        )


def measure(command: list[str], n_rounds: int) -> Cost:
    """Run a command of ``manage.py`` as from a shell, start-up included."""
    elapsed, cpu, peak = [], [], 0
    for _ in range(n_rounds):
        started = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603 (our own command)
            [sys.executable, "manage.py", *command], cwd=ROOT, stdout=subprocess.DEVNULL
        )
        _, status, used = os.wait4(process.pid, 0)
        if status:
            raise subprocess.CalledProcessError(status, command)
        elapsed.append(time.perf_counter() - started)
        cpu.append(used.ru_utime + used.ru_stime)
        peak = max(peak, used.ru_maxrss * 1024)
    return Cost(statistics.median(elapsed), statistics.median(cpu), peak)


def main() -> None:
    """Time both commands on one file, and an idle command for what start-up takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    os.environ.setdefault("HEART_SECRET_KEY", "benchmark")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "judgments.csv"
        # In a process of its own: the memory of this one would count as that of its children.
        writer = multiprocessing.get_context("spawn").Process(
            target=write_judgments, args=(file, options.rows, np.random.default_rng(20260105))
        )
        writer.start()
        writer.join()
        size = file.stat().st_size / MEBIBYTE
        sys.stdout.write(f"{simulation.machine()}; load {os.getloadavg()[0]:.1f}\n")
        sys.stdout.write(f"{options.rows:,} rows, {size:.0f} MiB, {options.rounds} rounds\n")
        for name, command in {
            "start-up alone": ["rank", "--help"],
            "rank": ["rank", str(file)],
            "agreement": ["agreement", str(file)],
        }.items():
            cost = measure(command, options.rounds)
            sys.stdout.write(
                f"{name:<16}{cost.elapsed_s:>7.2f} s {cost.cpu_s:>7.2f} s of processor "
                f"{cost.peak_bytes / MEBIBYTE:>6.0f} MiB\n"
            )


if __name__ == "__main__":
    main()
