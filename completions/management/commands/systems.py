"""Command line of systems: bring a catalogue into the table, and list what is there."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import QuerySet
from django.utils import timezone

from completions.files.refusals import counted
from completions.management import assisting
from completions.management.acting import refusing
from completions.models import System
from completions.systems import catalogue, queries
from completions.systems.services.syncing import sync_systems


class Command(BaseCommand):
    """Register the systems that completions are wanted from."""

    help = "Register systems from catalogue files, and list those that are registered."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the actions and their options."""
        actions = parser.add_subparsers(dest="action", required=True)
        sync = actions.add_parser("sync", help="Add and change systems as catalogue files say.")
        assisting.add_catalogue_arguments(sync)
        actions.add_parser("list", help="List systems, and what their calls still need.")
        assisting.add_check_arguments(
            actions.add_parser("check", help="Ask systems one cheap question.")
        )

    def handle(self, *_args: object, **options: object) -> None:
        """Run the action; exit code 1 tells of refused systems, 2 of files that cannot be used."""
        arguments = argparse.Namespace(**options)
        if arguments.action == "list":
            for line in _listed(queries.counted_systems().order_by("slug")):
                self.stdout.write(line)
        elif arguments.action == "check":
            self._check(arguments)
        else:
            self._sync(arguments.files or catalogue.shipped(), is_dry_run=arguments.dry_run)

    def _check(self, options: argparse.Namespace) -> None:
        """Ask for a greeting, as systems are asked for a completion."""
        models = System.objects.filter(retired_at=None).exclude(model_id="")
        slugs = options.slugs or list(models.values_list("slug", flat=True))
        with refusing(queries.UnknownSystemError):
            found = queries.models_named(slugs) if slugs else []
        self.stdout.write(assisting.check(found, in_json=False, as_json=options.json))

    def _sync(self, files: tuple[Path, ...], *, is_dry_run: bool) -> None:
        with refusing(catalogue.CatalogueError):
            found = catalogue.load_catalogues(files)
        report = sync_systems(entries=found.system, now=timezone.now(), is_dry_run=is_dry_run)
        for line in assisting.reported(report):
            self.stdout.write(line)
        for one in found.computed:
            self.stdout.write(f"computed  {one.slug}: made of {one.of}, has no row")
        if is_dry_run:
            self.stdout.write("Nothing was written.")
        if msg := assisting.refusal(report, is_dry_run=is_dry_run):
            raise CommandError(msg, returncode=assisting.REFUSED)


def _listed(systems: QuerySet[Any]) -> Iterator[str]:
    """Yield a line or two for each system: what it is, and how it is asked."""
    if not systems:
        yield "No systems yet: `manage.py systems sync` registers those of the catalogue."
    for row in systems:
        kind = row.get_kind_display().lower()
        kind = f"{kind}, simulated" if row.is_simulated else kind
        yield f"{row.slug}: {row.name} ({kind}), {counted(row.n_completions, 'completion')}"
        if row.model_id:
            yield assisting.how_asked(row)
