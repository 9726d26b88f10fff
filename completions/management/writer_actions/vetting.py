"""``writers vetting``: have newcomers to a dataset write on trial first, or let them in at once."""

import argparse

from django.utils import timezone

from completions.dialogues import queries
from completions.management.acting import Action
from completions.management.progress import Progress
from completions.writers import services


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("switch", choices=("on", "off"), help="Whether newcomers are tried.")
    parser.add_argument("--dataset", required=True, help="Name of the dataset.")


def run(options: argparse.Namespace, progress: Progress) -> str:
    """Switch it, and tell what newcomers find from now on."""
    is_on = options.switch == "on"
    dataset = services.use_vetting(
        dataset=queries.dataset_named(options.dataset), now=timezone.now(), is_on=is_on
    )
    if dataset.vetting is None:
        progress.say("Whoever was on trial was let in, and is told by mail.")
        return f"{dataset.slug}: newcomers are let in at once"
    n_dialogues = dataset.vetting.contexts.count()
    return f"{dataset.slug}: newcomers write for {n_dialogues} trial conversations first"


ACTION = Action("vetting", "Try newcomers first, or let them in at once.", add_arguments, run)
