"""``strategies run``: have an assistant label every text that is final."""

import argparse

from django.utils import timezone

from completions.dialogues import queries
from completions.management.actions import Action
from completions.management.actions.assisting import add_assistant
from completions.management.progress import Progress
from completions.management.run_actions.kind import Kind, add_budget, add_no_wait
from completions.management.run_actions.working import work_or_leave
from completions.models import LabellingRun
from completions.strategies import services as strategy_services
from completions.systems import services as system_services

KIND = Kind("strategies", LabellingRun, strategy_services.name_strategies)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare whose texts, who labels them, and what it may cost."""
    parser.add_argument("--dataset", required=True, help="Name of the dataset.")
    add_assistant(parser, "--assistant", "Who labels")
    add_budget(parser)
    add_no_wait(parser)


def run(options: argparse.Namespace, progress: Progress) -> str:
    """Start a run, and make its calls unless workers are to."""
    started = strategy_services.start_labelling_run(
        dataset=queries.dataset_named(options.dataset),
        assistant=system_services.assistant_for("strategist", options.assistant),
        budget_usd=options.budget,
        now=timezone.now(),
    )
    progress.say(f"Run #{started.pk}: {started.n_planned:,} texts to label.")
    return work_or_leave(KIND, started, options, progress)


ACTION = Action("run", "Have an assistant label the texts that it has not.", add_arguments, run)
