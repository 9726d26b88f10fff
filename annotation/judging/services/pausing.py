"""Stop the clock of a pair while its rater is on a break."""

import datetime as dt

from django.db import transaction

from annotation.assignment.slots import lock_rater
from annotation.models import Rater
from completions.leases import timed


@transaction.atomic
def pause_judging(*, rater: Rater, now: dt.datetime) -> None:
    """Note since when the rater is on a break; showing the pair again ends it.

    Without an open pair, or on a break already, nothing changes.
    """
    lease = timed.lock_open(lock_rater(rater).leases)
    if lease is not None and lease.paused_at is None:
        lease.paused_at = now
        lease.save(update_fields=["paused_at"])
