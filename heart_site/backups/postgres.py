"""PostgreSQL: pg_dump and pg_restore, with the password in their environment alone."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import environ
from django.db import connection, transaction

from heart_site.backups.state import BackupError

FILE = "database.dump"
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


def server_version() -> str:
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
def snapshot() -> Iterator[str]:
    """Hold one state of the database, and yield the name by which another session sees it."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SELECT pg_export_snapshot()")
            (name,) = cursor.fetchone()
        yield str(name)


def dump(folder: Path, *, seen_as: str) -> None:
    """Write the database, in the state that a snapshot holds, in the custom format."""
    path = str(folder / FILE)
    way = ("--format=custom", "--no-owner", "--no-privileges")
    _run(["pg_dump", *way, f"--snapshot={seen_as}", f"--file={path}"])


def load(folder: Path) -> None:
    """Fill the empty database, all or nothing."""
    database = _environment()["PGDATABASE"]
    way = ("--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction")
    _run(["pg_restore", *way, f"--dbname={database}", str(folder / FILE)])


@contextmanager
def scratch_database(name: str) -> Iterator[str]:
    """Create an empty database beside ours, yield its address, and drop it.

    Raises
    ------
    BackupError
        If the role that the site connects as may create none.
    """
    try:
        _run(["createdb", name])
    except BackupError as error:
        msg = f"No database to restore into could be made: {error}"
        raise BackupError(msg) from error
    try:
        ours = environ.FileAwareEnv().str("DATABASE_URL")  # as the settings read it
        yield urlsplit(ours)._replace(path=f"/{name}").geturl()
    finally:
        _run(["dropdb", "--if-exists", "--force", name])


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
