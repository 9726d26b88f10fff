"""One database is migrated once for a checkout; every test process works on a copy of it.

It is made anew when a migration changes. SQLite's lies in pytest's cache, PostgreSQL's on the
server, under a name that follows from the path of the checkout; names of copies tell the process,
so that runs at one time keep out of each other's way.
"""

import fcntl
import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.test import TransactionTestCase

CHECKOUT = Path(__file__).resolve().parents[1]
MIGRATED = {"django_migrations", "django_content_type", "auth_permission"}
"""Tables that a migrated database has rows in, which no test changes."""


@contextmanager
def copied_database(cache: Path) -> Iterator[None]:
    """Lead the default connection to a fresh copy of the migrated database, for the block."""
    real = str(connection.settings_dict["NAME"])
    is_file = connection.vendor == "sqlite"
    name = str(_creation()._get_test_db_name()) if is_file else f"{_template()}_{os.getpid()}"
    connection.close()
    make, remove = (_copy_file, _forget) if is_file else (_copy_on_server, _drop)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the first process migrates, the others wait for it
        make(cache, name)
    try:
        yield
    finally:
        connection.close()
        _lead_to(real)
        remove(name)


def begin_migrated(cache: Path, folder: Path) -> None:
    """Let a site of its own in ``folder`` find its tables made, where the tests run on SQLite."""
    template = cache / f"{fingerprint()}.sqlite3"
    if not template.exists():
        return
    with (
        closing(sqlite3.connect(template)) as migrated,
        closing(sqlite3.connect(folder / "heart.sqlite3")) as copy,
    ):
        migrated.backup(copy)
        copy.execute("PRAGMA journal_mode = WAL")  # as migrating leaves it


def delete_all_rows(_test: TransactionTestCase) -> None:
    """Leave the database as it was migrated, after a test that committed.

    Django's own way, to truncate every table and fill those of permissions again, takes a hundred
    times as long. Foreign keys are checked at the end of the transaction, so any order will do.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        for table in set(connection.introspection.table_names(cursor)) - MIGRATED:
            cursor.execute(f"DELETE FROM {connection.ops.quote_name(table)}")  # noqa: S608


def fingerprint() -> str:
    """Return a hash of every migration of every application."""
    digest = hashlib.sha256()
    for app in sorted(apps.get_app_configs(), key=lambda app: app.label):
        for file in sorted(Path(app.path).glob("migrations/*.py")):
            digest.update(f"{app.label}/{file.name}\n".encode() + file.read_bytes())
    return digest.hexdigest()


def _creation() -> Any:
    """Return what creates databases: django-stubs leaves its private half out."""
    return connection.creation


def _lead_to(name: str) -> None:
    settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = name


def _migrate(name: str) -> None:
    _lead_to(name)
    call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
    connection.close()


def _copy_file(cache: Path, name: str) -> None:
    template = cache / f"{fingerprint()}.sqlite3"
    if not template.exists():
        for outdated in cache.glob("*.sqlite3*"):
            outdated.unlink()
        unfinished = cache / "unfinished.sqlite3"
        _migrate(str(unfinished))
        unfinished.rename(template)
    _lead_to(name)
    connection.ensure_connection()
    with closing(sqlite3.connect(template)) as migrated:
        migrated.backup(connection.connection)


def _forget(_name: str) -> None:
    """A database in memory ends with its last connection."""


def _template() -> str:
    return f"heart_tests_{hashlib.sha256(bytes(CHECKOUT)).hexdigest()[:12]}"


def _copy_on_server(_cache: Path, name: str) -> None:
    template, wanted = _template(), fingerprint()
    with _creation()._nodb_cursor() as cursor:
        cursor.execute(
            "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s",
            [template],
        )
        if cursor.fetchone() != (wanted,):
            cursor.execute(f"DROP DATABASE IF EXISTS {template} WITH (FORCE)")
            cursor.execute(f"CREATE DATABASE {template}")
            _migrate(template)
            cursor.execute(f"COMMENT ON DATABASE {template} IS '{wanted}'")
        cursor.execute("SELECT datname FROM pg_database")
        for (there,) in cursor.fetchall():
            if there == name or _is_left(there, template):
                cursor.execute(f"DROP DATABASE {there} WITH (FORCE)")
        cursor.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    _lead_to(name)


def _is_left(database: str, template: str) -> bool:
    """Say whether it is the copy of a process that was killed."""
    head, _, pid = database.rpartition("_")
    if head != template or not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _drop(name: str) -> None:
    with _creation()._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")
