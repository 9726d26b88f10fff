"""What a case is, which rules the models state, and which of them the database says was broken."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

from django.db import IntegrityError, connection
from django.db.models import BaseConstraint, Model, UniqueConstraint

from tests.helpers.rows import BUILDERS, our_models


@dataclass(frozen=True)
class Case:
    """One way to break a rule, and the nearest row that the rule must let through.

    A rule is a constraint's name, or ``Model.field`` for a unique column.
    """

    rule: str
    breaks: Callable[[], object]
    allows: Callable[[], object] | None = None
    label: str = ""
    or_says: str = ""
    """A rule that such a row breaks too: PostgreSQL tells of the one whose name comes first."""

    @property
    def name(self) -> str:
        return f"{self.rule}-{self.label}".removesuffix("-").replace(" ", "-")


def breaks(rule, label="", /, *, of=None, but=None, **wrong):
    """Return a case of a row that is refused with the ``wrong`` fields, and allowed without them.

    Where ``but`` is given, it is allowed with them once it has those of ``but`` too. Rows are made
    by the plain builder of the rule's table, with the fields of ``of``, or by ``of`` if that is a
    builder. Values that are builders are called when a row is made.
    """
    right = {} if but is None else wrong | but
    return Case(rule, _row(rule, of, wrong), _row(rule, of, right), label)


def limit(rule, label="", /, *, of=None, **pairs):
    """Return a case of fields, each with what is refused and the nearest that is allowed."""
    wrong, right = ({name: pair[n] for name, pair in pairs.items()} for n in (0, 1))
    return Case(rule, _row(rule, of, wrong), _row(rule, of, right), label)


def ways(rule, *rows):
    """Yield several cases of one rule: of what, a label, what is wrong, and perhaps but what."""
    for of, label, wrong, *but in rows:
        yield breaks(rule, label, of=of, but=but[0] if but else None, **wrong)


def given(rule, *fields):
    """Yield a case for each field that may not be empty, with its name as the label."""
    for field in fields:
        yield breaks(rule, field, **{field: ""})


def known(*columns):
    """Yield a case for each column that takes a few values alone, named as ``study_state``."""
    for column in columns:
        yield breaks(f"{column}_known", **{column.partition("_")[2]: "OTHER"})


def once(rule, /, *parents, label="", of=None, but=None, **shared):
    """Return a case of two rows that may not be alike in these fields, unless one has ``but``.

    Those of the ``parents`` lead to other rows, which their plain builders make. Where ``but`` is
    the name of a field, the row has another of the kind.
    """
    shared |= _plain_builders(rule, parents)
    if isinstance(but, str):
        but = {but: shared[but]}
    make = partial(_make, rule, of)
    allows = twice(make, **shared, changed=but) if but else None
    return Case(rule, twice(make, **shared), allows, label)


def once_within(rule, same, /, *parents, changed=None):
    """Return a case of two rows of the same ``parents`` that may not be alike in ``same`` as well.

    ``changed`` is what the second has otherwise in either case.
    """
    shared = _plain_builders(rule, parents)
    make = partial(_make, rule, None)
    refused, allowed = (twice(make, changed=changed, **alike) for alike in (shared | same, shared))
    return Case(rule, refused, allowed)


def twice(make, *, changed=None, **shared):
    """Return a function that makes two rows alike in the ``shared`` fields.

    ``changed`` is what the second has otherwise; values that are builders are called when it runs,
    those of the shared fields once for both rows.
    """

    def run():
        fields = _built(shared)
        make(**fields)
        return make(**fields | _built(changed or {}))

    return run


def _row(rule, of, fields):
    return lambda: _make(rule, of, **_built(fields))


def _make(rule, of, /, **fields):
    if callable(of):
        return of(**fields)
    return BUILDERS[_table_of(rule).__name__](**_built(of or {}) | fields)


def _plain_builders(rule, parents):
    """Return the plain builder of the row that each field of the rule's table leads to."""
    models = {name: _table_of(rule)._meta.get_field(name).related_model for name in parents}
    return {name: BUILDERS[model.__name__] for name, model in models.items()}


def _table_of(rule: str) -> type[Model]:
    """Return the model that states a rule."""
    return _tables()[rule.partition(".")[0]]


@cache
def _tables() -> dict[str, type[Model]]:
    """Return the models by their names, and by those of their constraints."""
    named = [(one.name, model) for model in our_models() for one in model._meta.constraints]
    return {model.__name__: model for model in our_models()} | dict(named)


def _built(fields):
    return {name: value() if callable(value) else value for name, value in fields.items()}


def rules() -> dict[str, str]:
    """Return every rule of our models, with what the database says when it is broken."""
    return {**_constraints(), **_unique_columns()}


def broken_rule(error: IntegrityError) -> str:
    """Return what the database says was broken, in the words of the values of ``rules``."""
    if connection.vendor == "sqlite":  # "CHECK constraint failed: name", "UNIQUE ...: columns"
        return str(error).partition("constraint failed: ")[2]
    diagnosis = error.__cause__.diag  # type: ignore[attr-defined, union-attr]  # psycopg's error has it
    return str(diagnosis.constraint_name or error)


def _constraints() -> dict[str, str]:
    return {
        constraint.name: _said_of(model, constraint)
        for model in our_models()
        for constraint in model._meta.constraints
    }


def _said_of(model: type[Model], constraint: BaseConstraint) -> str:
    if connection.vendor == "sqlite" and isinstance(constraint, UniqueConstraint):
        return _columns(model, constraint.fields)
    return constraint.name


def _unique_columns() -> dict[str, str]:
    return {
        f"{model.__name__}.{field.name}": _said_of_column(model, field)
        for model in our_models()
        for field in model._meta.local_concrete_fields
        if field.unique and not field.primary_key
    }


def _said_of_column(model, field) -> str:
    if connection.vendor == "sqlite":
        return _columns(model, [field.name])
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, model._meta.db_table)
    return next(
        name
        for name, facts in found.items()
        if facts["unique"] and facts["columns"] == [field.column] and not facts["primary_key"]
    )


def _columns(model, names) -> str:
    table = model._meta.db_table
    return ", ".join(f"{table}.{model._meta.get_field(name).column}" for name in names)
