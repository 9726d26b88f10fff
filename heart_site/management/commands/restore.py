"""Command line of restoring."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from completions.management.acting import refusing
from heart_site.backups.services import restore_backup, try_restore
from heart_site.backups.state import BackupError
from ranking.judgments.method import code_version


class Command(BaseCommand):
    """Fill a fresh database from a backup, and verify it."""

    help = "Restore a backup into the fresh database that the settings name (docs/deployment.md)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the backup, and whether it is only tried."""
        parser.add_argument("backup", type=Path, help="folder that backup printed")
        parser.add_argument(
            "--try",
            action="store_true",
            dest="is_trial",
            help="restore into a scratch database beside the site's, verify, and drop it again",
        )

    def handle(self, *, backup: Path, is_trial: bool, **_options: Any) -> None:  # noqa: ANN401 (Django's signature)
        """Restore, and say what came back and what is still to do."""
        with refusing(BackupError):
            if is_trial:
                self.stdout.write(try_restore(backup, now=timezone.now()))
                return
            manifest, missing = restore_backup(backup)
        self.stdout.write(
            f"Restored the backup of {manifest.made_at}: {manifest.n_rows:,} rows in "
            f"{len(manifest.rows)} tables, all as saved."
        )
        if manifest.code != code_version():
            self.stdout.write("Other code made it: fits of the code that runs now will be new.")
        if missing:
            names = ", ".join(missing)
            self.stdout.write(f"It is older than this version. Run manage.py migrate: {names}")
