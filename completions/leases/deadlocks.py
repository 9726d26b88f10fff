"""Transactions that outlive a deadlock.

A row that turned out to be taken when its lock was got stays locked until the transaction ends, so
two people who look for what is free can end up waiting for each other. PostgreSQL then ends one of
the two transactions, and expects it to be run again.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import OperationalError, transaction

ATTEMPTS = 4
DEADLOCK = "40P01"  # https://www.postgresql.org/docs/current/errcodes-appendix.html

Given = ParamSpec("Given")
Result = TypeVar("Result")


def atomic_despite_deadlocks(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Run a function in a transaction, and anew if the database ended it to break a deadlock.

    The function must read what it changes by itself and leave its arguments as they were.

    Raises
    ------
    django.db.OperationalError
        If every one of ``ATTEMPTS`` attempts met a deadlock.
    """

    @wraps(function)
    def run(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        for _attempt in range(ATTEMPTS - 1):
            try:
                with transaction.atomic():
                    return function(*args, **kwargs)
            except OperationalError as error:
                if getattr(error.__cause__, "sqlstate", None) != DEADLOCK:
                    raise
        with transaction.atomic():
            return function(*args, **kwargs)

    return run
