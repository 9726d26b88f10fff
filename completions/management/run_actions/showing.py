"""``runs`` and ``show``: which runs there are, how far one is, and the words for it."""

import argparse
import datetime as dt
from collections.abc import Iterator

from django.utils import timezone

from completions.choices import PauseReason, RunState
from completions.management.acting import Action
from completions.management.progress import Progress
from completions.management.run_actions.kind import Kind, add_number
from completions.models import Run
from completions.runs import queries
from completions.runs.queries import RunProgress, departures_of

NEWEST = 50


def actions_of(kind: Kind) -> tuple[Action, ...]:
    """Return the actions that look at runs of this kind."""

    def add_nothing(_parser: argparse.ArgumentParser) -> None:
        """Declare no option."""

    def show_all(_asked: argparse.Namespace, _progress: Progress) -> str:
        return "\n".join(_listed(kind))

    def show_one(options: argparse.Namespace, _progress: Progress) -> str:
        run = kind.find(options.run)
        return "\n".join(details(run, queries.progress_of(run, now=timezone.now())))

    return (
        Action("runs", f"List the newest {NEWEST} runs.", add_nothing, show_all),
        Action("show", "Show how far a run is.", add_number, show_one),
    )


def _listed(kind: Kind) -> Iterator[str]:
    """Yield a line for each run, the newest first."""
    runs = list(kind.model._default_manager.order_by("-pk")[:NEWEST])  # noqa: SLF001
    if not runs:
        yield f"No runs yet: `manage.py {kind.command} run` starts one."
    progress = queries.progress_of_each(runs, now=timezone.now())
    for run in runs:
        yield outcome(run, progress[run.pk])


WORDS = {"stripped": "taken off texts", "repaired": "answers repaired"}


def outcome(run: Run, progress: RunProgress) -> str:
    """Return how a run stands and how its calls went."""
    parts = [f"{progress.n_done:,} of {progress.n_calls:,} calls answered"]
    if progress.n_invalid:
        parts.append(f"{progress.n_invalid:,} unusable")
    parts += [f"{n:,} failed ({kind})" for kind, n in sorted(progress.failed.items())]
    if progress.n_open:
        parts.append(f"{progress.n_open:,} left")
    return f"Run #{run.pk} {state_of(run)}: {', '.join(parts)}; {money(progress)}"


def state_of(run: Run) -> str:
    """Return the run's state, and why it stands still."""
    if run.state != RunState.PAUSED:
        return {"RUNNING": "goes on", "CANCELLED": "was cancelled", "ENDED": "has ended"}[run.state]
    reason = PauseReason(run.pause_reason).label
    reason = reason[0].lower() + reason[1:]
    return (
        f"stands still: {reason} ({run.pause_detail})"
        if run.pause_detail
        else f"stands still: {reason}"
    )


def money(progress: RunProgress) -> str:
    """Return what a run has spent, and of how much."""
    said = f"{progress.spent_usd:.4f} US dollars spent"
    if progress.reserved_usd:
        said += f", up to {progress.reserved_usd:.4f} more in flight"
    return said if progress.budget_usd is None else f"{said}, of {progress.budget_usd:.4f}"


def details(run: Run, progress: RunProgress) -> Iterator[str]:
    """Yield all that is known of a run, one line each."""
    yield outcome(run, progress)
    yield f"  begun {run.created_at:%Y-%m-%d %H:%M} UTC with {run.n_planned:,} calls"
    for name, value in run.plan.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        yield f"  {name.replace('_', ' ')}: {shown}"
    yield f"  {progress.n_waiting:,} wait, {progress.n_in_flight:,} in flight{_pace(progress)}"
    for name, counts in departures_of(run).items():
        if counts:
            named = ", ".join(f"{one} {n:,}" for one, n in sorted(counts.items()))
            yield f"  {WORDS[name]}: {named}"


def _pace(progress: RunProgress) -> str:
    if progress.per_minute is None:
        return ""
    pace = f", {progress.per_minute:,.0f} a minute"
    return pace if progress.left is None else f"{pace}, about {_lasting(progress.left)} left"


def _lasting(left: dt.timedelta) -> str:
    """Return a length of time in its largest units."""
    minutes = max(1, round(left.total_seconds() / 60))
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
