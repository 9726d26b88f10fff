"""Take a writer out when they ask for it, with what they wrote if they wish it (ADR-0008)."""

import datetime as dt
from collections.abc import Collection

from django.db import transaction
from django.db.models import Q

from access.log import record
from access.nudges import Work, nudge
from annotation.assignment import slots
from annotation.models import Comparison, JudgeCall, Lease, Study
from annotation.raters.services.withdrawing import ALONE, WithdrawalRequest
from completions.choices import CallState, LeaseOutcome, WriterState
from completions.dialogues.locking import lock_texts
from completions.models import Writer
from completions.runs.services import budgeting
from completions.writers.services.erasure import erase_texts, forget_person, lock_work
from completions.writers.services.leasing import lock_writer
from completions.writers.services.leaving import give_work_back

ERASED = {
    "error_kind": "erased",
    "error_detail": "A message of the pair was deleted at its writer's wish.",
}


@transaction.atomic
def withdraw_writer(
    *, writer: Writer, keep_texts: bool, now: dt.datetime, asked: WithdrawalRequest = ALONE
) -> None:
    """Remove what links a writer to a person, and their texts too unless they are to be kept.

    Kept texts go on being compared, under the code alone. Otherwise every text is deleted, what
    compares one is held for good and asked of nobody, and no judgment of it counts; what stays is a
    tombstone: that somebody wrote for these dialogues under this code. The next refit does without.

    Who has left or was refused may withdraw, and who withdrew and kept the texts may still have
    them deleted. Repeating it is harmless. ``asked`` names the owner who does it at the
    writer's wish.
    """
    writer = lock_writer(writer)
    if writer.state == WriterState.WITHDRAWN and (keep_texts or not writer.texts_kept):
        return
    if not keep_texts:
        _lock_plans(writer)
    lock_work(writer)
    give_work_back(writer, now=now)
    if not keep_texts:
        _hold_for_good(erase_texts(writer, now=now), now=now)
        nudge(Work.REFIT)
    forget_person(writer, texts_kept=keep_texts)
    record(
        action="writer.withdrew",
        subject=f"writer {writer.code}",
        now=now,
        by=asked.by,
        after={
            "texts": "kept" if keep_texts else "deleted",
            **({"reason": asked.reason} if asked.reason else {}),
        },
    )


def _lock_plans(writer: Writer) -> None:
    """Let nobody plan with the texts, or copy what compares them, until they are gone."""
    studies = Study.objects.filter(dataset=writer.dataset_id).order_by("pk")
    list(studies.select_for_update(no_key=True).values_list("pk"))
    lock_texts(writer.dataset_id)


def _hold_for_good(completions: Collection[int], *, now: dt.datetime) -> None:
    """Keep every comparison of the completions from raters and judges.

    The comparisons are locked in one statement and in one order. After that nobody is waited
    for who may wait for them: a lease that its rater is busy with is left to the rater.
    """
    compared = Comparison.objects.filter(Q(first__in=completions) | Q(second__in=completions))
    locked = compared.order_by("pk").select_for_update(no_key=True)
    pks = list(locked.values_list("pk", flat=True))
    Comparison.objects.filter(pk__in=pks, held_at=None).update(held_at=now)
    calls = JudgeCall.objects.filter(comparison__in=pks, ended_at=None).order_by("pk")
    open_calls = list(calls.select_for_update())
    budgeting.settle((call, None) for call in open_calls)  # what is in flight may be paid for
    JudgeCall.objects.filter(pk__in=[call.pk for call in open_calls]).update(
        state=CallState.FAILED, ended_at=now, reserved_usd=0, **ERASED
    )
    leases = Lease.objects.filter(comparison__in=pks, closed_at=None)
    for lease in leases.order_by("pk").select_for_update(skip_locked=True, of=("self",)):
        slots.give_back(lease, outcome=LeaseOutcome.RELEASED, now=now)
