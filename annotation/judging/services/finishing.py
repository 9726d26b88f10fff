"""End the part of a rater for whom nothing is left."""

import datetime as dt

from django.db import transaction

from annotation.assignment.slots import lock_rater
from annotation.choices import RaterState
from annotation.judging.services.standing import end_rater
from annotation.models import Rater
from annotation.studies import selectors
from completions.leases import timed


@transaction.atomic
def finish_with_nothing_left(*, rater: Rater, now: dt.datetime) -> None:
    """End the part of a rater who waits for pairs that there are not.

    Whoever answered something has finished; whoever came too late for even one finds the study
    full. If there is a pair for them after all, nothing changes.
    """
    rater = lock_rater(rater)
    if rater.state != RaterState.ACTIVE or timed.lock_open(rater.leases) is not None:
        return
    if selectors.open_comparisons(rater).exists():
        return
    done, _total = selectors.rater_progress(rater)
    end_rater(rater, state=RaterState.FINISHED if done else RaterState.FULL, now=now)
