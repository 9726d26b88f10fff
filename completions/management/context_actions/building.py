"""``contexts build``: choose contexts from a dataset's dialogues, and make hostile ones of some."""

import argparse
from functools import partial

from django.utils import timezone

from completions.contexts.services import building, rewriting
from completions.dialogues import queries
from completions.management.acting import Action, positive, whole
from completions.management.assisting import add_assistant, answering
from completions.management.progress import Progress
from completions.systems.services.registering import assistant_for


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--dataset", required=True, help="Name of the dataset.")
    parser.add_argument(
        "--regular", type=positive, default=280, help="How many regular contexts to reach."
    )
    parser.add_argument("--adversarial", type=whole, help="How many adversarial contexts to reach.")
    parser.add_argument("--seed", type=int, default=7, help="Fixes the choice.")
    add_assistant(parser, "--rewriter", "Who rewrites the seekers of adversarial contexts")
    add_assistant(parser, "--hostility-rater", "Who rates how hostile they came out")


def run(options: argparse.Namespace, progress: Progress) -> str:
    """Build what is missing."""
    said = _regular(options, progress)
    return f"{said}\n{_adversarial(options, progress)}" if options.adversarial else said


def _regular(options: argparse.Namespace, progress: Progress) -> str:
    report = building.build_contexts(
        dataset_name=options.dataset,
        n=options.regular,
        seed=options.seed,
        now=timezone.now(),
        shown=partial(progress.over, of="dialogues screened"),
    )
    return f"{options.dataset}: {report.summary}, seed {options.seed}"


def _adversarial(options: argparse.Namespace, progress: Progress) -> str:
    assistants = rewriting.Assistants(
        rewriter=assistant_for("rewriter", options.rewriter),
        hostility_rater=assistant_for("hostility-rater", options.hostility_rater),
    )
    who = (assistants.rewriter, assistants.hostility_rater)
    with answering(*who), progress.towards("adversarial contexts") as told:
        report = rewriting.make_adversarial_contexts(
            dataset=queries.dataset_named(options.dataset),
            n=options.adversarial,
            seed=options.seed,
            assistants=assistants,
            clock=timezone.now,
            told=told,
        )
    for reason in report.dropped:
        progress.say(f"Dropped: {reason}")
    return f"{options.dataset}: {report.summary}"


ACTION = Action("build", "Choose contexts from a dataset's dialogues.", add_arguments, run)
