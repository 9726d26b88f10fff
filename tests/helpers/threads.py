"""Threads that start together, each with a database connection of its own."""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from socketserver import StreamRequestHandler
from typing import Any

import pytest
from django.db import connection, connections, transaction

from completions.runs.services.exclusive import sole_worker

TIMEOUT_S = 20
LONG_S = 300  # for a crowd: a busy machine is slow, and only what hangs is wrong


def together(functions: Sequence[Callable[[], Any]], *, timeout_s: float = TIMEOUT_S) -> list[Any]:
    """Call all functions at the same moment, and return what they return in their order."""
    start = threading.Barrier(len(functions))

    def run(function: Callable[[], Any]) -> Any:
        try:
            connection.ensure_connection()
            start.wait(timeout_s)
            return function()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(functions)) as pool:
        running = [pool.submit(run, function) for function in functions]
        return [one.result(timeout_s) for one in running]


@contextmanager
def database_in_a_file(folder: Path) -> Iterator[None]:
    """Move an SQLite test database from memory to a file, where it locks as a real one does."""
    in_memory = connections["default"]
    in_memory.ensure_connection()
    path = folder / "threads.sqlite3"
    with closing(sqlite3.connect(path)) as file:
        in_memory.connection.backup(file)
    settings = connections.settings["default"]
    connections.settings["default"] = {**settings, "NAME": str(path)}
    connections["default"] = connections.create_connection("default")
    try:
        yield
    finally:
        connections["default"].close()
        connections.settings["default"] = settings
        connections["default"] = in_memory


def while_uncommitted(
    change: Callable[[], Any], act: Callable[[], Any], *, has_to_wait: bool
) -> Any:
    """Act while another connection has made a change and not committed it; return the result.

    ``has_to_wait`` says whether the act has to wait for the commit, or must not.
    """
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has one writer at a time: there is no such moment")
    is_made, is_acted = threading.Event(), threading.Event()

    def change_slowly() -> None:
        with transaction.atomic():
            change()
            is_made.set()
            if has_to_wait:
                _wait_until_somebody_waits_for_a_lock()
            else:
                _wait(is_acted)

    def act_meanwhile() -> Any:
        _wait(is_made)
        result = act()
        is_acted.set()
        return result

    return together([change_slowly, act_meanwhile])[1]


def _wait(event: threading.Event) -> None:
    if not event.wait(TIMEOUT_S):
        raise TimeoutError


def _wait_until_somebody_waits_for_a_lock() -> None:
    """Return as soon as another connection to this PostgreSQL database waits for a lock."""
    waiting = (
        "SELECT 1 FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    tick = threading.Event()
    for _ in range(TIMEOUT_S * 100):
        with connection.cursor() as cursor:
            cursor.execute(waiting)
            if cursor.fetchone():
                return
        tick.wait(0.01)
    msg = "nobody waited for a lock"
    raise TimeoutError(msg)


@contextmanager
def served(handler: type[StreamRequestHandler]) -> Iterator[int]:
    """Serve HTTP on loopback in a thread, and yield the port; it ends as soon as it is asked to."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def doing_elsewhere(work: str) -> Iterator[None]:
    """Do some work on another connection meanwhile, as another process would."""
    begun, ended = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with sole_worker(work):
                begun.set()
                assert ended.wait(TIMEOUT_S)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        holder = pool.submit(hold)
        assert begun.wait(TIMEOUT_S)
        try:
            yield
        finally:
            ended.set()
        holder.result()
