"""The states of runs: paused, going on, and over when no call is open."""

import datetime as dt
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from access.log import record
from access.nudges import Work, nudge
from completions.choices import CallState, PauseReason, RunState
from completions.models import ProviderCall, Run
from completions.runs.queries import call_rows, calls_of, has_runs, run_rows
from completions.runs.services import budgeting, telling

CANCELLED = "cancelled"
GOES_ON = (RunState.RUNNING, RunState.PAUSED)
NO_REASON: Mapping[str, str] = {}

SomeRun = TypeVar("SomeRun", bound=Run)


def lock(run: SomeRun) -> SomeRun:
    """Lock the run's row; whoever adds calls to it does not wait."""
    runs: Any = type(run)._default_manager  # noqa: SLF001 (documented API)
    locked: SomeRun = runs.select_for_update(no_key=True).get(pk=run.pk)
    return locked


def change(
    run: Run,
    state: RunState,
    *,
    now: dt.datetime,
    by: User | None = None,
    why: Mapping[str, str] = NO_REASON,
    told: Mapping[str, object] = NO_REASON,
) -> None:
    """Put a locked run into another state, and write down who did so and what was ``told``."""
    before = run.state
    run.state = state
    run.pause_reason, run.pause_detail = why.get("reason", ""), why.get("detail", "")
    run.ended_at = None if state in GOES_ON else now
    run.save(update_fields=["state", "pause_reason", "pause_detail", "ended_at", "budget_usd"])
    record(
        action=f"run.{state.lower()}",
        subject=f"{run._meta.verbose_name} {run.pk}",  # noqa: SLF001 (documented API)
        now=now,
        by=by,
        before={"state": before},
        after={"state": state, **why, **told},
    )
    telling.announce_change(run, now=now)
    if state == RunState.RUNNING:
        nudge(run.work)
    elif state == RunState.ENDED:  # what it found enters with the next fit
        nudge(Work.REFIT)


def pause_if_running(
    run: Run, reason: PauseReason, detail: str, *, now: dt.datetime, by: User | None = None
) -> bool:
    """Let a locked run make no further call; return False if it stood still already."""
    if run.state != RunState.RUNNING:
        return False
    change(run, RunState.PAUSED, now=now, by=by, why={"reason": reason, "detail": detail})
    return True


def end_runs(runs: QuerySet[SomeRun], *, now: dt.datetime) -> int:
    """End the runs that have no open call; return how many ended.

    What a provider refused stays paused: once its cause is mended, it can be asked again.
    """
    is_open = Exists(call_rows(runs.model).filter(run=OuterRef("pk"), ended_at=None))
    idle = Q(state=RunState.PAUSED) & ~Q(pause_reason=PauseReason.REFUSED)
    over = runs.filter(Q(state=RunState.RUNNING) | idle).filter(~is_open).order_by("pk")
    return sum(_end(run, now) for run in over)


def end_runs_of(calls: type[ProviderCall], ids: Collection[int], *, now: dt.datetime) -> None:
    """End the runs whose last open calls these were."""
    if not has_runs(calls):
        return
    runs = run_rows(calls).filter(calls__in=ids, state__in=GOES_ON).distinct()
    for run in runs.order_by("pk"):
        # The newest calls are open for longest: found at once, however many have ended.
        if not calls_of(run).filter(ended_at=None).order_by("-pk").values("pk")[:1]:
            end_runs(run_rows(calls).filter(pk=run.pk), now=now)


@transaction.atomic
def _end(run: Run, now: dt.datetime) -> bool:
    """End one run, unless calls were added to it meanwhile."""
    run = lock(run)
    if run.state not in GOES_ON or calls_of(run).filter(ended_at=None).exists():
        return False
    change(run, RunState.ENDED, now=now)
    return True


def give_up_waiting(run: Run, *, lost: Q, now: dt.datetime) -> int:
    """Give up the waiting calls of a cancelled run, and those of dead workers; say how many.

    Calls in flight end in their own time; rows that others hold are left to the next time.
    """
    waiting = calls_of(run).filter(Q(state=CallState.PENDING) | lost, ended_at=None)
    rows: Collection[ProviderCall] = list(
        waiting.order_by("pk").select_for_update(skip_locked=True)
    )
    budgeting.settle((row, None) for row in rows)
    return (
        calls_of(run)
        .filter(pk__in=[row.pk for row in rows])
        .update(
            state=CallState.FAILED,
            ended_at=now,
            retry_at=None,
            reserved_usd=0,
            error_kind=CANCELLED,
            error_detail="The run was cancelled before the call was made.",
        )
    )
