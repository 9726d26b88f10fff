"""How many workers pull, and when they come again: by nudges, sent by who has just looked."""

import datetime as dt
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db.models import Min, QuerySet

from access.nudges import KEPT_S, SOON_S, Work, nudge
from completions.choices import CallState
from completions.runs import pulling
from completions.runs.services import calling
from completions.runs.services.calling import Clock

Calls = Callable[[], QuerySet[Any]]


def pull_and_come_back(work: Work, calls: Calls, pull: Callable[[], int], *, clock: Clock) -> int:
    """Pull, and see to it that somebody pulls again while there is something left; return how many.

    More than one process can have in flight calls another to help. What is left at the end is
    pulled at once, or when it is due; with nothing done it waits a moment, since another thread
    of this process may be about it.
    """
    if _is_more_than_one_holds(calls(), now=clock()):
        nudge(work)
    n = pull()
    wait_s = None if pulling.STOPPING.is_set() else seconds_to_next(calls(), now=clock())
    if wait_s is not None and wait_s <= KEPT_S:  # what is due later is left to the sweep
        nudge(work, within_s=wait_s if n else max(wait_s, SOON_S))
    return n


def seconds_to_next(calls: QuerySet[Any], *, now: dt.datetime) -> float | None:
    """Return how long until one of the calls may be made, or None if none waits."""
    if calling.claimable(calls, now=now).exists():
        return 0.0
    waiting = calling.going_on(calls).filter(state=CallState.PENDING, ended_at=None)
    first: dt.datetime | None = waiting.aggregate(at=Min("retry_at"))["at"]
    return None if first is None else max(0.0, (first - now).total_seconds())


def _is_more_than_one_holds(calls: QuerySet[Any], *, now: dt.datetime) -> bool:
    own = settings.HEART_LLM_CONCURRENCY
    return bool(calling.claimable(calls, now=now).values_list("pk")[own : own + 1])
