"""Command line of runs that have systems complete contexts."""

import argparse

from django.utils import timezone

from completions.dialogues import queries
from completions.generation import services as generation_services
from completions.management.acting import Action, ActionCommand, Progress, add_dataset
from completions.management.run_actions import (
    Kind,
    actions_of,
    add_budget,
    add_no_wait,
    work_or_leave,
)
from completions.models import GenerationRun
from completions.runs.queries import RunNotFoundError
from completions.runs.services import running
from completions.runs.services.budgeting import UnknownPriceError
from completions.systems import queries as system_queries

KIND = Kind("completions", GenerationRun, generation_services.generate_completions)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    parser.add_argument(
        "--systems",
        required=True,
        nargs="+",
        metavar="SYSTEM",
        help=f'Names as `systems list` shows them, or "{system_queries.ALL}": every model that '
        "is not simulated.",
    )
    add_budget(parser)
    add_no_wait(parser)


def run(options: argparse.Namespace, progress: Progress) -> str:
    """Start a run, and make its calls unless workers are to."""
    started = generation_services.start_generation_run(
        dataset=queries.dataset_named(options.dataset),
        systems=system_queries.models_named(options.systems),
        budget_usd=options.budget,
        now=timezone.now(),
    )
    progress.say(f"Run #{started.pk}: {started.n_planned:,} calls.")
    return work_or_leave(KIND, started, options, progress)


class Command(ActionCommand):
    """Have systems complete the contexts of a dataset."""

    help = "Have systems complete contexts, in runs that can be paused, resumed and cancelled."
    actions = (
        Action("run", "Have systems complete what they lack.", _add_arguments, run),
        *actions_of(KIND),
    )
    refusals = (
        queries.DatasetNotFoundError,
        system_queries.UnknownSystemError,
        running.BudgetTooSmallError,
        generation_services.NotAModelError,
        running.NothingToAskError,
        running.RunStateError,
        UnknownPriceError,
        RunNotFoundError,
    )
