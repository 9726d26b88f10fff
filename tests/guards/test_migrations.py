"""The migrations say what the models say, and old code works on new tables: later ones only add.

How versions are rolled out is in docs/deployment.md.
"""

import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, migrations, models
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ModelState, ProjectState

from tests.helpers.rows import APPS, our_models


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


BEFORE = {"access": 1, "annotation": 1, "completions": 1, "ranking": 1}
"""The newest migration of each app when the rule was made."""
GROWING = {
    *("access.logentry", "access.hookdelivery"),
    *("annotation.comparison", "annotation.lease", "annotation.judgment", "annotation.judgecall"),
    *("annotation.dimensionmark", "annotation.rationalecall", "annotation.themelabel"),
    *("completions.completion", "completions.generationcall"),
    *("completions.strategycall", "completions.strategylabel"),
}
"""Tables that grow with judgments, calls or what happens."""
GONE = (
    migrations.RemoveField,
    migrations.RenameField,
    migrations.DeleteModel,
    migrations.RenameModel,
    migrations.AlterModelTable,
)


def is_at_hand_of_old_code(operation: migrations.AddField) -> bool:
    """Whether code that does not know the column can still insert rows."""
    field = operation.field
    return field.null or field.has_db_default() or field.many_to_many


def alters_a_column(operation: migrations.AlterField, app: str, before: ProjectState) -> bool:
    """Whether the database would notice: a further choice of a field is nothing to it."""
    model = before.models.get((app, operation.model_name_lower))
    if model is None or operation.name not in model.fields:
        return True
    old, new = model.fields[operation.name].clone(), operation.field.clone()
    for field in (old, new):
        field.set_attributes_from_name(operation.name)
    editor: Any = connection.schema_editor()
    return bool(editor._field_should_be_altered(old, new))


def wrong_with(operation: Operation, *, is_growing: bool, is_alone: bool) -> Iterator[str]:
    """Yield what is wrong with an operation, if anything is."""
    if isinstance(operation, GONE):
        yield "old code still names what goes"
    if isinstance(operation, migrations.AddField) and not is_at_hand_of_old_code(operation):
        yield "old code cannot insert: null=True or db_default"
    if isinstance(operation, migrations.AlterField):
        yield "old code, or a rewrite of the table, may stop at another type or range"
    if isinstance(operation, migrations.RunPython | migrations.RunSQL):
        yield "rows are changed under a lock: use a command that works in batches"
    if isinstance(operation, migrations.AddIndex) and is_growing and not is_alone:
        yield "an index on a growing table stands alone, so that it can be made without a lock"
    if type(operation) is migrations.AddConstraint and is_growing:
        yield "every row is read under a lock: AddConstraintNotValid, then ValidateConstraint"


def flat(operations: Sequence[Operation]) -> Iterator[Operation]:
    """Yield the operations on the database."""
    for operation in operations:
        if isinstance(operation, migrations.SeparateDatabaseAndState):
            yield from flat(operation.database_operations)
        else:
            yield operation


def complaints(app: str, operations: Sequence[Operation], before: ProjectState) -> list[str]:
    made = {one.name.lower() for one in operations if isinstance(one, migrations.CreateModel)}
    found: list[str] = []
    for one in flat(operations):
        model = getattr(one, "model_name", "").lower()
        if isinstance(one, migrations.AlterField) and not alters_a_column(one, app, before):
            continue
        if model not in made:  # nobody uses a new table yet
            is_growing, is_alone = f"{app}.{model}" in GROWING, len(operations) == 1
            found += wrong_with(one, is_growing=is_growing, is_alone=is_alone)
    return found


LOADER = MigrationLoader(None)
LATER = {
    key: migration
    for key, migration in LOADER.disk_migrations.items()
    if key[0] in BEFORE and int(key[1][:4]) > BEFORE[key[0]]
}


def test_later_migrations_only_add():
    wrong = {
        key: complaints(key[0], migration.operations, LOADER.project_state(key, at_end=False))
        for key, migration in LATER.items()
    }
    assert {key: words for key, words in wrong.items() if words} == {}


def test_the_rule_names_every_app_of_ours_and_tables_that_exist():
    assert set(BEFORE) == set(APPS)
    assert all(apps.get_model(label) for label in GROWING)


TEXT = models.CharField(max_length=9)
LONGER = models.CharField(max_length=10, choices=[("A", "a")])
WITH_CHOICES = models.CharField(max_length=9, choices=[("A", "a"), ("B", "b")])
INDEX = models.Index(fields=["state"], name="some_index")
BEFORE_THEM = ProjectState(
    {("annotation", "lease"): ModelState("annotation", "Lease", [("kind", TEXT)])}
)
CONSTRAINT = models.CheckConstraint(condition=models.Q(state="A"), name="some_rule")


@pytest.mark.parametrize(
    "operations",
    [
        [migrations.RemoveField("lease", "state")],
        [migrations.RenameField("lease", "state", "kind")],
        [migrations.DeleteModel("Lease")],
        [migrations.RenameModel("Lease", "Hold")],
        [migrations.AddField("lease", "kind", TEXT)],
        [migrations.AddField("lease", "kind", models.CharField(max_length=9, default="A"))],
        [migrations.AlterField("lease", "kind", LONGER)],
        [migrations.RunPython(migrations.RunPython.noop)],
        [migrations.RunSQL("SELECT 1")],
        [migrations.AddIndex("lease", INDEX), migrations.CreateModel("Other", [])],
        [migrations.AddConstraint("lease", CONSTRAINT)],
        [migrations.SeparateDatabaseAndState([migrations.DeleteModel("Lease")])],
    ],
    ids=lambda operations: operations[0].describe(),
)
def test_what_breaks_the_rule_is_found(operations):
    assert len(complaints("annotation", operations, BEFORE_THEM)) == 1


@pytest.mark.parametrize(
    "operations",
    [
        [migrations.AddField("lease", "kind", models.CharField(max_length=9, null=True))],
        [migrations.AddField("lease", "kind", models.CharField(max_length=9, db_default="A"))],
        [migrations.AlterField("lease", "kind", WITH_CHOICES)],
        [migrations.AddIndex("lease", INDEX)],
        [migrations.AddIndex("study", INDEX), migrations.CreateModel("Other", [])],
        [migrations.CreateModel("Lease", []), migrations.AddField("lease", "kind", TEXT)],
        [migrations.SeparateDatabaseAndState([], [migrations.RemoveField("lease", "state")])],
    ],
    ids=lambda operations: operations[0].describe(),
)
def test_what_only_adds_is_let_pass(operations):
    assert complaints("annotation", operations, BEFORE_THEM) == []
