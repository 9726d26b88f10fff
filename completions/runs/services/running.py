"""Runs: started, paused, resumed, cancelled, tried again, and how workers come to pull them."""

import datetime as dt
from collections.abc import Callable, Collection
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from access.log import record
from access.nudges import KEPT_S, SOON_S, nudge
from completions.choices import CallState, PauseReason, RunState
from completions.dialogues.locking import lock_texts
from completions.models import Completion, GenerationRun, ProviderCall, Run
from completions.runs import pulling
from completions.runs.queries import (
    call_rows,
    calls_of,
    calls_to_make,
    endpoints_of,
    run_models,
)
from completions.runs.services import budgeting, calling, states
from completions.runs.services.calling import Clock
from completions.runs.services.states import SomeRun


class NothingToAskError(ValueError):
    """Every call that was asked for has been planned before."""


class RunStateError(ValueError):
    """A run in this state cannot do what was asked of it."""


class BudgetTooSmallError(ValueError):
    """A budget that is spent already."""


def checked_budget(
    budget_usd: Decimal | None,
    endpoints: Collection[budgeting.ModelEndpoint],
    *,
    spent: Decimal = Decimal(0),
) -> Decimal | None:
    """Return the budget if it can be kept with these models.

    Raises
    ------
    BudgetTooSmallError, UnknownPriceError
        If nothing of it is left, or nobody says what a model costs.
    """
    if budget_usd is None:
        return None
    if budget_usd <= spent:
        msg = f"a budget of {budget_usd} US dollars leaves nothing to spend: {spent} are spent"
        raise BudgetTooSmallError(msg)
    budgeting.refuse_unknown_prices(endpoints)
    return budget_usd


def begin(run: SomeRun, n_added: int, *, now: dt.datetime, by: User | None) -> SomeRun:
    """Note how many calls a new run has, and that it has begun.

    Raises
    ------
    NothingToAskError
        If it has none; raise it out of the transaction that added the run.
    """
    if not n_added:
        msg = "nothing is left to ask: every call was planned before; failed ones can be retried"
        raise NothingToAskError(msg)
    run.n_planned = n_added
    run.save(update_fields=["n_planned"])
    record(
        action="run.started",
        subject=f"{run._meta.verbose_name} {run.pk}",  # noqa: SLF001 (documented API)
        now=now,
        by=by,
        after={**run.plan, "calls": n_added, "budget": str(run.budget_usd or "none")},
    )
    nudge(run.work)
    return run


@transaction.atomic
def pause_run(run: SomeRun, *, now: dt.datetime, by: User | None = None) -> SomeRun:
    """Make no further call of a run; calls in flight end. A paused run stays as it is."""
    run = states.lock(run)
    _refuse_if_over(run, "paused")
    states.pause_if_running(run, PauseReason.ADMIN, "", now=now, by=by)
    return run


@transaction.atomic
def resume_run(
    run: SomeRun, *, now: dt.datetime, by: User | None = None, budget_usd: Decimal | None = None
) -> SomeRun:
    """Go on with a run that stands still, with another budget if one is given.

    What a provider refused is asked again: its cause has been mended, or it is refused again.

    Raises
    ------
    RunStateError
        If the run is over.
    BudgetTooSmallError, UnknownPriceError
        If the new budget leaves nothing to spend, or cannot be kept.
    """
    run = _lock_to_ask_again(run)
    _refuse_if_over(run, "resumed")
    told = _set_budget(run, budget_usd)
    if run.pause_reason == PauseReason.REFUSED:
        calls = calls_of(run).filter(error_kind__in={*states.KINDS, states.BAD_REQUEST})
        states.ask_again(_still_wanted(run, calls))
    if run.state == RunState.PAUSED or told:
        states.change(run, RunState.RUNNING, now=now, by=by, told=told)
    return run


@transaction.atomic
def cancel_run(run: SomeRun, *, now: dt.datetime, by: User | None = None) -> SomeRun:
    """Give up what waits; calls in flight end, and what was answered is kept."""
    run = states.lock(run)
    _refuse_if_over(run, "cancelled")
    _give_up_waiting(run, lost=calling.lost(now), now=now)
    states.change(run, RunState.CANCELLED, now=now, by=by)
    return run


@transaction.atomic
def retry_failed(
    run: SomeRun,
    *,
    now: dt.datetime,
    by: User | None = None,
    budget_usd: Decimal | None = None,
    with_invalid: bool = False,
    only: Q | None = None,
) -> int:
    """Ask again what was given up, and what was unusable ``with_invalid``; return how many calls.

    ``only`` narrows the calls that are meant. The run goes on, also one that was over. What was
    answered is never asked again, nor what is about a text that its writer had deleted, nor what
    somebody brought in meanwhile.

    Raises
    ------
    BudgetTooSmallError, UnknownPriceError
        If the new budget leaves nothing to spend, or cannot be kept.
    """
    run = _lock_to_ask_again(run)
    told = _set_budget(run, budget_usd)
    unusable = [CallState.FAILED, CallState.INVALID] if with_invalid else [CallState.FAILED]
    calls = calls_of(run).filter(only or Q(), state__in=unusable).exclude(error_kind=states.ERASED)
    n_again = states.ask_again(_still_wanted(run, calls))
    if n_again:
        told = {**told, "asked again": n_again}
        states.change(run, RunState.RUNNING, now=now, by=by, told=told)
    return n_again


def _lock_to_ask_again(run: SomeRun) -> SomeRun:
    """Lock a run; nobody brings in meanwhile what its calls may be asked for again."""
    if isinstance(run, GenerationRun):
        lock_texts(run.dataset_id)  # before the run's row, as whoever tries several again does
    return states.lock(run)


def _still_wanted(run: Run, calls: QuerySet[Any]) -> QuerySet[Any]:
    """Leave out what has come another way: a system completes a context once."""
    if not isinstance(run, GenerationRun):
        return calls
    there = Completion.objects.filter(context=OuterRef("context"), system=OuterRef("system"))
    return calls.filter(~Exists(there))


def finish_runs(runs: QuerySet[SomeRun], *, now: dt.datetime) -> int:
    """End the runs that have no open call, and give up what waits in cancelled ones.

    Return how many ended. Safe to run twice and in many processes.
    """
    calls = call_rows(runs.model).filter(run=OuterRef("pk"), ended_at=None)
    for run in runs.filter(Exists(calls), state=RunState.CANCELLED).order_by("pk"):
        _clear_cancelled(run, now)
    return states.end_runs(runs, now=now)


def finish_all_runs(*, now: dt.datetime) -> int:
    """End the runs of all kinds that have no open call; return how many."""
    every = (runs._default_manager.all() for runs in run_models().values())  # noqa: SLF001 (documented API)
    return sum(finish_runs(runs, now=now) for runs in every)


def look_after_runs(*, now: dt.datetime) -> int:
    """End runs as `finish_all_runs` does, and nudge workers where calls wait."""
    for runs in run_models().values():
        if is_waiting(runs, now=now):
            nudge(runs.work)
    return finish_all_runs(now=now)


def is_waiting(runs: type[Run], *, now: dt.datetime) -> bool:
    """Say whether a worker would find a call of this kind of run to make."""
    return calling.claimable(calls_to_make(runs), now=now).exists()


def forget_claims() -> int:
    """Free the calls that dead workers held; only for who knows that no worker lives."""
    return sum(calling.forget_claims(call_rows(runs)) for runs in run_models().values())


@transaction.atomic
def _clear_cancelled(run: Run, now: dt.datetime) -> None:
    run = states.lock(run)
    if run.state == RunState.CANCELLED:
        _give_up_waiting(run, lost=calling.lost(now), now=now)


def _give_up_waiting(run: Run, *, lost: Q, now: dt.datetime) -> int:
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
            error_kind="cancelled",
            error_detail="The run was cancelled before the call was made.",
        )
    )


def _refuse_if_over(run: Run, state: str) -> None:
    if run.state not in states.GOES_ON:
        said = "was cancelled" if run.state == RunState.CANCELLED else "has ended"
        msg = f"run #{run.pk} {said} and cannot be {state}; `retry` asks again what failed"
        raise RunStateError(msg)


def _set_budget(run: Run, budget_usd: Decimal | None) -> dict[str, object]:
    """Give a locked run another budget; return what to write down about it."""
    if budget_usd is None:
        return {}
    run.budget_usd = checked_budget(budget_usd, endpoints_of(run), spent=run.spent_usd)
    return {"budget": str(budget_usd)}


def pull(runs: type[Run], make: Callable[..., int], *, clock: Clock) -> int:
    """Have a worker ``make`` calls of this kind of run for a while; return how many.

    More than one process can have in flight calls another to help. What is left at the end is
    pulled at once, or when it is due; with nothing done it waits a moment, since another thread
    of this process may be about it.
    """
    calls = calls_to_make(runs)
    if _is_more_than_one_holds(calls, now=clock()):
        nudge(runs.work)
    n = make(clock=clock)
    wait_s = None if pulling.STOPPING.is_set() else seconds_to_next(calls, now=clock())
    if wait_s is not None and wait_s <= KEPT_S:  # what is due later is left to the sweep
        nudge(runs.work, within_s=wait_s if n else max(wait_s, SOON_S))
    return n


def seconds_to_next(calls: QuerySet[Any], *, now: dt.datetime) -> float | None:
    """Return how long until one of the calls may be made, or None if none waits."""
    if calling.claimable(calls, now=now).exists():
        return 0.0
    return calling.seconds_to_retry(calls, now=now)


def _is_more_than_one_holds(calls: QuerySet[Any], *, now: dt.datetime) -> bool:
    own = settings.HEART_LLM_CONCURRENCY
    return bool(calling.claimable(calls, now=now).values_list("pk")[own : own + 1])
