"""What an import costs beside json.load: python -m benchmarks.importing FILE [--rounds N]."""

import argparse
import json
import os
import secrets
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import django
from django.core.management import call_command
from django.utils import timezone

from benchmarks import simulation
from completions.dialogues.ingest.files import read_dialogues


def time_rounds(task: Callable[[int], object], n_rounds: int) -> float:
    """Return the median seconds of a task that is told which round it is."""
    taken = []
    for number in range(n_rounds):
        started = time.perf_counter()
        task(number)
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def prepare_database(folder: str) -> None:
    """Set the site up on a new SQLite file in the folder."""
    os.environ["DATABASE_URL"] = f"sqlite:///{folder}/db.sqlite3"
    os.environ["HEART_DATA_DIR"] = folder
    os.environ.pop("HEART_SECRET_KEY_FILE", None)
    os.environ["HEART_SECRET_KEY"] = secrets.token_urlsafe(50)
    os.environ["DJANGO_SETTINGS_MODULE"] = "heart_site.settings"
    django.setup()
    call_command("migrate", verbosity=0)


def time_import(file: Path, n_rounds: int) -> float:
    """Return the median seconds of imports, each into a dataset of its own."""
    from completions.dialogues import importing  # noqa: PLC0415 (models need the settings)

    return time_rounds(
        lambda number: importing.import_dialogues(
            dataset_name=f"Round {number}",
            dialogues=read_dialogues(file),
            now=timezone.now(),
        ),
        n_rounds,
    )


def main() -> None:
    """Time the three steps on one file and a fresh database."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    file: Path = options.file
    n_dialogues = sum(1 for _ in read_dialogues(file))
    with tempfile.TemporaryDirectory() as folder:
        prepare_database(folder)
        taken = {
            "json.load": time_rounds(lambda _: json.loads(file.read_bytes()), options.rounds),
            "read and checked": time_rounds(
                lambda _: sum(1 for _ in read_dialogues(file)), options.rounds
            ),
            "imported into SQLite": time_import(file, options.rounds),
        }
    sys.stdout.write(f"{simulation.machine()}; {n_dialogues:,} records, {options.rounds} rounds\n")
    for step, seconds in taken.items():
        ratio = seconds / taken["json.load"]
        sys.stdout.write(f"{step:<22}{seconds:>8.3f} s {ratio:>7.1f} x\n")


if __name__ == "__main__":
    main()
