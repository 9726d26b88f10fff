"""What the commands that bring catalogues into tables have in common."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from completions.systems.services.syncing import FieldChange, SyncReport

REFUSED = 1
"""The exit code that tells of refused entries."""
_LONGEST_VALUE = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the files and the dry run."""
    parser.add_argument(
        "files",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="Catalogue files; without any, those that come with the platform.",
    )
    parser.add_argument("--dry-run", action="store_true", help="Report, and write nothing.")


def reported(report: SyncReport) -> Iterator[str]:
    """Yield a line for each entry that was not as the catalogue says, then the counts."""
    for slug in report.added:
        yield f"added     {slug}"
    for slug, changes in report.changed.items():
        yield f"changed   {slug}: {'; '.join(map(_told, changes))}"
    for slug, reason in report.refused.items():
        yield f"refused   {slug}: {reason}"
    yield (
        f"{len(report.added)} added, {len(report.changed)} changed, "
        f"{len(report.unchanged)} unchanged, {len(report.refused)} refused"
    )


def refusal(report: SyncReport, *, is_dry_run: bool) -> str:
    """Return the last line of a report with refused entries, or nothing if there is none."""
    others = "nothing was written" if is_dry_run else "the others are in the table"
    return f"{len(report.refused)} refused, as told above; {others}." if report.refused else ""


def needs(variables: Mapping[str, bool]) -> str:
    """Say which variables the environment has for a row's calls, never what they hold."""
    said = (f"{name} {'set' if is_set else 'MISSING'}" for name, is_set in variables.items())
    return "".join(f", {one}" for one in said)


def _told(change: FieldChange) -> str:
    return f"{change.field}: {_short(change.before)} -> {_short(change.after)}"


def _short(value: object) -> str:
    text = str(value) or "nothing"
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."
