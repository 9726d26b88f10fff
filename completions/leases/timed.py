"""What leases of raters and of writers have in common: open, expired, closed (ADR-0005).

Which row comes next, and what its slot consists of, differ: each side has its own ``leasing``.
"""

import datetime as dt
from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeAlias, TypeVar

from django.db import OperationalError, transaction
from django.db.models import Manager, QuerySet

from completions.choices import LeaseOutcome
from completions.leases.compiled import Change, CompiledUpdate
from completions.models import TimedLease

Lease = TypeVar("Lease", bound=TimedLease)
GiveBack: TypeAlias = Callable[..., None]
"""Ends a locked lease (``outcome`` and ``now`` by name) and returns its slot."""


def lock_open(leases: Manager[Lease]) -> Lease | None:
    """Lock a person's open lease, if any; a sweep that is closing it is waited for first."""
    return leases.select_for_update(of=("self",)).filter(closed_at=None).first()


def prolong(lease: TimedLease, *, length: dt.timedelta, now: dt.datetime) -> None:
    """Give a locked, open lease its time anew if it ran out: nobody took the slot back."""
    if lease.expires_at <= now:
        lease.expires_at = now + length
        lease.save(update_fields=["expires_at"])


def skip(lease: Lease, *, reason: str, give_back: GiveBack, now: dt.datetime) -> None:
    """Give a locked lease back with the reason; nothing happens to one that is closed."""
    if lease.closed_at is None:
        lease.skip_reason = reason
        give_back(lease, outcome=LeaseOutcome.SKIPPED, now=now)


def sweep(leases: QuerySet[Lease], *, row: str, give_back: GiveBack, now: dt.datetime) -> int:
    """Give back every lease past its time, and return how many; ``row`` is what it is a slot of."""
    expired = leases.filter(closed_at=None, expires_at__lte=now)
    # Mostly there is none. Asked for in an order at once, SQLite would go through all leases.
    if not (keys := list(expired.order_by().values_list("pk", flat=True))):
        return 0
    # Rows that a submission holds right now are left to it; one lock order, so no deadlock.
    ordered = expired.filter(pk__in=keys).order_by(row, "pk")
    locked = list(ordered.select_for_update(skip_locked=True, of=("self",)))
    for lease in locked:
        give_back(lease, outcome=LeaseOutcome.EXPIRED, now=now)
    return len(locked)


def closing(lease: TimedLease, *, outcome: LeaseOutcome, now: dt.datetime) -> Change:
    """End a locked lease, and return the change that stores it; only a skipped one has a reason."""
    lease.closed_at = now
    lease.outcome = outcome
    if outcome != LeaseOutcome.SKIPPED:
        lease.skip_reason = ""
    return _compiled(type(lease)).change(
        lease=lease.pk, now=now, outcome=str(lease.outcome), reason=lease.skip_reason
    )


@cache
def _compiled(leases: type[TimedLease]) -> CompiledUpdate:
    def closed(
        *, lease: int, now: dt.datetime, outcome: str, reason: str
    ) -> tuple[QuerySet[TimedLease], dict[str, object]]:
        rows: QuerySet[TimedLease] = QuerySet(leases).filter(pk=lease)
        return rows, {"closed_at": now, "outcome": outcome, "skip_reason": reason}

    return CompiledUpdate(closed, lease=int, now=dt.datetime, outcome=str, reason=str)


ATTEMPTS = 4
DEADLOCK = "40P01"  # https://www.postgresql.org/docs/current/errcodes-appendix.html

Given = ParamSpec("Given")
Result = TypeVar("Result")


def atomic_despite_deadlocks(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Run a function in a transaction, and anew if the database ended it to break a deadlock.

    A row that turned out to be taken when its lock was got stays locked until the transaction
    ends, so two people who look for what is free can end up waiting for each other. PostgreSQL
    then ends one of the two transactions, and expects it to be run again.

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
