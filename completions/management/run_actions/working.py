"""Make the calls of a run until it is over, and ``pause``, ``resume``, ``cancel``, ``retry``."""

import argparse
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from django.core.management.base import CommandError
from django.utils import timezone

from completions.choices import RunState
from completions.management.acting import Action
from completions.management.assisting import answering
from completions.management.progress import Progress
from completions.management.run_actions.kind import Kind, add_budget, add_no_wait, add_number
from completions.management.run_actions.showing import outcome
from completions.models import Run
from completions.runs import pulling, queries
from completions.runs.services import running

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
    """Return the actions that steer runs of this kind."""

    def pause(options: argparse.Namespace, _progress: Progress) -> str:
        return _said(running.pause_run(kind.find(options.run), now=timezone.now()))

    def cancel(options: argparse.Namespace, _progress: Progress) -> str:
        return _said(running.cancel_run(kind.find(options.run), now=timezone.now()))

    def resume(options: argparse.Namespace, progress: Progress) -> str:
        run = running.resume_run(
            kind.find(options.run), now=timezone.now(), budget_usd=options.budget
        )
        return work_or_leave(kind, run, options, progress)

    def retry(options: argparse.Namespace, progress: Progress) -> str:
        run = kind.find(options.run)
        n_again = running.retry_failed(
            run, now=timezone.now(), budget_usd=options.budget, with_invalid=options.invalid
        )
        if not n_again:
            return f"Run #{run.pk}: nothing had failed, so nothing is asked again."
        progress.say(f"{n_again:,} calls are asked again.")
        return work_or_leave(kind, run, options, progress)

    return (
        Action("pause", "Make no further call of a run.", add_number, pause),
        Action("resume", "Go on with a run.", _add_going_on, resume),
        Action("cancel", "Give up what waits in a run.", add_number, cancel),
        Action("retry", "Ask again what failed in a run.", _add_retrying, retry),
    )


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
