"""Take a person out of a study when they ask for it."""

import datetime as dt

from django.db import transaction
from django.db.models import F, QuerySet

from annotation.choices import RaterState
from annotation.models import Comparison, Judgment, Rater
from annotation.services.slots import SHOWN, give_back, lock_open_lease, lock_rater
from completions.choices import LeaseOutcome
from completions.services import record


@transaction.atomic
def withdraw_rater(*, rater: Rater, now: dt.datetime) -> None:
    """Remove a rater's reasons and identity and leave their answers out of every analysis.

    What stays is a tombstone: that somebody judged these pairs under this code. The slots of
    their answers are given back, and the next refit does without them. Repeating it is harmless.
    """
    rater = lock_rater(rater)
    if rater.state == RaterState.WITHDRAWN:
        return
    if (held := lock_open_lease(rater)) is not None:
        give_back(held, outcome=LeaseOutcome.RELEASED, now=now)
    _return_slots(rater)
    # The one exception to append-only judgments (ADR-0008): a plain queryset, on purpose.
    QuerySet(Judgment).filter(rater=rater).update(rationale="")
    rater.state = RaterState.WITHDRAWN
    rater.ended_at = now
    rater.external_id = ""
    rater.session = {}
    rater.utc_offset_minutes = None
    rater.writer = None
    rater.save()
    record(action="rater.withdrew", subject=f"rater {rater.code}", now=now)


def _return_slots(rater: Rater) -> None:
    """Give back the slots that the rater's counted answers took, in one lock order."""
    counted = Judgment.objects.filter(rater=rater, revises__isnull=True, is_surplus=False)
    taken = counted.order_by("comparison_id").values_list("comparison_id", "first_side")
    for comparison_id, side in list(taken):
        shown = SHOWN[side]
        Comparison.objects.filter(pk=comparison_id).update(
            **{"slots_left": F("slots_left") + 1, shown: F(shown) - 1}
        )
