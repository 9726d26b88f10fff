"""Write the append-only log."""

import datetime as dt
from collections.abc import Mapping

from django.contrib.auth.models import User

from access.models import LogEntry


def record(
    *,
    action: str,
    subject: str,
    now: dt.datetime,
    by: User | None = None,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
) -> LogEntry:
    """Add an entry; call it inside the transaction of the act that it describes."""
    return LogEntry.objects.create(
        at=now,
        by=by,
        action=action,
        subject=subject,
        before=dict(before or {}),
        after=dict(after or {}),
    )
