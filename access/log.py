"""Write the append-only log."""

import datetime as dt
from collections.abc import Mapping

from django.contrib.auth.models import User

from access.models import LONGEST_SUBJECT, LogEntry


def record(
    *,
    action: str,
    subject: str,
    now: dt.datetime,
    by: User | None = None,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
) -> LogEntry:
    """Add an entry and return it; call it inside the transaction of the act that it describes.

    A subject that is too long loses its end: its act counts for more.
    """
    return LogEntry.objects.create(
        at=now,
        by=by,
        action=action,
        subject=subject[:LONGEST_SUBJECT],
        before=dict(before or {}),
        after=dict(after or {}),
    )
