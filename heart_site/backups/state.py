"""What the database at hand holds: tables, rows, migrations."""

from collections.abc import Iterable

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from heart_site.backups.manifest import BackupError


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


def applied() -> tuple[str, ...]:
    """Return the migrations that were applied, as ``app.name``, sorted."""
    return named(MigrationRecorder(connection).applied_migrations())


def named(migrations: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return migrations as ``app.name``, sorted."""
    return tuple(sorted(f"{app}.{name}" for app, name in migrations))


def of_this_version() -> set[str]:
    """Return the migrations that this version of the code has."""
    loader = MigrationLoader(None)
    return set(named(loader.disk_migrations or ()))


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
