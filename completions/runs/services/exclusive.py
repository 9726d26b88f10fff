"""One process at a time for work that a command does by itself."""

import datetime as dt
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.db.models import Model, QuerySet
from django.utils.text import slugify

from access.nudges import is_lost

CLAIM_LENGTH = dt.timedelta(minutes=11)  # longer than any task may run
PATIENCE = dt.timedelta(minutes=2)  # with work that was begun, and whose process may be dead
MOST_BEGUN = 3
AWAY = (OperationalError, InterfaceError)
"""Errors of a database that went away, and took the right to the work with it."""


class AnotherAtWorkError(RuntimeError):
    """Another process does this work now."""


@contextmanager
def sole_worker(work: str) -> Iterator[None]:
    """Hold the right to do ``work`` for the length of the block.

    On PostgreSQL no other process on the same database has it, on SQLite none with the same data
    folder. The system takes it back when the process ends in whatever way: claims that are found
    while it is held are those of dead workers.

    Raises
    ------
    AnotherAtWorkError
        If another process has it.
    """
    held = _advisory_lock(work) if connection.vendor == "postgresql" else _file_lock(work)
    with held:
        yield


def alone(work: str, act: Callable[[], bool]) -> bool:
    """Return what ``act`` says of ``work``; it is not called, and False, while another does it."""
    try:
        with sole_worker(work):
            return act()
    except AnotherAtWorkError:
        return False


def is_at_work(work: str) -> bool:
    """Say whether a process does this work now."""
    return not alone(work, lambda: True)


def take_over(
    claimed: QuerySet[Model], work: Callable[[int], str], *, now: dt.datetime
) -> list[int]:
    """Claim anew what nobody works on any more, in a transaction, and return the keys.

    ``claimed`` are rows with `begun` and `claimed_at`, and ``work`` names what is done of one.
    That nobody does it is known of one that was begun; else its message may still wait somewhere.
    """
    old = claimed.filter(is_lost(now=now, after=PATIENCE)).order_by("pk")
    rows = old.select_for_update(skip_locked=True).values_list("pk", "begun", "claimed_at")
    keys = [
        pk
        for pk, begun, at in rows
        if abs(now - at) >= CLAIM_LENGTH or (begun and not is_at_work(work(pk)))
    ]
    claimed.filter(pk__in=keys).update(claimed_at=now)
    return keys


@contextmanager
def _advisory_lock(work: str) -> Iterator[None]:
    """Lock by the database, for as long as the connection lives."""
    number = int.from_bytes(hashlib.sha256(f"heart {work}".encode()).digest()[:7])
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [number])
        if not cursor.fetchone()[0]:
            raise _taken(work)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [number])


@contextmanager
def _file_lock(work: str) -> Iterator[None]:
    """Lock by a file in the data folder, which is there no longer than the lock.

    Whoever has the lock deletes the file; who opened it before, and locks it after, sees that it
    is not the one of that name any more, and begins again.
    """
    settings.HEART_DATA_DIR.mkdir(parents=True, exist_ok=True)
    path = settings.HEART_DATA_DIR / f"{slugify(work)}.lock"
    is_held = False
    while not is_held:
        with path.open("w") as mark:
            try:
                fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise _taken(work) from error
            if is_held := _is_at(path, mark.fileno()):
                try:
                    yield
                finally:
                    path.unlink(missing_ok=True)


def _is_at(path: Path, descriptor: int) -> bool:
    """Say whether an open file is the one of that name."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _taken(work: str) -> AnotherAtWorkError:
    return AnotherAtWorkError(f"another process is {work} now; wait until it has ended")
