"""``contexts build``: choose the points of a dataset's dialogues that become contexts."""

import argparse
from functools import partial

from django.utils import timezone

from completions.management.actions import Action, positive
from completions.management.progress import Progress
from completions.services import contexts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--dataset", required=True, help="Name of the dataset.")
    parser.add_argument(
        "--regular", type=positive, default=280, help="How many regular contexts to reach."
    )
    parser.add_argument("--seed", type=int, default=7, help="Fixes the choice.")


def run(asked: argparse.Namespace, progress: Progress) -> str:
    """Build what is missing."""
    report = contexts.build_contexts(
        dataset_name=asked.dataset,
        n=asked.regular,
        seed=asked.seed,
        now=timezone.now(),
        shown=partial(progress.over, of="dialogues screened"),
    )
    return (
        f"{asked.dataset}: {report.n_contexts:,} contexts ({report.n_added:,} new) of "
        f"{report.n_dialogues:,} dialogues, from {report.n_candidates:,} suitable candidates, "
        f"seed {asked.seed}"
    )


ACTION = Action("build", "Choose contexts from a dataset's dialogues.", add_arguments, run)
