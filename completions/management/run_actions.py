"""What commands do with runs of every kind: list and show them, make their calls, steer them."""

import argparse
import datetime as dt
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import partial
from types import FrameType
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from completions.choices import PauseReason, RunState
from completions.management.acting import Action, Progress
from completions.management.assisting import answering
from completions.models import Run
from completions.runs import pulling, queries
from completions.runs.queries import RunProgress, departures_of
from completions.runs.services import running
from completions.runs.services.budgeting import CENT


@dataclass(frozen=True)
class Kind:
    """A command with runs of its own."""

    command: str
    """Its name, for the sentence that says how to go on."""
    model: type[Run]
    work: Callable[..., int]
    """Makes waiting calls of ``run`` for ``duration_s`` and tells ``stored``; returns how many."""
    obstacle: Callable[[Any], str] = lambda _run: ""
    """Says why no call of a run can be made now, or nothing."""

    def find(self, number: int) -> Any:  # noqa: ANN401 (any kind of run)
        """Return the run of that number, or raise RunNotFoundError."""
        return queries.run_numbered(self.model._default_manager.all(), number)  # noqa: SLF001


def dollars(text: str) -> Decimal:
    """Read a sum of US dollars that a run can count."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal(0)
    if not (value.is_finite() and CENT <= value < RICHEST):
        msg = f"{text!r} is not a sum of US dollars above zero, below {RICHEST:,}, such as 2.50"
        raise argparse.ArgumentTypeError(msg)
    return value


RICHEST = 1_000_000
"""US dollars: no run can have so much."""


def add_number(parser: argparse.ArgumentParser) -> None:
    """Declare the number of a run."""
    parser.add_argument("run", type=int, metavar="RUN", help="Number of the run.")


def add_budget(parser: argparse.ArgumentParser) -> None:
    """Declare how much may be spent."""
    parser.add_argument(
        "--budget",
        type=dollars,
        metavar="USD",
        help="What the run may spend in all; calls that might exceed it are not made.",
    )


def add_no_wait(parser: argparse.ArgumentParser) -> None:
    """Declare that workers are to make the calls."""
    parser.add_argument(
        "--no-wait",
        action="store_true",
        help="Leave the calls to workers; without it, this command makes them by itself.",
    )


NEWEST = 50


def _listed(kind: Kind, _options: argparse.Namespace, _progress: Progress) -> Iterator[str]:
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
    return f"Run #{run.pk} {state_of(run)}: {', '.join(parts)}; {money(run)}"


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


def money(run: Run) -> str:
    """Return what a run has spent, and of how much."""
    said = f"{run.spent_usd:.4f} US dollars spent"
    if run.reserved_usd:
        said += f", up to {run.reserved_usd:.4f} more in flight"
    return said if run.budget_usd is None else f"{said}, of {run.budget_usd:.4f}"


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


PULL_S = 20.0
PAUSE_S = 1.0
TELL_S = 0.5
STOOD_STILL = 1
INTERRUPTED = 130
_ENDING = b"\nNo further call is made; those in flight end. Again to break them off.\n"


def work_or_leave(kind: Kind, run: Run, options: argparse.Namespace, progress: Progress) -> str:
    """Work through the run, or leave it to workers if ``--no-wait`` says so."""
    if options.no_wait:
        n = queries.calls_of(run).filter(ended_at=None).count()
        return (
            f"Run #{run.pk}: {n:,} calls wait for workers; "
            f"`manage.py {kind.command} show {run.pk}` tells how far it is."
        )
    return work(kind, run, progress)


def work(kind: Kind, run: Run, progress: Progress) -> str:
    """Make the run's calls until it is over, and say how it went.

    Raises
    ------
    CommandError
        If calls are left: with exit code 1 when the run stands still, 130 after Ctrl-C.
    """
    calls = queries.calls_of(run)
    n_calls, is_open = calls.count(), calls.filter(ended_at=None)
    endpoints = queries.endpoints_of(run)
    was_stopped = True  # unless the block below comes to its end
    with answering(*endpoints), stopped_gently() as stop, progress.towards("calls") as told:
        shown_at = float("-inf")

        def tell() -> None:
            nonlocal shown_at
            if time.monotonic() - shown_at >= TELL_S:  # counting takes time, too
                told(n_calls - is_open.count(), n_calls)
                shown_at = time.monotonic()

        tell()
        while _goes_on(kind, run) and not stop.is_set():
            if not kind.work(run=run, clock=timezone.now, duration_s=PULL_S, stored=tell):
                stop.wait(PAUSE_S)  # others make its calls, or a provider wants to be left alone
        was_stopped = stop.is_set()
    return _told(kind, run, was_stopped=was_stopped)


def _goes_on(kind: Kind, run: Run) -> bool:
    """Say whether there is more to do; end the run if there is not."""
    running.finish_runs(kind.model._default_manager.filter(pk=run.pk), now=timezone.now())  # noqa: SLF001
    run.refresh_from_db()
    return run.state == RunState.RUNNING and not kind.obstacle(run)


def _told(kind: Kind, run: Run, *, was_stopped: bool) -> str:
    """Return how the run went, or raise if calls are left."""
    _goes_on(kind, run)
    said = _said(run)
    if run.state in (RunState.ENDED, RunState.CANCELLED):
        return said
    why = kind.obstacle(run)
    how = f"What was answered is kept. Go on: manage.py {kind.command} resume {run.pk}"
    code = INTERRUPTED if was_stopped else STOOD_STILL
    raise CommandError("\n".join(line for line in (said, why, how) if line), returncode=code)


@contextmanager
def stopped_gently() -> Iterator[threading.Event]:
    """Give an event that the first Ctrl-C sets: then calls in flight end, and no other is made.

    The second Ctrl-C breaks them off; all that has not ended waits again.
    """
    stop = pulling.STOPPING
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def gently(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stop.set()
        os.write(2, _ENDING)  # printing could be interrupted in the middle of a line

    before = signal.signal(signal.SIGINT, gently)
    try:
        yield stop
    except KeyboardInterrupt:
        stop.set()
    finally:
        signal.signal(signal.SIGINT, before)
        stop.clear()


def actions_of(kind: Kind) -> tuple[Action, ...]:
    """Return the actions on runs of this kind that exist: look at them, and steer them."""
    return (
        Action(
            "runs",
            f"List the newest {NEWEST} runs.",
            lambda _parser: None,
            partial(_listed, kind),
        ),
        Action("show", "Show how far a run is.", add_number, partial(_show_one, kind)),
        Action("pause", "Make no further call of a run.", add_number, partial(_pause, kind)),
        Action("resume", "Go on with a run.", _add_going_on, partial(_resume, kind)),
        Action("cancel", "Give up what waits in a run.", add_number, partial(_cancel, kind)),
        Action("retry", "Ask again what failed in a run.", _add_retrying, partial(_retry, kind)),
    )


def _show_one(kind: Kind, options: argparse.Namespace, _progress: Progress) -> str:
    run = kind.find(options.run)
    return "\n".join(details(run, queries.progress_of(run, now=timezone.now())))


def _pause(kind: Kind, options: argparse.Namespace, _progress: Progress) -> str:
    return _said(running.pause_run(kind.find(options.run), now=timezone.now()))


def _cancel(kind: Kind, options: argparse.Namespace, _progress: Progress) -> str:
    return _said(running.cancel_run(kind.find(options.run), now=timezone.now()))


def _resume(kind: Kind, options: argparse.Namespace, progress: Progress) -> str:
    run = running.resume_run(kind.find(options.run), now=timezone.now(), budget_usd=options.budget)
    return work_or_leave(kind, run, options, progress)


def _retry(kind: Kind, options: argparse.Namespace, progress: Progress) -> str:
    run = kind.find(options.run)
    n_again = running.retry_failed(
        run, now=timezone.now(), budget_usd=options.budget, with_invalid=options.invalid
    )
    if not n_again:
        return f"Run #{run.pk}: nothing had failed, so nothing is asked again."
    progress.say(f"{n_again:,} calls are asked again.")
    return work_or_leave(kind, run, options, progress)


def _add_going_on(parser: argparse.ArgumentParser) -> None:
    add_number(parser)
    add_budget(parser)
    add_no_wait(parser)


def _add_retrying(parser: argparse.ArgumentParser) -> None:
    _add_going_on(parser)
    parser.add_argument(
        "--invalid", action="store_true", help="Ask again, too, what was answered unusably."
    )


def _said(run: Run) -> str:
    return outcome(run, queries.progress_of(run, now=timezone.now()))
