"""``contexts screen``: screen a dataset's couplets, and ask an assistant for its opinion."""

import argparse
from functools import partial

from django.utils import timezone

from completions.contexts.services import building, opinions
from completions.dialogues import queries
from completions.management.acting import Action
from completions.management.assisting import add_assistant, answering
from completions.management.progress import Progress
from completions.models import Dataset
from completions.systems.services import registering


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--dataset", required=True, help="Name of the dataset.")
    parser.add_argument(
        "--opinions",
        action="store_true",
        help="Ask an assistant about every suitable candidate; what the rules found stands.",
    )
    add_assistant(parser, "--assistant", "Who gives the opinions")


def run(options: argparse.Namespace, progress: Progress) -> str:
    """Screen what has not been screened by the rules as they are, then ask."""
    dataset = queries.dataset_named(options.dataset)
    report = building.screen_dataset(
        dataset=dataset,
        now=timezone.now(),
        shown=partial(progress.over, of="dialogues screened"),
    )
    said = f"{dataset.name}: {report.n_candidates:,} couplets, {report.n_suitable:,} suitable"
    return f"{said}\n{_ask(dataset, options.assistant, progress)}" if options.opinions else said


def _ask(dataset: Dataset, model: str, progress: Progress) -> str:
    assistant = registering.assistant_for("screener", model)
    with answering(assistant), progress.towards("opinions") as told:
        report = opinions.gather_opinions(
            dataset=dataset, assistant=assistant, clock=timezone.now, told=told
        )
    return f"{assistant.name}: {report.summary}"


ACTION = Action("screen", "Screen a dataset's couplets.", add_arguments, run)
