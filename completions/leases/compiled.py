"""Statements that are compiled to SQL once and run with other values after that (ADR-0005).

Django makes the SQL of a query anew each time, which takes several times as long as running it. For
what every answer of every rater does, that is most of the time there is.
"""

import datetime as dt
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar, cast

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.db.models import Field, Model, QuerySet
from django.db.models.query import get_related_populators
from django.db.models.sql import InsertQuery, UpdateQuery
from django.db.models.sql.compiler import SQLCompiler

Row = TypeVar("Row", bound=Model)
FIRST_NUMBER = 29_001  # of what stands in for values while a statement is compiled
STAND_INS: dict[type, Callable[[int], object]] = {
    int: int,
    str: "stand-in {}".format,
    uuid.UUID: lambda number: uuid.UUID(int=number),
    dt.datetime: lambda number: dt.datetime.fromtimestamp(number, tz=dt.UTC),
}
PLAIN = frozenset(
    {"BooleanField", "CharField", "DateTimeField", "FloatField", "ForeignKey", "TextField"}
    | {f"{size}IntegerField" for size in ("", "Big", "Positive", "PositiveSmall", "Small")}
    | {"UUIDField"}
)
"""The kinds of columns whose values PostgreSQL takes as a model has them."""


@dataclass(frozen=True)
class Statement:
    """SQL for one kind of database, and where its values come from: a name, or the value itself."""

    sql: str
    parts: tuple[tuple[str, object], ...]

    @classmethod
    def of(cls, compiler: SQLCompiler, stand_ins: Mapping[str, object]) -> "Statement":
        """Compile, and find the stand-ins among the values.

        Raises
        ------
        ValueError
            If one of them is not there, so that its value would change nothing.
        """
        sql, values = compiler.as_sql()
        names = {value: name for name, value in stand_ins.items()}
        if missing := names.keys() - set(values):
            msg = f"the query does not ask for {', '.join(sorted(names[one] for one in missing))}"
            raise ValueError(msg)
        # A plan for any values uses a partial index only where its condition is in the text.
        constants = ["%s" if one in names else _literal(one) for one in values]
        variable = [one for one, text in zip(values, constants, strict=True) if text == "%s"]
        return cls(sql % tuple(constants), tuple((names.get(one, ""), one) for one in variable))

    def values(self, given: Mapping[str, object]) -> list[Any]:
        """Return the values to run it with; their numbers are of one width where that matters."""
        return [given[name] if name else value for name, value in self.parts]


class Reader(Generic[Row]):
    """Makes the objects of a compiled query's rows, as Django's own iterator does."""

    def __init__(self, compiler: SQLCompiler) -> None:
        info, select = compiler.klass_info, compiler.select
        self.compiler = compiler
        self.converters = compiler.get_converters([column[0] for column in select])
        self.model: type[Row] = info["model"]
        self.own = slice(info["select_fields"][0], info["select_fields"][-1] + 1)
        self.names = [column[0].target.attname for column in select[self.own]]
        self.joined = get_related_populators(info, select, DEFAULT_DB_ALIAS)  # type: ignore[call-arg] # the types are of a later Django
        self.annotations = compiler.annotation_col_map

    def read(self, row: Sequence[Any]) -> Row:
        """Return the object, with those that it is joined to."""
        (found,) = self.compiler.apply_converters([row], self.converters)
        made = self.model.from_db(DEFAULT_DB_ALIAS, self.names, found[self.own])
        for populator in self.joined:
            populator.populate(found, made)
        for name, place in self.annotations.items():
            setattr(made, name, found[place])
        return made


class Compiled(Generic[Row]):
    """A query that fetches rows, made from values that are different each time.

    ``build`` gets each value under its name and has to make the same query whatever they are,
    except that it may make another one where a value is None. ``kinds`` are the types of the
    values: those of ``STAND_INS``.
    """

    def __init__(self, build: Callable[..., QuerySet[Row]], **kinds: type) -> None:
        self.build = build
        self.stand_ins = _stand_ins(kinds)
        self.known: dict[tuple[str, frozenset[str]], tuple[Statement, Reader[Row]]] = {}

    def first(self, **values: object) -> Row | None:
        """Return the row of a query that finds one at most, or None."""
        return next(iter(self.all(**values)), None)

    def all(self, **values: object) -> list[Row]:
        """Return the rows of the query."""
        database = connections[DEFAULT_DB_ALIAS]
        given = {name: value for name, value in values.items() if value is not None}
        key = (database.vendor, frozenset(given))
        if (known := self.known.get(key)) is None:
            known = self.known[key] = self._compile(values, frozenset(given))
        statement, reader = known
        with _cursor(database) as cursor:
            cursor.execute(statement.sql, statement.values(_as_stored(given, database)))
            return [reader.read(row) for row in cursor.fetchall()]

    def _compile(
        self, values: Mapping[str, object], given: frozenset[str]
    ) -> tuple[Statement, Reader[Row]]:
        database = connections[DEFAULT_DB_ALIAS]
        stand_ins = {name: self.stand_ins[name] for name in given}
        query = self.build(**{name: stand_ins.get(name) for name in values}).query
        compiler = query.get_compiler(connection=database)
        return Statement.of(compiler, _as_stored(stand_ins, database)), Reader(compiler)


@dataclass(frozen=True)
class Change:
    """A change of rows with its values, to be made by itself or with a new row (``insert``)."""

    sql: str
    values: list[Any]

    def make(self) -> int:
        """Make it, and return how many rows it found."""
        with _cursor(connections[DEFAULT_DB_ALIAS]) as cursor:
            cursor.execute(self.sql, self.values)
            return int(cursor.rowcount)


class CompiledUpdate:
    """A change of rows: ``build`` returns which, and what becomes of each column."""

    def __init__(
        self, build: Callable[..., tuple[QuerySet[Any], Mapping[str, object]]], **kinds: type
    ) -> None:
        self.build = build
        self.stand_ins = _stand_ins(kinds)
        self.known: dict[str, Statement] = {}

    def change(self, **values: object) -> Change:
        """Return the change for these values; nothing is made yet."""
        database = connections[DEFAULT_DB_ALIAS]
        if (statement := self.known.get(database.vendor)) is None:
            statement = self.known[database.vendor] = self._compile(database)
        return Change(statement.sql, statement.values(_as_stored(values, database)))

    def _compile(self, database: BaseDatabaseWrapper) -> Statement:
        rows, changes = self.build(**self.stand_ins)
        query = cast("UpdateQuery", rows.query.chain(UpdateQuery))
        query.add_update_values(dict(changes))
        compiler = query.get_compiler(connection=database)
        return Statement.of(compiler, _as_stored(self.stand_ins, database))


def insert(row: Model, change: Change | None = None) -> None:
    """Store a new row and set its key, as ``save`` does where no signal waits for it.

    ``change`` is made along with it, in one statement where the kind of database can.
    """
    database = connections[DEFAULT_DB_ALIAS]
    sql, fields = _insertion(type(row), database.vendor)
    values = [
        getattr(row, field.attname)
        if is_plain
        else field.get_db_prep_save(field.pre_save(row, add=True), database)
        for field, is_plain in fields
    ]
    if change is not None and database.vendor == "postgresql":
        sql, values = f"WITH changed AS ({change.sql}) {sql}", [*change.values, *values]
    elif change is not None:
        change.make()
    with _cursor(database) as cursor:
        cursor.execute(sql, values)
        (row.pk,) = cursor.fetchone()
    row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS  # noqa: SLF001 (as save leaves it)


@lru_cache(maxsize=64)
def _insertion(
    model: type[Model], vendor: str
) -> tuple[str, Sequence[tuple["Field[Any, Any]", bool]]]:
    """Return the SQL that stores a row and returns its key, and the fields that it is given.

    With each field comes whether the database takes its values as they are.
    """
    query = InsertQuery(model)
    meta = query.get_meta()
    fields = [field for field in meta.concrete_fields if not field.primary_key]
    query.insert_values(fields, [model()], raw=True)
    compiler = query.get_compiler(connection=connections[DEFAULT_DB_ALIAS])
    compiler.returning_fields = [meta.pk]
    ((sql, _values),) = compiler.as_sql()
    as_they_are = PLAIN if vendor == "postgresql" else ()
    return sql, [(field, field.get_internal_type() in as_they_are) for field in fields]


def _cursor(database: BaseDatabaseWrapper) -> CursorWrapper:
    """Return a cursor that has its statements prepared, where the kind of database knows how."""
    made: CursorWrapper = getattr(database, "prepared_cursor", database.cursor)()
    return made


def _stand_ins(kinds: Mapping[str, type]) -> dict[str, object]:
    return {
        name: STAND_INS[kind](FIRST_NUMBER + place)
        for place, (name, kind) in enumerate(kinds.items())
    }


def _literal(value: object) -> str:
    """Return a constant as SQL; a kind that is not plain everywhere stays a value."""
    if isinstance(value, str):
        return "'" + str(value).replace("'", "''").replace("%", "%%") + "'"
    if isinstance(value, int) and not isinstance(value, bool):
        return str(int(value))
    return "%s"


def _as_stored(values: Mapping[str, object], database: BaseDatabaseWrapper) -> Mapping[str, object]:
    """Return values as the database takes them: SQLite knows neither UUIDs nor times."""
    if database.features.has_native_uuid_field:
        return values
    return {name: _as_text(value, database) for name, value in values.items()}


def _as_text(value: object, database: BaseDatabaseWrapper) -> object:
    if isinstance(value, uuid.UUID):
        return value.hex
    if isinstance(value, dt.datetime):
        return database.ops.adapt_datetimefield_value(value)
    return value
