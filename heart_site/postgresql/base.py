"""Django's backend for PostgreSQL: statements stay prepared, and no query checks a connection.

Django binds values on the client, so the server parses and plans each statement anew; of a rater's
answer that was most of what the server did (ADR-0005).
"""

import datetime as dt
import select
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import psycopg
from django.db.backends.postgresql import base, operations
from django.db.backends.utils import CursorWrapper
from psycopg.abc import Buffer
from psycopg.adapt import Loader, PyFormat, Transformer
from psycopg.errors import FeatureNotSupported, InvalidSqlStatementName
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.types.numeric import Int8

if TYPE_CHECKING:
    from psycopg.pq.abc import PGresult

FORGOTTEN = (FeatureNotSupported, InvalidSqlStatementName)
"""What the server says of a statement whose columns changed, or that it keeps no more."""


class Statements:
    """The statements that the server keeps for one connection, and how their values travel."""

    def __init__(self, connection: "psycopg.Connection[Any]") -> None:
        self.connection = connection
        self.adapting = Transformer(connection)
        self.names: dict[tuple[str, tuple[int, ...]], bytes] = {}
        self.n_made = 0

    def run(self, query: str, params: Sequence[object]) -> "PGresult":
        """Run a statement, in a transaction if the connection is to have one; return the result.

        One call of libpq asks and waits. psycopg's own cursor takes each statement apart anew and
        waits in steps, so that it can be interrupted; that was a quarter of a rater's answer.

        Raises
        ------
        psycopg.Error
            What the server says. A statement that it cannot run any more is prepared anew next
            time: a table was changed, or somebody has the server forget what it kept.
        """
        server = self.connection.pgconn
        if server.transaction_status == TransactionStatus.IDLE and not self.connection.autocommit:
            begin = self.connection._get_tx_start_command()  # noqa: SLF001 (at its isolation level)
            self._checked(server.exec_(begin))
        # Whole numbers of any size are of one type, so that the statement is kept once.
        values = [Int8(one) if type(one) is int else one for one in params]
        written = self.adapting.dump_sequence(values, [PyFormat.TEXT] * len(values))
        name = self._name(query, self.adapting.types or ())
        try:
            return self._checked(server.exec_prepared(name, written))  # type: ignore[arg-type] # (None is NULL)
        except FORGOTTEN:
            self.names.clear()
            raise

    def _name(self, query: str, types: tuple[int, ...]) -> bytes:
        if (name := self.names.get((query, types))) is None:
            self.n_made += 1
            name = b"heart_%d" % self.n_made
            numbered = query % tuple(f"${place}" for place in range(1, len(types) + 1))
            self._checked(self.connection.pgconn.prepare(name, numbered.encode(), types))
            self.names[query, types] = name
        return name

    @staticmethod
    def _checked(result: "PGresult") -> "PGresult":
        if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
            raise psycopg.errors.error_from_result(result)
        return result


class Prepared:
    """A cursor whose statements the server keeps for the life of the connection."""

    def __init__(self, statements: Statements) -> None:
        self.connection = statements.connection
        self.rowcount = -1
        self._statements = statements
        self._rows: Iterator[tuple[Any, ...]] = iter(())

    def execute(self, query: str, params: Sequence[object] | None = None) -> None:
        """Run a statement, and take its rows."""
        result = self._statements.run(query, params or ())
        adapting = self._statements.adapting
        adapting.set_pgresult(result)
        self.rowcount = result.ntuples or result.command_tuples or 0
        self._rows = iter(adapting.load_rows(0, result.ntuples, tuple))

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row, or None."""
        return next(self._rows, None)

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return the rows that are left."""
        return list(self._rows)

    def close(self) -> None:
        """Do nothing: the rows are here already."""


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
    statements: Statements

    def get_new_connection(self, conn_params: dict[str, Any]) -> "psycopg.Connection[Any]":
        """Connect, and read timestamps fast."""
        connection: psycopg.Connection[Any] = super().get_new_connection(conn_params)
        connection.adapters.register_loader("timestamptz", InstantLoader)
        # Where psycopg keeps statements of its own, it has the server forget all, ours too, after
        # a rollback or a change of a table.
        connection.prepare_threshold = None
        self.statements = Statements(connection)
        return connection

    def prepared_cursor(self) -> CursorWrapper:
        """Return a cursor for few statements that are run often, each always the same text."""
        self.close_if_health_check_failed()
        self.ensure_connection()
        with self.wrap_database_errors:
            made: CursorWrapper = self._prepare_cursor(Prepared(self.statements))  # type: ignore[attr-defined] # (the types leave Django's private half out)
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
