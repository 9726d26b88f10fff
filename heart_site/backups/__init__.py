"""Backups of a site that runs, and their verified restore (docs/deployment.md, ADR-0064)."""

from heart_site.backups.making import make_backup
from heart_site.backups.restoring import Restored, restore_backup, try_restore
from heart_site.backups.state import BackupError, Manifest, kept_backups

__all__ = [
    "BackupError",
    "Manifest",
    "Restored",
    "kept_backups",
    "make_backup",
    "restore_backup",
    "try_restore",
]
