"""Command line of runs that have systems complete contexts."""

import argparse

from django.utils import timezone

from completions import selectors, services, system_selectors
from completions.management.acting import ActionCommand
from completions.management.actions import Action
from completions.management.progress import Progress
from completions.management.run_actions import Kind, actions_of
from completions.management.run_actions.kind import add_budget, add_no_wait
from completions.management.run_actions.working import work_or_leave
from completions.models import GenerationRun
from completions.run_selectors import RunNotFoundError

KIND = Kind("completions", GenerationRun, services.generate_completions)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare whom to ask about what, and what it may cost."""
    parser.add_argument("--dataset", required=True, help="Name of the dataset.")
    parser.add_argument(
        "--systems",
        required=True,
        nargs="+",
        metavar="SYSTEM",
        help=f'Names as `systems list` shows them, or "{system_selectors.ALL}": every model that '
        "is not simulated.",
    )
    add_budget(parser)
    add_no_wait(parser)


def run(asked: argparse.Namespace, progress: Progress) -> str:
    """Start a run, and make its calls unless workers are to."""
    started = services.start_generation_run(
        dataset=selectors.dataset_named(asked.dataset),
        systems=system_selectors.models_named(asked.systems),
        budget_usd=asked.budget,
        now=timezone.now(),
    )
    progress.say(f"Run #{started.pk}: {started.n_planned:,} calls.")
    return work_or_leave(KIND, started, asked, progress)


class Command(ActionCommand):
    """Have systems complete the contexts of a dataset."""

    help = "Have systems complete contexts, in runs that can be paused, resumed and cancelled."
    actions = (
        Action("run", "Have systems complete what they lack.", add_arguments, run),
        *actions_of(KIND),
    )
    refusals = (
        selectors.DatasetNotFoundError,
        system_selectors.UnknownSystemError,
        services.BudgetTooSmallError,
        services.NotAModelError,
        services.NothingToAskError,
        services.RunStateError,
        services.UnknownPriceError,
        RunNotFoundError,
    )
