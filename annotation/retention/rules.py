"""Pure: when what is held about people falls due to be deleted."""

import calendar
import datetime as dt
from dataclasses import dataclass
from enum import StrEnum


class HeldKind(StrEnum):
    """What has a date of its own."""

    CONTACT = "contact"
    REASONS = "reasons"
    ADDRESSES = "addresses"
    EVIDENCE = "evidence"
    SESSIONS = "sessions"


@dataclass(frozen=True)
class Policy:
    """How many months each kind is kept; 0 keeps it for good.

    ``contact`` (ids and sessions of platforms, links to writers) and ``reasons`` count from the
    closing of the study, ``addresses`` (mail addresses of writers) from the freezing of the
    dataset, ``evidence`` from the day of the consent.
    """

    contact: int
    reasons: int
    addresses: int
    evidence: int

    def due_on(self, kind: HeldKind, since: dt.date) -> dt.date | None:
        """Return from which day on something falls due that counts from a day, or None for never.

        A session is due as soon as it has run out.
        """
        if kind is HeldKind.SESSIONS:
            return since
        months: int = getattr(self, kind)
        return months_after(since, months) if months else None

    def is_due(self, kind: HeldKind, since: dt.date, today: dt.date) -> bool:
        """Say whether something that counts from a day has to go today."""
        due = self.due_on(kind, since)
        return due is not None and due <= today


def months_after(day: dt.date, months: int) -> dt.date:
    """Return the same day some months on, or the last of a month that is too short.

    Examples
    --------
    >>> months_after(dt.date(2026, 8, 31), 6)
    datetime.date(2027, 2, 28)
    """
    years, month = divmod(day.month - 1 + months, 12)
    year, month = day.year + years, month + 1
    last = calendar.monthrange(year, month)[1]
    return dt.date(year, month, min(day.day, last))


def months_before(day: dt.date, months: int) -> dt.date:
    """Return the newest day from which ``months`` have passed."""
    years, month = divmod(day.month - 1 - months, 12)
    year, month = day.year + years, month + 1
    last = calendar.monthrange(year, month)[1]
    return dt.date(year, month, min(day.day, last))
