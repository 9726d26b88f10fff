"""Whole numbers from the database into arrays, many rows at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np
from django.core.exceptions import EmptyResultSet
from django.db import connection, transaction
from django.db.models import Case, IntegerField, Model, Q, QuerySet, Value, When

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
    import psycopg  # noqa: PLC0415 (only where PostgreSQL is used)

    names = [f"c{index}" for index in range(n_columns)]
    wanted = ", ".join(f"array_agg({name}::int8)" for name in names)
    with room(), connection.cursor() as cursor:
        table = f"({cursor.mogrify(sql, params)}) AS found ({', '.join(names)})"
        query = f"SELECT {wanted} FROM {table}"  # noqa: S608 (the query is Django's own)
        with psycopg.Cursor(connection.connection) as raw:
            found = raw.execute(query, binary=True).pgresult
            columns = [found.get_value(0, index) if found else None for index in range(n_columns)]
    return np.stack([_decoded(column) for column in columns], axis=1)


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
