"""Tell webhooks that a run is over, or that it stopped by itself."""

import datetime as dt

from access.choices import HookEvent
from access.webhooks.services.events import Event, announce
from completions.choices import PauseReason, RunState
from completions.models import Run
from completions.models.run import OVER


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
