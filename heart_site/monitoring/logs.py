"""Log lines, with the request or task that each belongs to and without the content of rows."""

import datetime as dt
import json
import logging
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from traceback import TracebackException

from django.db import DatabaseError

NO_ID = "-"
current_id: ContextVar[str] = ContextVar("current_id", default=NO_ID)
"""The id of the request or task that is being worked on."""


@contextmanager
def working_on(name: str) -> Iterator[None]:
    """Have every line that is logged in the block carry that id."""
    token = current_id.set(name)
    try:
        yield
    finally:
        current_id.reset(token)


def page_of(request: object) -> str:
    """Name the page and not its address, which may hold a link that lets a person in."""
    match = getattr(request, "resolver_match", None)
    return (match.view_name if match else None) or NO_ID


def add_id(record: logging.LogRecord) -> bool:
    """Note on a record what it belongs to; a filter of the handler that lets everything pass.

    Celery puts the error of a task into its message as well, where a row may be quoted: there the
    kind of error is enough, as the trace has the rest. Django tells the address of a request.
    """
    record.work_id = current_id.get()
    if (request := getattr(record, "request", None)) and isinstance(record.args, tuple):
        page = page_of(request)
        record.args = tuple(page if str(one).startswith("/") else one for one in record.args)
    if record.exc_info and isinstance(record.args, dict) and "exc" in record.args:
        error = record.exc_info[1]
        record.args = record.args | {"exc": type(error).__name__, "traceback": ""}
    return True


OF_CELERY = ("celery.beat", "celery.worker.strategy", "celery.app.trace")
"""Loggers that tell of each task: that it was sent, taken, and has ended."""


class IdleTasks(logging.Filter):
    """Has lines of tasks that look for work, and did none, count as details.

    That such a task was sent or taken says nothing either; how much it did stands where it ended.
    """

    def __init__(self, tasks: Collection[str]) -> None:
        super().__init__()
        self._tasks = tasks

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether the line is still to be logged."""
        if record.levelno == logging.INFO and self._is_idle(record.args):
            record.levelno, record.levelname = logging.DEBUG, "DEBUG"
            return logging.getLogger(record.name).isEnabledFor(logging.DEBUG)
        return True

    def _is_idle(self, told: object) -> bool:
        if isinstance(told, tuple):  # beat: the entry and its task
            return bool(told) and told[-1] in self._tasks
        if not isinstance(told, dict):
            return False
        return told.get("name") in self._tasks and told.get("return_value", "0") in ("0", "None")


def trace(error: BaseException) -> str:
    """Return the traceback of an error, without what a database quotes of the row it refused.

    PostgreSQL adds the whole row to the message of a broken constraint, and a row can be what a
    person wrote.
    """
    told = TracebackException.from_exception(error)
    one: TracebackException | None = told
    raised: BaseException | None = error
    while one is not None and raised is not None:
        if isinstance(raised, DatabaseError) or type(raised).__module__.startswith("psycopg"):
            one._str = str(raised).partition("\n")[0]  # type: ignore[attr-defined] # noqa: SLF001
        one, raised = one.__cause__ or one.__context__, raised.__cause__ or raised.__context__
    return "".join(told.format()).rstrip()


class LineFormatter(logging.Formatter):
    """A line for people: time, level, id, logger, message."""

    def __init__(self) -> None:
        super().__init__(
            "%(asctime)s %(levelname)s %(work_id)s %(name)s: %(message)s",
            defaults={"work_id": NO_ID},
        )

    def formatException(self, ei: object) -> str:  # noqa: N802 (the library's name)
        """Return the traceback without rows."""
        return trace(ei[1]) if isinstance(ei, tuple) and ei[1] is not None else ""


class JsonFormatter(LineFormatter):
    """A line for machines: the same, and what the caller gave as ``extra={"facts": {...}}``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one JSON object."""
        line: dict[str, object] = {
            "at": dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(),
            "level": record.levelname,
            "id": getattr(record, "work_id", NO_ID),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= getattr(record, "facts", {})
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def web_formatter() -> LineFormatter:
    """Return the format of the site, for the process that watches over those that answer.

    It has not read the settings (``granian.json`` is all that it reads).
    """
    is_json = os.environ.get("HEART_LOG_FORMAT", "json") == "json"
    return JsonFormatter() if is_json else LineFormatter()
