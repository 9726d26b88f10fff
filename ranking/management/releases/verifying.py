"""``release verify``: check a release by its files alone."""

import argparse
import json
from pathlib import Path

from completions.management.actions import Action
from completions.management.progress import Progress


class UnsoundReleaseError(Exception):
    """A release is not what it should be; the message is the whole report."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the folder."""
    parser.add_argument("folder", type=Path, help="the folder of a release")
    parser.add_argument("--quick", action="store_true", help="of analyses, agreement alone")
    parser.add_argument("--json", action="store_true", help="print all of the report as JSON")


def run(options: argparse.Namespace, progress: Progress) -> str:
    """Say whether everything in the folder is what it should be; no database is asked.

    Raises
    ------
    UnsoundError
        If something is not.
    """
    from ranking.release_check import verify  # noqa: PLC0415 (others need not wait for SciPy)

    report = verify(options.folder, is_quick=options.quick, tell=progress.say)
    said = json.dumps(report.as_json()) if options.json else report.as_text()
    if not report.is_sound:
        raise UnsoundReleaseError(said)
    return said


ACTION = Action("verify", "Check a release by its files alone.", add_arguments, run)
