"""PostgreSQL as Django has it, with statements that stay prepared and a check that asks nobody.

Django binds values on the client, so the server parses and plans each statement anew; of a rater's
answer that was most of what the server did (ADR-0005).
"""

import datetime as dt
import select
from collections.abc import Sequence
from typing import Any, LiteralString

import psycopg
from django.db.backends.postgresql import base, operations
from django.db.backends.utils import CursorWrapper
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.types.numeric import Int8


class Prepared(psycopg.Cursor[Any]):
    """A cursor whose statements the server keeps for the life of the connection."""

    def execute(  # type: ignore[override] # (as Django calls it)
        self, query: LiteralString, params: Sequence[object] | None = None
    ) -> "Prepared":
        """Run a statement; whole numbers of any size are of one type, so that it is kept once."""
        values = [Int8(one) if type(one) is int else one for one in params or ()]
        super().execute(query, values, prepare=True)
        return self


class InstantLoader(Loader):
    """Reads a timestamp as PostgreSQL writes it in UTC.

    Django's own loader takes it apart with a regular expression, at twenty times the time.
    """

    timezone = dt.UTC  # Django asks every cursor's loader for it

    def load(self, data: Buffer) -> dt.datetime:
        """Return the instant, in UTC."""
        return dt.datetime.fromisoformat(str(data, "ascii"))


class DatabaseOperations(operations.DatabaseOperations):
    """Tells what was run last, for logs and tests, also where psycopg does not."""

    def last_executed_query(self, cursor: object, sql: str, params: Sequence[object]) -> str:
        """Return a statement with its values."""
        if isinstance(cursor, Prepared):
            return str(self.compose_sql(sql, params))
        told: str = super().last_executed_query(cursor, sql, params)
        return told


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection to PostgreSQL."""

    ops_class = DatabaseOperations

    def get_new_connection(self, conn_params: dict[str, Any]) -> "psycopg.Connection[Any]":
        """Connect, and read timestamps fast."""
        connection: psycopg.Connection[Any] = super().get_new_connection(conn_params)
        connection.adapters.register_loader("timestamptz", InstantLoader)
        return connection

    def prepared_cursor(self) -> CursorWrapper:
        """Return a cursor for few statements that are run often, each always the same text."""
        self.close_if_health_check_failed()
        self.ensure_connection()
        with self.wrap_database_errors:
            made: CursorWrapper = self._prepare_cursor(Prepared(self.connection))  # type: ignore[attr-defined] # (the types leave Django's private half out)
            return made

    def is_usable(self) -> bool:
        """Say whether the server still listens; it is asked only where it has said something.

        A server that ends a connection says so: whoever has heard nothing need not ask.
        """
        if self.connection is None or self.connection.closed:
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return bool(super().is_usable()) if poll.poll(0) else True
