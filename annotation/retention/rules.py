"""Pure: when what is held about people falls due to be deleted."""

import calendar
import datetime as dt
from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias


class HeldKind(StrEnum):
    """What has a date of its own."""

    CONTACT = "contact"
    REASONS = "reasons"
    ADDRESSES = "addresses"
    EVIDENCE = "evidence"
    SESSIONS = "sessions"


Policy: TypeAlias = Mapping[HeldKind, int]
"""How many months each kind is kept; 0 keeps it for good. Sessions go when they have run out.

``CONTACT`` (ids and sessions of platforms, links to writers) and ``REASONS`` count from the closing
of the study, ``ADDRESSES`` (mail addresses of writers) from the freezing of the dataset,
``EVIDENCE`` from the day of the consent.
"""


def due_on(policy: Policy, kind: HeldKind, since: dt.date) -> dt.date | None:
    """Return from which day on something falls due that counts from a day, or None for never."""
    return months_after(since, policy[kind]) if policy[kind] else None


def is_due(policy: Policy, kind: HeldKind, since: dt.date, today: dt.date) -> bool:
    """Say whether something that counts from a day has to go today."""
    due = due_on(policy, kind, since)
    return due is not None and due <= today


def latest_due(policy: Policy, kind: HeldKind, today: dt.date) -> dt.date:
    """Return the last day of which ``is_due`` is true: all that counts from it or before has to go.

    On the last of a short month, days that this month lacks fall due as well.
    """
    back = months_after(today, -policy[kind])
    if (today + dt.timedelta(days=1)).day > 1:
        return back
    return back.replace(day=calendar.monthrange(back.year, back.month)[1])


def months_after(day: dt.date, months: int) -> dt.date:
    """Return the same day some months on, or back, or the last of a month that is too short.

    Examples
    --------
    >>> months_after(dt.date(2026, 8, 31), 6)
    datetime.date(2027, 2, 28)
    """
    years, month = divmod(day.month - 1 + months, 12)
    year, month = day.year + years, month + 1
    last = calendar.monthrange(year, month)[1]
    return dt.date(year, month, min(day.day, last))
