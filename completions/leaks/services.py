"""Hold completions that seem to give their source away, and take decisions on them (ADR-0027)."""

import datetime as dt

from django.contrib.auth.models import User
from django.db import transaction

from access.log import record
from completions.choices import HoldState
from completions.leaks import rules
from completions.leaks.queries import Leaks
from completions.models import Dataset, Hold

DECISIONS = {HoldState.RELEASED: "released", HoldState.DROPPED: "dropped"}
LONGEST_MATCH = 200
BATCH = 500


class HoldReasonMissingError(ValueError):
    """A decision on a held completion needs a reason."""


@transaction.atomic
def hold_leaks(*, dataset: Dataset, found: Leaks, now: dt.datetime, by: User | None = None) -> int:
    """Hold the completions of a dataset in which the filter ``found`` something; count them.

    What was held before is not counted, and what was released or dropped keeps its decision.
    """
    before = Hold.objects.filter(completion_id__in=found).values_list("completion_id", flat=True)
    new = found.keys() - set(before)
    Hold.objects.bulk_create(
        (
            Hold(
                completion_id=pk,
                reasons=[
                    {"reason": leak.reason, "matched": leak.matched[:LONGEST_MATCH]}
                    for leak in found[pk]
                ],
                rules=rules.VERSION,
                held_at=now,
            )
            for pk in sorted(new)
        ),
        batch_size=BATCH,
        ignore_conflicts=True,  # another study on the dataset may be planned at the same moment
    )
    if new:
        record(
            action="completions.held",
            subject=f"dataset {dataset.slug}",
            now=now,
            by=by,
            after={"held": len(new), "rules": rules.VERSION},
        )
    return len(new)


@transaction.atomic
def decide_hold(
    *, hold: Hold, state: HoldState, reason: str, now: dt.datetime, by: User | None = None
) -> Hold:
    """Release a held completion, or drop it; a later decision may turn this one round.

    The next plan pairs what is released. Nothing that is judged already is touched.

    Raises
    ------
    HoldReasonMissingError
        If no reason is given.
    """
    if not reason.strip():
        raise HoldReasonMissingError
    hold = (
        Hold.objects.select_for_update(of=("self",))
        .select_related("completion__system")
        .get(pk=hold.pk)
    )
    before = {"state": hold.state, "reason": hold.decision_reason}
    hold.state = state
    hold.decision_reason = reason.strip()
    hold.decided_at = now
    hold.decided_by = by
    hold.save(update_fields=["state", "decision_reason", "decided_at", "decided_by"])
    record(
        action=f"completion.{DECISIONS[state]}",
        subject=f"completion {hold.completion_id}",
        now=now,
        by=by,
        before=before,
        after={"state": state, "reason": hold.decision_reason},
    )
    return hold
