"""The migrations say what the models say."""

import io
import re

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from tests.heart_site.constraints.rules import APPS, our_models


@pytest.mark.django_db
def test_no_migration_is_missing():
    out = io.StringIO()

    call_command("makemigrations", check=True, dry_run=True, skip_checks=True, stdout=out)

    assert out.getvalue().strip() == "No changes detected"


def test_every_migration_of_ours_has_a_name_that_says_what_it_does():
    ours = [name for app, name in MigrationLoader(None).disk_migrations if app in APPS]

    assert ours
    assert [name for name in ours if "_auto_" in name] == []


@pytest.mark.django_db
def test_the_database_has_every_constraint_that_the_models_name():
    with connection.cursor() as cursor:
        missing = {
            constraint.name
            for model in our_models()
            for constraint in model._meta.constraints
            if constraint.name not in _named_in_the_database(cursor, model._meta.db_table)
        }

    assert missing == set()


def _named_in_the_database(cursor, table):
    """On SQLite by the stored statements: its introspection stops at the escape of a LIKE."""
    if connection.vendor != "sqlite":
        return connection.introspection.get_constraints(cursor, table)
    cursor.execute("SELECT sql FROM sqlite_master WHERE tbl_name = %s", [table])
    return re.findall(r'"(\w+)"', " ".join(sql or "" for (sql,) in cursor.fetchall()))


@pytest.mark.django_db
def test_every_migration_is_applied_from_an_empty_database():
    executor = MigrationExecutor(connection)

    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []
