"""The database at hand: what it holds, and how it is saved and filled, on either engine.

SQLite has an online copy of its own, while others go on writing. PostgreSQL has pg_dump and
pg_restore, which find the password in their environment alone.
"""

import hashlib
import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import environ
from django.conf import settings
from django.db import connection, transaction
from django.db.backends.sqlite3._functions import register  # type: ignore[import-untyped] # (ships no types)
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from heart_site.backups.state import BackupError

COPY, DUMP = "database.sqlite3", "database.dump"
WAIT_SECONDS = 60.0
VARIABLES = {
    "host": "PGHOST",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
    "passfile": "PGPASSFILE",
    "service": "PGSERVICE",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "sslcert": "PGSSLCERT",
    "sslkey": "PGSSLKEY",
    "options": "PGOPTIONS",
}
HINT = "Debian: apt-get install postgresql-client, of the server's version or later"


def tables() -> list[str]:
    """Return the names of all tables, sorted."""
    return sorted(connection.introspection.table_names())


def rows() -> dict[str, int]:
    """Count the rows of all tables."""
    counted = {}
    with connection.cursor() as cursor:
        for table in tables():
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")  # noqa: S608
            (counted[table],) = cursor.fetchone()
    return counted


def of_this_version() -> set[str]:
    """Return the migrations that this version of the code has."""
    loader = MigrationLoader(None)
    return set(_named(loader.disk_migrations or ()))


def refuse_unless_empty() -> None:
    """Make sure that the database has no table.

    Raises
    ------
    BackupError
        If it has any; nothing is ever restored over something.
    """
    if found := tables():
        msg = (
            f"The database is not empty ({len(found)} tables, {found[0]} among them), and a backup "
            "is restored into a fresh one only. Create one and name it in DATABASE_URL or "
            "HEART_DATA_DIR."
        )
        raise BackupError(msg)


def save(folder: Path) -> tuple[str, dict[str, int], tuple[str, ...]]:
    """Save the database in one state below a folder.

    Returns
    -------
    tuple
        The version of the server or library, the rows of each table, and the migrations applied
        as ``app.name``, sorted: both of the very state that was saved.
    """
    if connection.vendor == "sqlite":
        with _refusing():
            return sqlite3.sqlite_version, *_read(_copy(folder), tables())
    server = _server_version()
    check_tool("pg_dump", server)
    with _snapshot() as name:
        found = rows(), _named(MigrationRecorder(connection).applied_migrations())
        dump(folder, seen_as=name)
    return server, *found


def load(folder: Path, *, server: str) -> None:
    """Fill the empty database from what a server of that version saved."""
    if connection.vendor == "sqlite":
        with _refusing():
            _load_copy(folder)
    else:
        check_tool("pg_restore", server)
        load_dump(folder)


@contextmanager
def scratch_database(place: Path) -> Iterator[str]:
    """Yield the address of a fresh database of the same kind as ours."""
    if connection.vendor == "sqlite":
        yield f"sqlite:///{(place / 'heart.sqlite3').as_posix()}"
    else:
        with _scratch_database(scratch_name()) as url:
            yield url


def scratch_name() -> str:
    """Return what the scratch database of ours is called: the same each time, and nobody else's."""
    digest = hashlib.sha256(connection.settings_dict["NAME"].encode()).hexdigest()
    return f"heart_restore_{digest[:12]}"


def _named(migrations: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return migrations as ``app.name``, sorted."""
    return tuple(sorted(f"{app}.{name}" for app, name in migrations))


@contextmanager
def _refusing() -> Iterator[None]:
    """Tell what SQLite cannot do, as on a full disk, like all else that keeps a backup from us."""
    try:
        yield
    except sqlite3.Error as error:
        msg = f"The database cannot be copied: {error}."
        raise BackupError(msg) from error


def _copy(folder: Path) -> Path:
    """Copy the database in one state, check the copy, and return where it is.

    In write-ahead mode one step of the copy is one state, and holds nobody up.
    """
    target = folder / COPY
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


def _read(path: Path, tables: list[str]) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the rows of a copy's tables, and the migrations applied in it."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as link:
        counted = {
            table: int(link.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0])  # noqa: S608
            for table in tables
        }
        return counted, _named(link.execute("SELECT app, name FROM django_migrations"))


def _load_copy(folder: Path) -> None:
    """Fill the empty database from the copy; a failure leaves it empty."""
    connection.close()
    path = _database()
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        closing(sqlite3.connect(f"file:{folder / COPY}?mode=ro", uri=True)) as here,
        closing(sqlite3.connect(path, timeout=WAIT_SECONDS)) as there,
    ):
        here.backup(there)


def _database() -> Path:
    return Path(settings.DATABASES["default"]["NAME"])


def _server_version() -> str:
    """Return the version of the server, such as ``15.20``."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        (version,) = cursor.fetchone()
    return str(version).split()[0]


def check_tool(tool: str, least: str) -> None:
    """Make sure that a tool is there and not older than a version.

    Raises
    ------
    BackupError
        If it is missing or older; the message says how to get it.
    """
    if shutil.which(tool) is None:
        msg = f"{tool} is not installed ({HINT})."
        raise BackupError(msg)
    said = _run([tool, "--version"])
    found = re.search(r"(\d+)[.\d]*", said)
    version = found.group() if found else "unknown"
    if found is None or int(found.group(1)) < _major(least):
        msg = f"{tool} is {version} and PostgreSQL {least}: {tool} must not be older ({HINT})."
        raise BackupError(msg)


@contextmanager
def _snapshot() -> Iterator[str]:
    """Hold one state of the database, and yield the name by which another session sees it."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SELECT pg_export_snapshot()")
            (name,) = cursor.fetchone()
        yield str(name)


def dump(folder: Path, *, seen_as: str) -> None:
    """Write the database, in the state that a snapshot holds, in the custom format."""
    path = str(folder / DUMP)
    way = ("--format=custom", "--no-owner", "--no-privileges")
    _run(["pg_dump", *way, f"--snapshot={seen_as}", f"--file={path}"])


def load_dump(folder: Path) -> None:
    """Fill the empty database, all or nothing."""
    database = _environment()["PGDATABASE"]
    way = ("--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction")
    _run(["pg_restore", *way, f"--dbname={database}", str(folder / DUMP)])


@contextmanager
def _scratch_database(name: str) -> Iterator[str]:
    """Create an empty database beside ours, yield its address, and drop it.

    One that a killed process left is dropped first, with whoever still fills it.

    Raises
    ------
    BackupError
        If the role that the site connects as may create none.
    """
    drop = ["dropdb", "--if-exists", "--force", name]
    try:
        _run(drop)
        _run(["createdb", name])
    except BackupError as error:
        msg = f"No database to restore into could be made: {error}"
        raise BackupError(msg) from error
    try:
        ours = environ.FileAwareEnv().str("DATABASE_URL")  # as the settings read it
        yield urlsplit(ours)._replace(path=f"/{name}").geturl()
    finally:
        _run(drop)


def _run(command: list[str]) -> str:
    done = subprocess.run(  # noqa: S603 (our own words)
        command, env=_environment(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        msg = f"{command[0]} failed: {done.stderr.strip()}"
        raise BackupError(msg)
    return done.stdout


def _environment() -> Mapping[str, str]:
    """Return the environment with the way to the database, which no list of processes shows."""
    parameters = connection.get_connection_params()
    way = {name: str(parameters[key]) for key, name in VARIABLES.items() if parameters.get(key)}
    return {**os.environ, **way}


def _major(version: str) -> int:
    return int(version.split(".", maxsplit=1)[0])
