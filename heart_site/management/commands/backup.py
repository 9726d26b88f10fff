"""Command line of backups."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from completions.management.acting import RefusedError, refusing
from heart_site.backups.services import make_backup
from heart_site.backups.state import BackupError


class Command(BaseCommand):
    """Save database and files while the site runs."""

    help = "Save the database and the data folder (see docs/deployment.md)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare where, and how many stay."""
        parser.add_argument(
            "--out",
            type=Path,
            default=settings.HEART_BACKUP_DIR,
            help="folder of the backups (HEART_BACKUP_DIR)",
        )
        parser.add_argument("--keep", type=int, metavar="N", help="remove all but the newest N")

    def handle(self, *, out: Path, keep: int | None, **_options: Any) -> None:  # noqa: ANN401 (Django's signature)
        """Make the backup, and print its folder."""
        if keep is not None and keep < 1:
            msg = "--keep needs 1 at least: the backup just made stays."
            raise RefusedError(msg)
        with refusing(BackupError):
            folder = make_backup(out, now=timezone.now(), keep=keep)
        self.stdout.write(str(folder))
