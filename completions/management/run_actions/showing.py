"""``runs`` and ``show``: which runs there are, and how far one of them is."""

import argparse
from collections.abc import Iterator

from django.utils import timezone

from completions.management.actions import Action
from completions.management.progress import Progress
from completions.management.run_actions.kind import Kind, add_number
from completions.management.run_actions.telling import details, outcome
from completions.runs import queries

NEWEST = 50


def actions_of(kind: Kind) -> tuple[Action, ...]:
    """Return the actions that look at runs of this kind."""

    def add_nothing(_parser: argparse.ArgumentParser) -> None:
        """Declare no option."""

    def show_all(_asked: argparse.Namespace, _progress: Progress) -> str:
        return "\n".join(_listed(kind))

    def show_one(asked: argparse.Namespace, _progress: Progress) -> str:
        run = kind.find(asked.run)
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
