"""Command line of systems: bring a catalogue into the table, and list what is there."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from completions import catalogue, system_selectors
from completions.services.catalogue import Change, SyncReport, sync_systems
from completions.system_selectors import SystemRow

BAD_INPUT = 2
REFUSED = 1
_LONGEST_VALUE = 60


class Command(BaseCommand):
    """Register the systems that completions are wanted from."""

    help = "Register systems from catalogue files, and list those that are registered."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the actions and their options."""
        actions = parser.add_subparsers(dest="action", required=True)
        sync = actions.add_parser("sync", help="Add and change systems as catalogue files say.")
        sync.add_argument(
            "files",
            nargs="*",
            type=Path,
            metavar="FILE",
            help="Catalogue files; without any, those that come with the platform.",
        )
        sync.add_argument("--dry-run", action="store_true", help="Report, and write nothing.")
        actions.add_parser("list", help="List systems, and what their calls still need.")

    def handle(self, *_args: object, **options: object) -> None:
        """Run the action; exit code 1 tells of refused systems, 2 of files that cannot be used."""
        asked = argparse.Namespace(**options)
        if asked.action == "list":
            for line in _listed(system_selectors.system_rows(os.environ)):
                self.stdout.write(line)
        else:
            self._sync(asked.files or catalogue.shipped(), is_dry_run=asked.dry_run)

    def _sync(self, files: tuple[Path, ...], *, is_dry_run: bool) -> None:
        try:
            found = catalogue.load_catalogues(files)
        except catalogue.CatalogueError as error:
            raise CommandError(str(error), returncode=BAD_INPUT) from error
        report = sync_systems(entries=found.system, now=timezone.now(), is_dry_run=is_dry_run)
        for line in _reported(report):
            self.stdout.write(line)
        for one in found.computed:
            self.stdout.write(f"computed  {one.slug}: made of {one.of}, has no row")
        if is_dry_run:
            self.stdout.write("Nothing was written.")
        if report.refused:
            others = "nothing was written" if is_dry_run else "the others are in the table"
            msg = f"{len(report.refused)} refused, as told above; {others}."
            raise CommandError(msg, returncode=REFUSED)


def _reported(report: SyncReport) -> Iterator[str]:
    """Yield a line for each system that was not as the catalogue says, then the counts."""
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


def _told(change: Change) -> str:
    return f"{change.field}: {_short(change.before)} -> {_short(change.after)}"


def _short(value: object) -> str:
    text = str(value) or "nothing"
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def _listed(rows: list[SystemRow]) -> Iterator[str]:
    """Yield a line or two for each system: what it is, and how it is asked."""
    if not rows:
        yield "No systems yet: `manage.py systems sync` registers those of the catalogue."
    for row in rows:
        kind = f"{row.kind.lower()}, simulated" if row.is_simulated else row.kind.lower()
        yield f"{row.slug}: {row.name} ({kind}), {row.n_completions:,} completions"
        if row.model_id:
            at = f" at {row.api_base}" if row.api_base else ""
            yield f"  {row.model_id} of {row.family}{at}{_needs(row)}"


def _needs(row: SystemRow) -> str:
    """Say which variables the environment has for its calls, never what they hold."""
    said = (f"{name} {'set' if is_set else 'MISSING'}" for name, is_set in row.variables.items())
    return "".join(f", {one}" for one in said)
