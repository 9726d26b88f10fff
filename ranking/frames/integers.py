"""Whole numbers from the database into arrays, many rows at once."""

from itertools import chain
from typing import Any

import numpy as np
from django.core.exceptions import EmptyResultSet
from django.db import connection, transaction
from django.db.models import Case, IntegerField, Model, Q, QuerySet, Value, When

from ranking.numerics.arrays import Integers

SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER = b"\xff\xff"
WIDTH = 8
# For one reading: room to add up in memory, and no time spent on compiling the query.
ROOM = "SET LOCAL work_mem = '128MB'; SET LOCAL jit = off"


class NotWholeNumbersError(ValueError):
    """A row has something else than a whole number: an empty cell, most likely."""


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
    PostgreSQL copies the rows out in its binary format, which takes a tenth of the time and a
    fifth of the memory that rows of Python objects would: a million rows of nine columns are
    read in about the time in which the database makes them.
    """
    n_columns = len(rows.query.values_select) + len(rows.query.annotation_select)
    try:
        sql, params = rows.query.get_compiler(connection=connection).as_sql()
    except EmptyResultSet:
        return np.empty((0, n_columns), dtype=np.int64)
    read = _copied if connection.vendor == "postgresql" else _fetched
    return read(sql, params, n_columns)


def _copied(sql: str, params: tuple[Any, ...], n_columns: int) -> Integers:
    names = [f"c{index}" for index in range(n_columns)]
    wanted = ", ".join(f"{name}::int8" for name in names)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(ROOM)
        table = f"({cursor.mogrify(sql, params)}) AS found ({', '.join(names)})"
        query = f"SELECT {wanted} FROM {table}"  # noqa: S608 (the query is Django's own)
        with cursor.copy(f"COPY ({query}) TO STDOUT (FORMAT binary)") as copy:
            content = b"".join(copy)
    return _decoded(content, n_columns)


def _decoded(content: bytes, n_columns: int) -> Integers:
    """Read PostgreSQL's binary format: for each cell its length and its bytes, highest first."""
    cells = [part for i in range(n_columns) for part in ((f"n{i}", ">i4"), (f"c{i}", ">i8"))]
    row = np.dtype([("n_columns", ">i2"), *cells])
    body = memoryview(content)[len(SIGNATURE) : -len(TRAILER)]
    if len(body) % row.itemsize:
        msg = f"a row of {n_columns} whole numbers has an empty cell"
        raise NotWholeNumbersError(msg)
    table = np.frombuffer(body, dtype=row)
    for i in range(n_columns):
        if (table[f"n{i}"] != WIDTH).any():
            msg = f"column {i} of {n_columns} has an empty cell"
            raise NotWholeNumbersError(msg)
    found = np.empty((len(table), n_columns), dtype=np.int64)
    for i in range(n_columns):
        found[:, i] = table[f"c{i}"]
    return found


def _fetched(sql: str, params: tuple[Any, ...], n_columns: int) -> Integers:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        try:
            cells = np.fromiter(chain.from_iterable(cursor.fetchall()), dtype=np.int64)
        except TypeError as error:
            msg = f"a row of {n_columns} whole numbers has an empty cell"
            raise NotWholeNumbersError(msg) from error
    return cells.reshape(-1, n_columns)
