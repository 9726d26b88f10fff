"""Take a rater out of a study, or a writer with their texts, when they ask for it (ADR-0008)."""

import datetime as dt
from collections.abc import Collection

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from access.log import record
from access.nudges import Work, nudge
from annotation.assignment import slots
from annotation.assignment.slots import give_back, lock_rater, return_slot
from annotation.choices import RaterState
from annotation.models import (
    Comparison,
    JudgeCall,
    Judgment,
    Lease,
    PlatformEvent,
    Rater,
    Report,
    Study,
)
from annotation.rationales.services.labelling import forget_themes
from annotation.rationales.services.scanning import forget_scans
from completions.choices import CallState, LeaseOutcome, WriterState
from completions.dialogues.locking import lock_texts
from completions.leases import timed
from completions.leases.timed import atomic_despite_deadlocks
from completions.models import Writer
from completions.runs.services import budgeting
from completions.runs.services.quoted_labels import forget_answers
from completions.writers.services.leasing import lock_writer
from completions.writers.services.leaving import (
    erase_texts,
    forget_person,
    give_work_back,
    lock_work,
)


@atomic_despite_deadlocks
def withdraw_rater(
    *,
    rater: Rater,
    now: dt.datetime,
    keep_answers: bool = False,
    by: User | None = None,
    reason: str = "",
) -> None:
    """Remove what links a rater to a person, and their answers too unless they are to be kept.

    Kept answers go on counting, under the code alone. Otherwise reasons and the words of reports
    are deleted, no answer counts in any analysis, and the slots are given back; what stays is a
    tombstone: that somebody judged these pairs under this code. The next refit does without them.

    Who has ended may withdraw, and who withdrew and kept the answers may still have them
    deleted. Repeating it is harmless. ``by`` is the owner who does it at the rater's wish, and
    ``reason`` how the rater asked for it.
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
    after = _said("answers", is_kept=keep_answers, reason=reason)
    record(action="rater.withdrew", subject=f"rater {rater.code}", now=now, by=by, after=after)


def _said(what: str, *, is_kept: bool, reason: str) -> dict[str, str]:
    """Return what the log has of a withdrawal."""
    said = {what: "kept" if is_kept else "deleted", "reason": reason}
    return {name: value for name, value in said.items() if value}


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
    affected = {comparison_id for comparison_id, _side in taken}
    affected |= {held.comparison_id} if held is not None else set()
    rows = Comparison.objects.filter(pk__in=affected).order_by("pk")
    list(rows.select_for_update(no_key=True).values_list("pk"))
    for comparison_id, side in taken:
        return_slot(comparison_id, side=side)
    # The exceptions to rows that are written once (ADR-0008): plain querysets, on purpose.
    QuerySet(Judgment).filter(rater=rater).update(rationale="", chips="")
    forget_themes(Judgment.objects.filter(rater=rater), now=now)
    forget_scans(Judgment.objects.filter(rater=rater))
    QuerySet(Report).filter(rater=rater).update(text="")


ERASED = {
    "error_kind": "erased",
    "error_detail": "A message of the pair was deleted at its writer's wish.",
}


@atomic_despite_deadlocks
def withdraw_writer(
    *,
    writer: Writer,
    keep_texts: bool,
    now: dt.datetime,
    by: User | None = None,
    reason: str = "",
) -> None:
    """Remove what links a writer to a person, and their texts too unless they are to be kept.

    Kept texts go on being compared, under the code alone. Otherwise every text is deleted, what
    compares one is held for good and asked of nobody, and no judgment of it counts; what stays is a
    tombstone: that somebody wrote for these dialogues under this code. The next refit does without.

    Who has left or was refused may withdraw, and who withdrew and kept the texts may still have
    them deleted. Repeating it is harmless. ``by`` is the owner who does it at the writer's wish,
    and ``reason`` how the writer asked for it.
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
    after = _said("texts", is_kept=keep_texts, reason=reason)
    record(action="writer.withdrew", subject=f"writer {writer.code}", now=now, by=by, after=after)


def _lock_plans(writer: Writer) -> None:
    """Let nobody plan with the texts, or copy what compares them, until they are gone."""
    studies = Study.objects.filter(dataset=writer.dataset_id).order_by("pk")
    list(studies.select_for_update(no_key=True).values_list("pk"))
    lock_texts(writer.dataset_id)


def _hold_for_good(completions: Collection[int], *, now: dt.datetime) -> None:
    """Keep every comparison of the completions from raters and judges, and no raw answer.

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
    forget_answers(JudgeCall.objects.filter(comparison__in=pks))
    leases = Lease.objects.filter(comparison__in=pks, closed_at=None)
    for lease in leases.order_by("pk").select_for_update(skip_locked=True, of=("self",)):
        slots.give_back(lease, outcome=LeaseOutcome.RELEASED, now=now)
