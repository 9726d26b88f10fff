"""SQLite: its own online copy, while others go on writing."""

import sqlite3
from contextlib import closing
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.backends.sqlite3._functions import register  # type: ignore[import-untyped] # (ships no types)

from heart_site.backups.state import BackupError

FILE = "database.sqlite3"
WAIT_SECONDS = 60.0


def copy(folder: Path) -> Path:
    """Copy the database in one state, check the copy, and return where it is.

    In write-ahead mode one step of the copy is one state, and holds nobody up.
    """
    target = folder / FILE
    source = f"file:{_database()}?mode=ro"
    with (
        closing(sqlite3.connect(source, uri=True, timeout=WAIT_SECONDS)) as here,
        closing(sqlite3.connect(target)) as there,
    ):
        register(there)  # the functions that constraints ask
        here.backup(there, pages=-1)
        there.execute("PRAGMA journal_mode = DELETE")  # one file, whole by itself
        (verdict,) = there.execute("PRAGMA integrity_check").fetchone()
    if verdict != "ok":
        msg = f"The copy of the database is not sound: {verdict}."
        raise BackupError(msg)
    return target


def rows_of(path: Path, tables: list[str]) -> dict[str, int]:
    """Count the rows of a copy's tables."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as link:
        return {
            table: int(link.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0])  # noqa: S608
            for table in tables
        }


def migrations_of(path: Path) -> list[tuple[str, str]]:
    """Return the migrations applied in a copy."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as link:
        return list(link.execute("SELECT app, name FROM django_migrations"))


def load(folder: Path) -> None:
    """Fill the empty database from the copy; a failure leaves it empty."""
    connection.close()
    path = _database()
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        closing(sqlite3.connect(f"file:{folder / FILE}?mode=ro", uri=True)) as here,
        closing(sqlite3.connect(path, timeout=WAIT_SECONDS)) as there,
    ):
        here.backup(there)


def _database() -> Path:
    return Path(settings.DATABASES["default"]["NAME"])
