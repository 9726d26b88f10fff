"""``pause``, ``resume``, ``cancel`` and ``retry``: what can be done with a run that exists."""

import argparse

from django.utils import timezone

from completions.management.actions import Action
from completions.management.progress import Progress
from completions.management.run_actions.kind import Kind, add_budget, add_no_wait, add_number
from completions.management.run_actions.telling import outcome
from completions.management.run_actions.working import work_or_leave
from completions.models import Run
from completions.runs import queries
from completions.runs.services import running


def actions_of(kind: Kind) -> tuple[Action, ...]:
    """Return the actions that steer runs of this kind."""

    def pause(asked: argparse.Namespace, _progress: Progress) -> str:
        return _told(running.pause_run(kind.find(asked.run), now=timezone.now()))

    def cancel(asked: argparse.Namespace, _progress: Progress) -> str:
        return _told(running.cancel_run(kind.find(asked.run), now=timezone.now()))

    def resume(asked: argparse.Namespace, progress: Progress) -> str:
        run = running.resume_run(kind.find(asked.run), now=timezone.now(), budget_usd=asked.budget)
        return work_or_leave(kind, run, asked, progress)

    def retry(asked: argparse.Namespace, progress: Progress) -> str:
        run = kind.find(asked.run)
        n_again = running.retry_failed(
            run, now=timezone.now(), budget_usd=asked.budget, with_invalid=asked.invalid
        )
        if not n_again:
            return f"Run #{run.pk}: nothing had failed, so nothing is asked again."
        progress.say(f"{n_again:,} calls are asked again.")
        return work_or_leave(kind, run, asked, progress)

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


def _told(run: Run) -> str:
    return outcome(run, queries.progress_of(run, now=timezone.now()))
