"""Take a person out of a study when they ask for it."""

import datetime as dt
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from access.log import record
from access.nudges import Work, nudge
from annotation.assignment.slots import give_back, lock_rater, return_slot
from annotation.choices import RaterState
from annotation.models import Comparison, Judgment, Lease, PlatformEvent, Rater, Report
from annotation.rationales.services.labelling import forget_themes
from annotation.rationales.services.scanning import forget_scans
from completions.choices import LeaseOutcome
from completions.leases import timed


@dataclass(frozen=True)
class WithdrawalRequest:
    """Who acts at a person's wish, and how the person asked for it; nobody if they act alone."""

    by: User | None = None
    reason: str = ""


ALONE = WithdrawalRequest()


@transaction.atomic
def withdraw_rater(
    *, rater: Rater, now: dt.datetime, keep_answers: bool = False, asked: WithdrawalRequest = ALONE
) -> None:
    """Remove what links a rater to a person, and their answers too unless they are to be kept.

    Kept answers go on counting, under the code alone. Otherwise reasons and the words of reports
    are deleted, no answer counts in any analysis, and the slots are given back; what stays is a
    tombstone: that somebody judged these pairs under this code. The next refit does without them.

    Who has ended may withdraw, and who withdrew and kept the answers may still have them
    deleted. Repeating it is harmless. ``asked`` names the owner who does it at the rater's wish.
    """
    rater = lock_rater(rater)
    if rater.state == RaterState.WITHDRAWN and (keep_answers or not rater.data_kept):
        return
    held = timed.lock_open(rater.leases)
    if not keep_answers:
        _delete_answers(rater, held, now=now)
        nudge(Work.REFIT)
    if held is not None:
        give_back(held, outcome=LeaseOutcome.RELEASED, now=now)
    _forget_person(rater, now=now, data_kept=keep_answers)
    record(
        action="rater.withdrew",
        subject=f"rater {rater.code}",
        now=now,
        by=asked.by,
        after={
            "answers": "kept" if keep_answers else "deleted",
            **({"reason": asked.reason} if asked.reason else {}),
        },
    )


def _forget_person(rater: Rater, *, now: dt.datetime, data_kept: bool) -> None:
    rater.state = RaterState.WITHDRAWN
    rater.ended_at = now
    rater.data_kept = data_kept
    rater.external_id = ""
    rater.bound_by = ""
    rater.utc_offset_minutes = None
    rater.writer = None
    rater.save()
    rater.submissions.update(session_id="", ids={})
    # The platform's events name its submission: the exception to rows written once (ADR-0008).
    QuerySet(PlatformEvent).filter(rater=rater).update(rater=None)


def _delete_answers(rater: Rater, held: Lease | None, *, now: dt.datetime) -> None:
    counted = Judgment.objects.filter(
        rater=rater,
        revises__isnull=True,
        is_surplus=False,
        lease__quality_check=None,
        lease__repeats=None,
    )
    taken = list(counted.values_list("comparison_id", "first_side"))
    # All rows that will change are locked in one order first, so that no two wait in a circle.
    wanted = {comparison_id for comparison_id, _side in taken}
    wanted |= {held.comparison_id} if held is not None else set()
    rows = Comparison.objects.filter(pk__in=wanted).order_by("pk")
    list(rows.select_for_update(no_key=True).values_list("pk"))
    for comparison_id, side in taken:
        return_slot(comparison_id, side=side)
    # The exceptions to rows that are written once (ADR-0008): plain querysets, on purpose.
    QuerySet(Judgment).filter(rater=rater).update(rationale="", chips="")
    forget_themes(Judgment.objects.filter(rater=rater), now=now)
    forget_scans(Judgment.objects.filter(rater=rater))
    QuerySet(Report).filter(rater=rater).update(text="")
