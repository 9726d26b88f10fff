"""Whole numbers and keys from the database into arrays, many rows at once."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from django.core.exceptions import EmptyResultSet
from django.db import connection, transaction
from django.db.models import Case, IntegerField, Model, Q, QuerySet, Value, When

from annotation.models import Comparison, Judge, Rater, Study
from completions.choices import Presence
from completions.models import Dialogue, System
from ranking.numerics.arrays import Integers

HEAD = 20  # bytes: dimensions, whether a cell is empty, type, length, first index
# For one reading: room to add up in memory, and no time spent on compiling the query.
ROOM = "SET LOCAL work_mem = '128MB'; SET LOCAL jit = off"


class NotWholeNumbersError(ValueError):
    """A row has something else than a whole number: an empty cell, most likely."""


@contextmanager
def room() -> Iterator[None]:
    """Let PostgreSQL add up in memory and compile nothing, for the length of the block.

    Compiling the one query that says which judgments count takes longer than a million of them.
    """
    if connection.vendor != "postgresql":
        yield
        return
    with transaction.atomic(savepoint=False):
        with connection.cursor() as cursor:
            cursor.execute(ROOM)
        yield


def flag(condition: Q) -> Case:
    """Return an expression that is 1 where the condition holds and 0 elsewhere."""
    return Case(When(condition, then=Value(1)), default=Value(0), output_field=IntegerField())


def read_integers(rows: "QuerySet[Model, tuple[Any, ...]]") -> Integers:
    """Return the rows of a query of whole numbers as an array of shape (n_rows, n_columns).

    Parameters
    ----------
    rows : QuerySet
        Made by ``values_list`` of columns that hold whole numbers and are never empty; to be
        grouped and ordered as wanted. One query.

    Raises
    ------
    NotWholeNumbersError
        If a cell is empty.

    Notes
    -----
    PostgreSQL sends each column as one array in its binary format, and no row becomes an object
    of Python.
    """
    n_columns = len(rows.query.values_select) + len(rows.query.annotation_select)
    try:
        sql, params = rows.query.get_compiler(connection=connection).as_sql()
    except EmptyResultSet:
        return np.empty((0, n_columns), dtype=np.int64)
    read = _gathered if connection.vendor == "postgresql" else _fetched
    return read(sql, params, n_columns)


def _gathered(sql: str, params: tuple[Any, ...], n_columns: int) -> Integers:
    """Have each column sent as one array, for a row by itself costs more than its numbers."""
    names = [f"c{index}" for index in range(n_columns)]
    arrays = ", ".join(f"array_agg({name}::int8)" for name in names)
    with room(), connection.cursor() as cursor:
        table = f"({cursor.mogrify(sql, params)}) AS found ({', '.join(names)})"
        query = f"SELECT {arrays} FROM {table}"  # noqa: S608 (the query is Django's own)
        columns = _columns(query, n_columns)
    return np.stack(columns, axis=1)


def _columns(query: str, n_columns: int) -> list[Integers]:
    """Read one column after the other: what the server sent takes more room than the numbers."""
    import psycopg  # noqa: PLC0415 (only where PostgreSQL is used)

    with psycopg.Cursor(connection.connection) as raw:
        found = raw.execute(query, binary=True).pgresult
        cells = (found.get_value(0, index) if found else None for index in range(n_columns))
        return [_decoded(column) for column in cells]


def _decoded(column: bytes | None) -> Integers:
    """Read an array as PostgreSQL sends it: a head, then each number after its length."""
    if column is None:  # no rows
        return np.empty(0, dtype=np.int64)
    if np.frombuffer(column, ">i4", count=2)[1]:
        msg = "a column of whole numbers has an empty cell"
        raise NotWholeNumbersError(msg)
    cells = np.frombuffer(column, np.dtype([("length", ">i4"), ("value", ">i8")]), offset=HEAD)
    return cells["value"].astype(np.int64)


def _fetched(sql: str, params: tuple[Any, ...], n_columns: int) -> Integers:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        try:
            cells = np.fromiter(chain.from_iterable(cursor.fetchall()), dtype=np.int64)
        except TypeError as error:
            msg = f"a row of {n_columns} whole numbers has an empty cell"
            raise NotWholeNumbersError(msg) from error
    return cells.reshape(-1, n_columns)


SAID = {Presence.PRESENT: 1.0, Presence.ABSENT: 0.0, Presence.UNCERTAIN: 0.5}
"""How present something is, as a label says."""
Label = TypeVar("Label", str, tuple[str, bool])


def coded(keys: Integers, names: Mapping[int, Label]) -> tuple[tuple[Label, ...], Integers]:
    """Return the names that occur, sorted, and for each key the place of its name.

    Raises KeyError if a key has no name.
    """
    known = np.array(sorted(names), dtype=np.int64)
    row = np.searchsorted(known, keys)  # there are few names, so that no key need be sorted
    if not np.array_equal(known.take(row, mode="clip"), keys):
        raise KeyError(set(np.unique(keys).tolist()) - names.keys())
    occurring = np.flatnonzero(np.bincount(row.ravel()))
    found = [names[key] for key in known[occurring].tolist()]
    labels = tuple(sorted(set(found)))
    place = {label: index for index, label in enumerate(labels)}
    places = np.zeros(len(known), dtype=np.int64)
    places[occurring] = [place[label] for label in found]
    return labels, places[row]


def dialogues(keys: Integers) -> dict[int, str]:
    """Return the content hashes of source dialogues by key: these and those between them."""
    found = Dialogue.objects.filter(pk__range=_ends(keys))
    return dict(found.values_list("pk", "content_hash"))


def _ends(keys: Integers) -> tuple[int, int]:
    return (int(keys.min()), int(keys.max())) if len(keys) else (0, 0)


def comparisons(study: Study) -> dict[int, str]:
    """Return the public names of the study's comparisons by key."""
    return dict(Comparison.objects.filter(study=study).values_list("pk", "key"))


def systems() -> dict[int, str]:
    """Return the slugs of all systems by key."""
    return dict(System.objects.values_list("pk", "slug"))


def people_and_judges(study: Study) -> dict[int, tuple[str, bool]]:
    """Name the study's raters by their keys, and judges by theirs with a minus."""
    raters = Rater.objects.filter(study=study).values_list("pk", "code")
    judges = Judge.objects.values_list("pk", "slug")
    people = {pk: (code, False) for pk, code in raters}
    return people | {-pk: (slug, True) for pk, slug in judges}
