"""Making a backup while the site runs."""

import datetime as dt
import os
import shutil
import sqlite3
from pathlib import Path

from django.conf import settings
from django.db import connection

from heart_site.backups import postgres, sqlite, state
from heart_site.backups.state import BACKUPS, NAME, BackupError, Manifest, checksums
from ranking.judgments.code import code_version

FILES = "files"
LEFT_OUT = ("secret-key", "in-use")
"""Files of the data folder that no backup holds: the secret is kept apart, the mark is no data."""


def make_backup(out: Path, *, now: dt.datetime, keep: int | None = None) -> Path:
    """Save database and data folder below ``out``, and return the folder of the backup.

    It has another name until it is whole. Of the backups there, the newest ``keep`` stay.

    Raises
    ------
    BackupError
        If it cannot be made; nothing is left behind, and no older one is removed.
    """
    folder = out / f"heart-{now:%Y%m%dT%H%M%SZ}"
    part = out / f".{folder.name}.part"
    if folder.exists():
        msg = f"{folder} is there already."
        raise BackupError(msg)
    before = os.umask(0o077)  # it holds people's data
    try:
        part.mkdir(parents=True)
        _save(part, out.resolve(), now)
        part.rename(folder)
    except OSError as error:
        msg = f"{folder} cannot be written: {error.strerror}."
        raise BackupError(msg) from error
    finally:
        os.umask(before)
        shutil.rmtree(part, ignore_errors=True)
    if keep is not None:
        for old in _backups(out)[:-keep]:
            shutil.rmtree(old)
    return folder


def _save(part: Path, out: Path, now: dt.datetime) -> None:
    _save_files(part / FILES, out)
    if connection.vendor == "sqlite":
        copied = sqlite.copy(part)
        server = sqlite3.sqlite_version
        rows = sqlite.rows_of(copied, state.tables())
        migrations = state.named(sqlite.migrations_of(copied))
    else:
        server = postgres.server_version()
        postgres.check_tool("pg_dump", server)
        with postgres.snapshot() as name:
            rows, migrations = state.rows(), state.applied()
            postgres.dump(part, seen_as=name)
    Manifest(
        made_at=now.isoformat(),
        code=code_version(),
        engine=connection.vendor,
        server=server,
        migrations=migrations,
        rows=rows,
        files=checksums(part),
    ).write(part)


def _save_files(target: Path, out: Path) -> None:
    """Copy the data folder without database, secret, marks and the backups themselves."""
    data = settings.HEART_DATA_DIR.resolve()
    if not data.is_dir():
        return
    database = Path(str(settings.DATABASES["default"]["NAME"])).name
    for path in sorted(data.iterdir()):
        is_database = connection.vendor == "sqlite" and path.name.startswith(database)
        are_backups = any(one.is_relative_to(path) for one in (out, settings.HEART_BACKUP_DIR))
        if is_database or path.name in LEFT_OUT or are_backups:
            continue
        target.mkdir(exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, target / path.name)
        else:
            shutil.copy2(path, target / path.name)


def _backups(out: Path) -> list[Path]:
    """Return the backups there, the oldest first."""
    return sorted(path for path in out.glob(BACKUPS) if (path / NAME).is_file())
