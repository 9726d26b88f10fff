"""The states of runs: paused, refused by a provider, going on and over, and who is told."""

import datetime as dt
import re
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from access.choices import HookEvent
from access.log import record
from access.nudges import Work, nudge
from access.webhooks.services import Event, announce
from completions.choices import CallState, PauseReason, RunState
from completions.models import ProviderCall, Run
from completions.models.run import OVER
from completions.runs.queries import call_rows, calls_of, endpoint_name, has_runs, run_rows

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
    announce_change(run, now=now)
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


KINDS = frozenset(
    {"authentication", "configuration", "forbidden", "not_found", "payment", "redirected"}
)
"""Failures of a key, an address, a model's name or an account: every further call fails alike."""
ENOUGH = 3
"""So many refusals of one model pause its run: one might be about its text."""
ABOUT_THE_TEXT = frozenset(
    {
        *("cancelled", "content_filtered", "empty", "erased", "finish_reason", "lost"),
        *("only_thoughts", "refused", "truncated", "unclear_text"),
    }
)
"""Failures that say something about one question; after others every question fails alike."""
BAD_REQUEST = "bad_request"
ERASED = "erased"
"""The text was deleted at its writer's wish: nobody is asked about it again."""
_LOOKED_AT = 20
_ID = re.compile(r"\b(?=\w*\d)[\w-]+")
_SHOWN = 300
"""Characters of a provider's own words in an error of ours."""

Call = TypeVar("Call", bound=ProviderCall)


class ProviderRefusesError(RuntimeError):
    """A provider takes no question of ours: a key, a model's name or an account is not right."""


def refused(calls: QuerySet[Call]) -> QuerySet[Call]:
    """Return those of a model's calls that failed, and would have with any other text.

    A bad request is one of them as long as the model answered none of the calls.
    """
    failed = calls.filter(state=CallState.FAILED).exclude(error_kind__in=ABOUT_THE_TEXT)
    answered = calls.filter(state__in=[CallState.DONE, CallState.INVALID])
    return failed.exclude(error_kind=BAD_REQUEST) if answered.exists() else failed


def refusal(call: ProviderCall) -> ProviderRefusesError:
    """Return the error that says why a provider takes no question."""
    detail = " ".join(call.error_detail.split())[:_SHOWN]
    return ProviderRefusesError(
        f"the provider takes no question ({call.error_kind}): {detail}; "
        "set right what it names and start again: what was answered is kept"
    )


def ask_again(calls: QuerySet[Call]) -> int:
    """Return calls that were given up to the waiting ones, as if they had never been tried."""
    return calls.filter(state__in=[CallState.FAILED, CallState.INVALID]).update(
        state=CallState.PENDING,
        claimed_at=None,
        ended_at=None,
        retry_at=None,
        attempts=0,
        error_kind="",
        error_detail="",
    )


def pause_if_refused(call: ProviderCall, kind: str, detail: str, *, now: dt.datetime) -> None:
    """Pause the run of a call that was just given up, once its model has refused enough of it.

    Bad requests count if the provider says the same of each: what it names is no text's fault.
    ``call`` is its row as it was; without a run, or for another kind of failure, nothing happens.
    """
    run_id = getattr(call, "run_id", None)
    if run_id is None or kind not in {*KINDS, BAD_REQUEST}:
        return
    column = f"{endpoint_name(type(call))}_id"
    run = run_rows(type(call)).get(pk=run_id)
    failed = calls_of(run).filter(state=CallState.FAILED, **{column: getattr(call, column)})
    if _n_alike(failed, kind, detail) < ENOUGH:
        return
    shown = f"{kind}: {' '.join(detail.split())}"[:_SHOWN]
    pause_if_running(lock(run), PauseReason.REFUSED, shown, now=now)


def _n_alike(failed: QuerySet[Call], kind: str, detail: str) -> int:
    """Count failures that say the same: of one account, or of one request in the same words."""
    if kind in KINDS:
        return failed.filter(error_kind__in=KINDS).count()
    details = failed.filter(error_kind=BAD_REQUEST).order_by("-ended_at")[:_LOOKED_AT]
    bare = _bare(detail)
    return sum(_bare(one) == bare for one in details.values_list("error_detail", flat=True))


def _bare(detail: str) -> str:
    """Return what a provider said without the ids and numbers that differ from call to call."""
    return _ID.sub("#", " ".join(detail.split()))


def announce_change(run: Run, *, now: dt.datetime) -> None:
    """Tell of the state that a locked run was just put into, if that is an event.

    What an administrator pauses is none. Neither what a provider said nor who asked is told.
    """
    is_over = run.state in OVER
    stopped = run.state == RunState.PAUSED and run.pause_reason != PauseReason.ADMIN
    if not is_over and not stopped:
        return
    kind = run._meta.model_name  # noqa: SLF001 (documented API)
    data = {"run": run.pk, "kind": kind, "state": run.state, **_about(run)}
    if stopped:
        data |= {"alert": "run.paused", "reason": run.pause_reason}
    event = HookEvent.RUN_FINISHED if is_over else HookEvent.ALERT
    # A run may be taken up and end again: the moment is part of which event it is.
    key = f"{event}/{kind}/{run.pk}/{now.isoformat()}"
    announce(Event(event, key, data), now=now)


def _about(run: Run) -> dict[str, str]:
    """Name what the run is about: runs of completions know a dataset, those of studies a study."""
    found = ((name, getattr(run, name, None)) for name in ("dataset", "study"))
    return {name: row.slug for name, row in found if row is not None}
