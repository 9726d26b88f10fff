"""What the commands that bring catalogues into tables have in common."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from completions.systems.queries import variables_of
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


def how_asked(endpoint: Any) -> str:  # noqa: ANN401 (a system or judge)
    """Return a line on how a model is asked, and which of its variables the environment has."""
    at = f" at {endpoint.api_base}" if endpoint.api_base else ""
    variables = variables_of(endpoint).items()
    needs = "".join(f", {name} {'set' if is_set else 'MISSING'}" for name, is_set in variables)
    return f"  {endpoint.model_id} of {endpoint.family}{at}{needs}"


def _told(change: FieldChange) -> str:
    return f"{change.field}: {_short(change.before)} -> {_short(change.after)}"


def _short(value: object) -> str:
    text = str(value) or "nothing"
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."
