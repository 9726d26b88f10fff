"""``strategies sample``: draw the texts that two people label."""

import argparse

from django.urls import reverse
from django.utils import timezone

from completions.dialogues import queries
from completions.management.actions import Action, positive
from completions.management.actions.assisting import add_assistant
from completions.management.progress import Progress
from completions.strategies import services as strategy_services
from completions.strategies.services.spot_checking import N_ITEMS
from completions.systems import services as system_services


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare from what to draw, and how."""
    parser.add_argument("--dataset", required=True, help="Name of the dataset.")
    add_assistant(parser, "--assistant", "Whose labels are checked")
    parser.add_argument(
        "--n", type=positive, default=N_ITEMS, help="Texts to draw; all if there are less."
    )
    parser.add_argument("--seed", default="1", help="Another seed draws another sample.")


def run(options: argparse.Namespace, _progress: Progress) -> str:
    """Draw the sample, or find the one that was drawn with this seed before."""
    dataset = queries.dataset_named(options.dataset)
    check = strategy_services.draw_sample(
        dataset=dataset,
        assistant=system_services.assistant_for("strategist", options.assistant),
        n=options.n,
        seed=options.seed,
        now=timezone.now(),
    )
    page = reverse("strategies:overview", args=[dataset.slug])
    return f"Spot check #{check.pk}: {check.items.count():,} texts to label at {page}"


ACTION = Action("sample", "Draw the texts that two people label.", add_arguments, run)
